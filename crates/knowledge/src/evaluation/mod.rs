//! Measures recall on sets of memories and questions with known answers, with the same code that answers agents.

mod set;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use base::{Clock, OrgId, ProjectId, Result, Timestamp};
use search::embed::Embedder;
use search::evaluate::{ndcg_at, recall_at, recall_within, reciprocal_rank};
use serde::Serialize;
use store::{Change, Store, StoreConfig, Unrecorded};

pub use set::{EvaluationSet, SetMemory, SetQuestion};

use crate::{Author, Error, Indexes, IndexesConfig, Memory, Mode, NewObservation, Ranking, WorkType};

/// The number of hits to look at.
const DEPTH: usize = 50;
/// How long after the last memory of a project its questions are asked.
const LATER_MS: i64 = 24 * 60 * 60 * 1_000;

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

/// The results of all sets together.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By search mode: `keyword`, `vector`, `fused`.
    pub modes: BTreeMap<&'static str, Figures>,
    /// For `fused`, by kind of question.
    pub kinds: BTreeMap<String, Figures>,
    /// By set, then by search mode.
    pub sets: BTreeMap<String, BTreeMap<&'static str, Figures>>,
}

/// A set that is loaded and ready to be queried.
pub struct Evaluation {
    projects: HashMap<String, Project>,
    indexes: Indexes,
    questions: Vec<SetQuestion>,
    /// Each memory has its own time, and questions are asked later.
    clock: Clock,
}

/// The memories of one project.
struct Project {
    memory: Memory<Change>,
    names: HashMap<i64, String>,
    sizes: HashMap<String, usize>,
    last: Timestamp,
}

impl Evaluation {
    /// Loads a set into a new store in an empty folder. `progress` gets the number of memories with a vector.
    pub async fn prepare(
        set: EvaluationSet,
        folder: &Path,
        embedder: Arc<dyn Embedder>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self> {
        set.check()?;
        let clock = Clock::manual(Clock::system().now());
        let indexes = Indexes::new(IndexesConfig::new(embedder, clock.clone()));
        let store = Store::open(&StoreConfig::Sqlite { path: folder.join("set.db") }, &clock).await?;
        #[expect(clippy::disallowed_methods, reason = "this is a separate store without any other rows")]
        let rows = store.org(&OrgId::new(clock.now())).sealed_by(Arc::new(Unrecorded));
        let (mut projects, mut embedded) = (HashMap::new(), 0);
        for name in set.memories.iter().map(|memory| memory.project.as_str()).collect::<HashSet<_>>() {
            let id = ProjectId::new(clock.now());
            let memory = Memory::new(rows.clone(), id, clock.clone());
            let mut project = Project { memory, names: HashMap::new(), sizes: HashMap::new(), last: clock.now() };
            for item in set.memories.iter().filter(|memory| memory.project == name) {
                project.remember(item, &clock).await?;
            }
            loop {
                match indexes.embed_some(&rows, &id).await? {
                    0 => break,
                    more => embedded += more,
                }
                progress(embedded, set.memories.len());
            }
            projects.insert(name.to_owned(), project);
        }
        Ok(Self { projects, indexes, questions: set.questions, clock })
    }

    /// Runs every question in every mode.
    pub async fn report(&self, ranking: Ranking) -> Result<Report> {
        let (mut modes, mut kinds) = (BTreeMap::new(), BTreeMap::<String, Vec<Figures>>::new());
        let mut sets = BTreeMap::<String, BTreeMap<&'static str, Figures>>::new();
        for (name, mode) in [("keyword", Mode::Keyword), ("vector", Mode::Vector), ("fused", Mode::Fused)] {
            let found = self.ask_all(Ranking { mode, ..ranking }).await?;
            modes.insert(name, mean(found.iter().map(|(_, figures)| figures)));
            for set in found.iter().map(|(question, _)| &question.set).collect::<HashSet<_>>() {
                let figures = mean(found.iter().filter(|(question, _)| question.set == *set).map(|(_, figures)| figures));
                sets.entry(set.clone()).or_default().insert(name, figures);
            }
            for (question, figures) in found.iter().filter(|_| mode == Mode::Fused) {
                kinds.entry(question.kind.clone().unwrap_or_else(|| "all".to_owned())).or_default().push(*figures);
            }
        }
        Ok(Report { modes, kinds: kinds.into_iter().map(|(kind, figures)| (kind, mean(&figures))).collect(), sets })
    }

    /// The figures of each set in one mode.
    pub async fn figures(&self, ranking: Ranking) -> Result<BTreeMap<String, Figures>> {
        let mut sets = BTreeMap::<String, Vec<Figures>>::new();
        for (question, figures) in self.ask_all(ranking).await? {
            sets.entry(question.set.clone()).or_default().push(figures);
        }
        Ok(sets.into_iter().map(|(set, figures)| (set, mean(&figures))).collect())
    }

    async fn ask_all(&self, ranking: Ranking) -> Result<Vec<(&SetQuestion, Figures)>> {
        let mut all = Vec::with_capacity(self.questions.len());
        for question in &self.questions {
            all.push((question, self.ask(question, ranking).await?));
        }
        Ok(all)
    }

    async fn ask(&self, question: &SetQuestion, ranking: Ranking) -> Result<Figures> {
        let gold: HashSet<String> = question.gold.iter().cloned().collect();
        let Some(project) = self.projects.get(&question.project) else {
            return Ok(Figures { questions: 1, ..Figures::default() });
        };
        set_clock(&self.clock, project.last.plus_ms(LATER_MS));
        let found = project.memory.search(&self.indexes, &question.query, ranking, DEPTH, |_| Ok(())).await?;
        let name_of = |number: i64| project.names.get(&number).cloned();
        let ranked: Vec<String> = found.iter().filter_map(|found| name_of(found.observation.number)).collect();
        let size_of = |id: &String| project.sizes.get(id).copied().unwrap_or(0);
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

impl Project {
    async fn remember(&mut self, item: &SetMemory, clock: &Clock) -> Result<()> {
        set_clock(clock, item.at.unwrap_or(self.last));
        self.last = clock.now();
        let author = Author { agent: item.agent.clone(), session: item.session.clone() };
        let new = NewObservation { content: item.content.clone(), kind: item.r#type.clone(), confidence: None };
        let kept = self.memory.remember(&author, new).await.map_err(Error::through_store)?;
        let observation = self.memory.get(&kept.id).await.map_err(Error::through_store)?;
        self.names.insert(observation.number, item.id.clone());
        self.sizes.insert(item.id.clone(), item.content.chars().count());
        Ok(())
    }
}

fn set_clock(clock: &Clock, to: Timestamp) {
    clock.advance_ms(to.ms() - clock.now().ms());
}

fn mean<'a>(all: impl IntoIterator<Item = &'a Figures>) -> Figures {
    let all: Vec<&Figures> = all.into_iter().collect();
    let count = all.len().max(1) as f64;
    let of = |part: fn(&Figures) -> f64| all.iter().map(|figures| part(figures)).sum::<f64>() / count;
    Figures {
        questions: all.len(),
        recall_at_5: of(|figures| figures.recall_at_5),
        recall_at_10: of(|figures| figures.recall_at_10),
        ndcg_at_10: of(|figures| figures.ndcg_at_10),
        mean_reciprocal_rank: of(|figures| figures.mean_reciprocal_rank),
        recall_in_budget: of(|figures| figures.recall_in_budget),
    }
}
