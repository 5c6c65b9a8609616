//! Measures recall on a set of memories and questions with known answers, with the same code that answers agents.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use base::{Clock, Error, OrgId, ProjectId, Result};
use search::evaluate::{ndcg_at, recall_at, recall_within, reciprocal_rank};
use serde::{Deserialize, Serialize};
use store::{Change, Store, StoreConfig, Unrecorded};

use crate::{Author, Indexes, Memory, Mode, NewObservation, Ranking, WorkType};

/// The number of hits to look at.
const DEPTH: usize = 50;

/// A memory of a set.
#[derive(Clone, Debug, Deserialize)]
pub struct SetMemory {
    /// Its name in the set.
    pub id: String,
    /// The text.
    pub content: String,
    /// Its type.
    pub r#type: Option<String>,
    /// Its author.
    #[serde(default)]
    pub agent: String,
    /// Its session.
    #[serde(default)]
    pub session: String,
}

/// A question of a set.
#[derive(Clone, Debug, Deserialize)]
pub struct SetQuestion {
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// The question.
    pub query: String,
    /// The names of the memories that answer it.
    pub gold: Vec<String>,
    /// The kind of question.
    pub kind: Option<String>,
    /// The part of the set that it belongs to.
    pub split: Option<String>,
}

/// Memories and questions.
#[derive(Clone, Debug, Default)]
pub struct EvaluationSet {
    /// In the order in which they were stored.
    pub memories: Vec<SetMemory>,
    /// The questions.
    pub questions: Vec<SetQuestion>,
}

impl EvaluationSet {
    /// Reads JSON lines: a line with `query` is a question, a line with `content` is a memory.
    pub fn read(&mut self, lines: &str) -> Result<()> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Line {
            Question(SetQuestion),
            Memory(SetMemory),
        }
        for (index, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str(line) {
                Ok(Line::Question(question)) => self.questions.push(question),
                Ok(Line::Memory(memory)) => self.memories.push(memory),
                Err(_) => {
                    let message =
                        format!("line {} is neither a memory (`id`, `content`) nor a question (`query`, `gold`)", index + 1);
                    return Err(Error::invalid("set", message));
                }
            }
        }
        Ok(())
    }

    /// Keeps only the questions of one part.
    pub fn only(&mut self, split: &str) {
        self.questions.retain(|question| question.split.as_deref() == Some(split));
    }

    fn check(&self) -> Result<()> {
        let known: HashSet<&str> = self.memories.iter().map(|memory| memory.id.as_str()).collect();
        for question in &self.questions {
            if let Some(unknown) = question.gold.iter().find(|gold| !known.contains(gold.as_str())) {
                let message = format!("unknown memory `{unknown}` in the answers to `{}`", question.query);
                return Err(Error::invalid("set", message));
            }
        }
        if known.len() < self.memories.len() {
            return Err(Error::invalid("set", "two memories have the same `id`"));
        }
        Ok(())
    }
}

/// The quality of one search mode, as means over questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// The number of questions.
    pub questions: usize,
    /// Recall of the first five hits.
    pub recall_at_5: f64,
    /// Recall of the first ten hits.
    pub recall_at_10: f64,
    /// Normalised discounted cumulative gain of the first ten hits.
    pub ndcg_at_10: f64,
    /// One divided by the position of the first correct hit.
    pub mean_reciprocal_rank: f64,
    /// The share of the answers that fit into the token budget of an unknown work type.
    pub recall_in_budget: f64,
}

/// The results of a set.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By search mode: `keyword`, `vector`, `fused`.
    pub modes: BTreeMap<&'static str, Figures>,
    /// For `fused`, by kind of question.
    pub kinds: BTreeMap<String, Figures>,
}

/// A set that is loaded and ready to be queried.
pub struct Evaluation {
    memory: Memory<Change>,
    indexes: Indexes,
    names: HashMap<i64, String>,
    sizes: HashMap<String, usize>,
    questions: Vec<SetQuestion>,
}

