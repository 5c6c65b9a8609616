//! The evaluation set of graph queries: facts of a fictional company, and questions with known answers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use base::{Clock, ProjectId, TripletId};
use knowledge::{Author, GraphQuery, GraphRanking, Indexes, IndexesConfig, KnowledgeGraph, NewEntity, NewTriplet};
use search::embed::{Cached, MiniLm};
use search::evaluate::{ndcg_at, recall_at};
use serde::Deserialize;
use store::Change;
use testkit::{Engine, TestStore};

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Triplet(SetTriplet),
    Question(Question),
}

#[derive(Deserialize)]
struct SetTriplet {
    id: String,
    source: SetEntity,
    relationship: String,
    target: SetEntity,
    description: Option<String>,
}

#[derive(Deserialize)]
struct SetEntity {
    name: String,
    r#type: Option<String>,
}

#[derive(Deserialize)]
struct Question {
    text: String,
    gold: Vec<String>,
    kind: String,
    half: String,
}

/// Recall of the first five and ten hits, and how well the answers were ranked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) recall_at_5: f64,
    pub(crate) recall_at_10: f64,
    pub(crate) ndcg_at_10: f64,
}

pub(crate) struct Set {
    graph: KnowledgeGraph<Change>,
    indexes: Indexes,
    names: HashMap<TripletId, String>,
    questions: Vec<Question>,
    _store: TestStore,
}

impl Set {
    /// The whole set in a separate graph, embedded.
    pub(crate) async fn load() -> Self {
        let clock = Clock::default();
        let store = TestStore::open_with(Engine::Sqlite, clock.clone()).await;
        let (rows, project) = (store.new_org(), ProjectId::new(clock.now()));
        let graph = KnowledgeGraph::new(rows.clone(), project, clock.clone());
        let indexes = Indexes::new(IndexesConfig::new(Arc::new(Cached::new(MiniLm::bundled().unwrap(), 10_000)), clock));
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/eval/graph.jsonl")).unwrap();
        let (mut triplets, mut questions) = (Vec::new(), Vec::new());
        for line in text.lines() {
            match serde_json::from_str(line).unwrap() {
                Line::Triplet(triplet) => triplets.push(triplet),
                Line::Question(question) => questions.push(question),
            }
        }
        let author = Author { agent: "set".to_owned(), session: "set".to_owned() };
        let mut names = HashMap::new();
        for some in triplets.chunks(100) {
            let entity =
                |entity: &SetEntity| NewEntity { name: entity.name.clone(), kind: entity.r#type.clone(), aliases: Vec::new() };
            let stated = |triplet: &SetTriplet| NewTriplet {
                source: entity(&triplet.source),
                relationship: triplet.relationship.clone(),
                target: entity(&triplet.target),
                description: triplet.description.clone(),
                ..NewTriplet::default()
            };
            let ingested = graph.ingest(&author, some.iter().map(stated).collect()).await.unwrap();
            assert_eq!(ingested.triplets_existing, 0, "every fact of the set is its own");
            names.extend(ingested.ids.into_iter().zip(some.iter().map(|triplet| triplet.id.clone())));
        }
        while indexes.embed_some(&rows, &project).await.unwrap() > 0 {}
        Self { graph, indexes, names, questions, _store: store }
    }

    /// The figures of one half, by kind of question and for all together.
    pub(crate) async fn figures(&self, half: &str, depth: u32, ranking: GraphRanking) -> BTreeMap<String, Figures> {
        let mut sums: BTreeMap<String, (Figures, f64)> = BTreeMap::new();
        for question in self.questions.iter().filter(|question| question.half == half) {
            let asked = GraphQuery { query: question.text.clone(), top_k: 10, depth, as_of: None, ranking };
            let hits = self.graph.query(&self.indexes, asked).await.unwrap().hits;
            let found: Vec<&str> = hits.iter().map(|hit| self.names[&hit.triplet.id].as_str()).collect();
            let gold: HashSet<&str> = question.gold.iter().map(String::as_str).collect();
            let gain_of = |id: &&str| if gold.contains(id) { 1.0 } else { 0.0 };
            let ndcg = ndcg_at(&found, gain_of, &vec![1.0; gold.len()], 10);
            let figures = [recall_at(&found, &gold, 5), recall_at(&found, &gold, 10), ndcg];
            for kind in [question.kind.as_str(), "all"] {
                let (sum, count) = sums.entry(kind.to_owned()).or_default();
                sum.recall_at_5 += figures[0];
                sum.recall_at_10 += figures[1];
                sum.ndcg_at_10 += figures[2];
                *count += 1.0;
            }
        }
        let mean = |(sum, count): (Figures, f64)| Figures {
            recall_at_5: sum.recall_at_5 / count,
            recall_at_10: sum.recall_at_10 / count,
            ndcg_at_10: sum.ndcg_at_10 / count,
        };
        sums.into_iter().map(|(kind, sum)| (kind, mean(sum))).collect()
    }
}
