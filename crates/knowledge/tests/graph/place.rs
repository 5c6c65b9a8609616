//! A separate project graph for each test.

use std::sync::Arc;

use base::{ProjectId, Timestamp};
use knowledge::{
    Author, GraphHits, GraphQuery, GraphRanking, Indexes, IndexesConfig, Ingested, KnowledgeGraph, Memory, Neighbours,
    NeighboursQuery, NewEntity, NewTriplet, PathQuery, Result, Towards,
};
use search::embed::{Cached, MiniLm};
use store::Change;
use testkit::Engine;
use testkit::TestStore;

pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) struct Place {
    pub(crate) store: TestStore,
    pub(crate) rows: Change,
    pub(crate) project: ProjectId,
    pub(crate) graph: KnowledgeGraph<Change>,
    pub(crate) indexes: Indexes,
}

impl Place {
    pub(crate) async fn open(engine: Engine) -> Self {
        let store = TestStore::open(engine).await;
        let (rows, project) = (store.new_org(), ProjectId::new(store.clock.now()));
        let graph = KnowledgeGraph::new(rows.clone(), project, store.clock.clone());
        let embedder = Arc::new(Cached::new(MiniLm::bundled().unwrap(), 1_000));
        let indexes = Indexes::new(IndexesConfig::new(embedder, store.clock.clone()));
        Self { store, rows, project, graph, indexes }
    }

    pub(crate) fn memory(&self) -> Memory<Change> {
        Memory::new(self.rows.clone(), self.project, self.store.clock.clone()).reading_facts(true)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.clock.now()
    }

    /// States facts, one per line: `source | relationship | target`.
    pub(crate) async fn say(&self, who: &str, facts: &str) -> Ingested {
        self.try_say(who, facts.lines().map(fact).collect()).await.unwrap()
    }

    pub(crate) async fn try_say(&self, who: &str, facts: Vec<NewTriplet>) -> Result<Ingested> {
        self.graph.ingest(&author(who), facts).await
    }

    pub(crate) async fn around(&self, entity: &str) -> Vec<String> {
        self.around_at(entity, None).await
    }

    /// The facts around an entity as sorted texts.
    pub(crate) async fn around_at(&self, entity: &str, as_of: Option<Timestamp>) -> Vec<String> {
        let asked = NeighboursQuery { as_of, ..neighbours_of(entity) };
        said(&self.graph.neighbours(&self.indexes, asked).await.unwrap())
    }

    pub(crate) async fn path(&self, from: &str, to: &str, change: impl FnOnce(&mut PathQuery)) -> Option<Vec<String>> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let mut asked = PathQuery { from, to, depth: 6, directed: false, weighted: false, as_of: None };
        change(&mut asked);
        let path = self.graph.path(&self.indexes, asked).await.unwrap();
        path.map(|path| path.triplets.iter().map(|triplet| triplet.sentence()).collect())
    }

    pub(crate) async fn ask(&self, query: &str, top_k: usize, depth: u32) -> GraphHits {
        let (query, ranking) = (query.to_owned(), GraphRanking::default());
        self.graph.query(&self.indexes, GraphQuery { query, top_k, depth, as_of: None, ranking }).await.unwrap()
    }

    /// Embeds until nothing waits.
    pub(crate) async fn embed(&self) {
        while self.indexes.embed_some(&self.rows, &self.project).await.unwrap() > 0 {}
    }
}

pub(crate) fn author(who: &str) -> Author {
    Author { agent: who.to_owned(), session: format!("session of {who}") }
}

pub(crate) fn neighbours_of(entity: &str) -> NeighboursQuery {
    let entity = entity.to_owned();
    NeighboursQuery { entity, depth: 1, relationship: None, towards: Towards::Both, limit: 50, as_of: None }
}

pub(crate) fn said(neighbours: &Neighbours) -> Vec<String> {
    let mut said: Vec<String> = neighbours.triplets.iter().map(|triplet| triplet.sentence()).collect();
    said.sort();
    said
}

/// `source (type) | relationship | target (type)`; a `!` before the relationship makes it functional.
pub(crate) fn fact(line: &str) -> NewTriplet {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let (relationship, functional) = match parts[1].strip_prefix('!') {
        Some(relationship) => (relationship, true),
        None => (parts[1], false),
    };
    let relationship = relationship.to_owned();
    NewTriplet { source: entity(parts[0]), relationship, target: entity(parts[2]), functional, ..NewTriplet::default() }
}

pub(crate) fn entity(text: &str) -> NewEntity {
    match text.split_once(" (") {
        Some((name, kind)) => {
            NewEntity { name: name.to_owned(), kind: Some(kind.trim_end_matches(')').to_owned()), aliases: Vec::new() }
        }
        None => NewEntity { name: text.to_owned(), kind: None, aliases: Vec::new() },
    }
}