impl Evaluation {
    /// Loads a set into a new store in an empty folder. `progress` gets the number of memories with a vector.
    pub async fn prepare(
        set: EvaluationSet,
        folder: &Path,
        indexes: Indexes,
        clock: Clock,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self> {
        set.check()?;
        let store = Store::open(&StoreConfig::Sqlite { path: folder.join("set.db") }, &clock).await?;
        #[expect(clippy::disallowed_methods, reason = "this is a separate store without any other rows")]
        let rows = store.org(&OrgId::new(clock.now())).sealed_by(Arc::new(Unrecorded));
        let project = ProjectId::new(clock.now());
        let memory = Memory::new(rows.clone(), project, clock);
        let (mut names, mut sizes) = (HashMap::new(), HashMap::new());
        for item in &set.memories {
            let author = Author { agent: item.agent.clone(), session: item.session.clone() };
            let new = NewObservation { content: item.content.clone(), kind: item.r#type.clone(), confidence: None };
            let kept = memory.remember(&author, new).await?;
            names.insert(memory.get(&kept.id).await?.number, item.id.clone());
            sizes.insert(item.id.clone(), item.content.chars().count());
        }
        let mut embedded = 0;
        loop {
            match indexes.embed_some(&rows, &project).await? {
                0 => break,
                more => embedded += more,
            }
            progress(embedded, set.memories.len());
        }
        Ok(Self { memory, indexes, names, sizes, questions: set.questions })
    }

    /// Runs every question in every mode.
    pub async fn report(&self, ranking: Ranking) -> Result<Report> {
        let (mut modes, mut kinds) = (BTreeMap::new(), BTreeMap::<String, Vec<Figures>>::new());
        for (name, mode) in [("keyword", Mode::Keyword), ("vector", Mode::Vector), ("fused", Mode::Fused)] {
            let mut all = Vec::new();
            for question in &self.questions {
                let figures = self.ask(question, Ranking { mode, ..ranking }).await?;
                all.push(figures);
                if mode == Mode::Fused {
                    kinds.entry(question.kind.clone().unwrap_or_else(|| "all".to_owned())).or_default().push(figures);
                }
            }
            modes.insert(name, mean(&all));
        }
        Ok(Report { modes, kinds: kinds.into_iter().map(|(kind, figures)| (kind, mean(&figures))).collect() })
    }

    /// The figures of one mode.
    pub async fn figures(&self, ranking: Ranking) -> Result<Figures> {
        let mut all = Vec::new();
        for question in &self.questions {
            all.push(self.ask(question, ranking).await?);
        }
        Ok(mean(&all))
    }

    async fn ask(&self, question: &SetQuestion, ranking: Ranking) -> Result<Figures> {
        let found = self.memory.search(&self.indexes, &question.query, ranking, DEPTH, |_| Ok(())).await?;
        let ranked: Vec<String> = found.iter().filter_map(|found| self.names.get(&found.observation.number).cloned()).collect();
        let gold: HashSet<String> = question.gold.iter().cloned().collect();
        let size_of = |id: &String| self.sizes.get(id).copied().unwrap_or(0);
        Ok(Figures {
            questions: 1,
            recall_at_5: recall_at(&ranked, &gold, 5),
            recall_at_10: recall_at(&ranked, &gold, 10),
            ndcg_at_10: ndcg_at(&ranked, |id| if gold.contains(id) { 1.0 } else { 0.0 }, &vec![1.0; gold.len()], 10),
            mean_reciprocal_rank: reciprocal_rank(&ranked, &gold),
            recall_in_budget: recall_within(&ranked, size_of, &gold, WorkType::Other.tokens()),
        })
    }
}

fn mean(all: &[Figures]) -> Figures {
    let count = all.len().max(1) as f64;
    let of = |part: fn(&Figures) -> f64| all.iter().map(part).sum::<f64>() / count;
    Figures {
        questions: all.len(),
        recall_at_5: of(|figures| figures.recall_at_5),
        recall_at_10: of(|figures| figures.recall_at_10),
        ndcg_at_10: of(|figures| figures.ndcg_at_10),
        mean_reciprocal_rank: of(|figures| figures.mean_reciprocal_rank),
        recall_in_budget: of(|figures| figures.recall_in_budget),
    }
}
