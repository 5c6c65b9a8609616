//! The search indexes of projects, in this process. An index is loaded on first use, follows the changes of its project, and is
//! dropped when memory is short.
//!
//! | module | purpose |
//! |---|---|
//! | `texts` | search of any texts by keywords and meaning |
//! | `project`, `known`, `recent` | observations |
//! | `facts` | the knowledge graph as nodes and edges |
//! | `graph_texts` | keywords and vectors of entities and triplets |
//! | `loaded` | which projects are loaded, and for how long |

mod facts;
mod graph_texts;
mod known;
mod loaded;
mod project;
mod recent;
mod texts;

use std::path::PathBuf;
use std::sync::Arc;

use base::limits::{GRAPH_BYTES_MAX, INDEX_BYTES_MAX};
use base::{Clock, Kind, OrgId, ProjectId, Result};
use search::background::Questions;
use search::embed::Embedder;
use search::vectors::Query;
use store::{OrgStore, params};

pub(crate) use facts::{Fact, Facts, FactsIndex};
pub(crate) use graph_texts::GraphTexts;
pub(crate) use known::Note;
use loaded::{Loaded, Shelf};
use project::ProjectIndex;
pub(crate) use texts::Wanted;

use crate::embedding::{Coverage, Pending, TextKind};
use crate::memory::{Mode, Ranked, Ranking};
use crate::sql;

/// The number of rows that an index reads at once while it follows changes.
pub(crate) const ROWS_AT_ONCE: i64 = 2_000;

/// The configuration of the indexes.
pub struct IndexesConfig {
    /// The folder of the keyword caches. Without a folder they are in memory and rebuilt at each start.
    pub folder: Option<PathBuf>,
    /// Makes vectors of texts.
    pub embedder: Arc<dyn Embedder>,
    /// The clock.
    pub clock: Clock,
    /// The maximum memory of search indexes before the least recently used are dropped.
    pub bytes_max: usize,
    /// The maximum memory of graphs before the least recently used are dropped.
    pub graph_bytes_max: usize,
}

impl IndexesConfig {
    /// The defaults, with this embedder.
    pub fn new(embedder: Arc<dyn Embedder>, clock: Clock) -> Self {
        Self { folder: None, embedder, clock, bytes_max: INDEX_BYTES_MAX, graph_bytes_max: GRAPH_BYTES_MAX }
    }
}

/// The approximate memory of the loaded indexes of one org, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexBytes {
    /// Keywords and vectors of observations.
    pub observations: usize,
    /// The knowledge graph.
    pub graph: usize,
    /// Keywords and vectors of the graph.
    pub graph_texts: usize,
}

/// The indexes of all projects.
pub struct Indexes {
    config: IndexesConfig,
    memories: Shelf<ProjectIndex>,
    facts: Shelf<FactsIndex>,
    graph_texts: Shelf<GraphTexts>,
    /// Projects whose texts wait for vectors.
    pub pending: Pending,
    /// The questions that are being answered. Texts are embedded between them.
    pub questions: Arc<Questions>,
}

impl Indexes {
    /// Creates the indexes. Each is loaded on first use.
    pub fn new(config: IndexesConfig) -> Self {
        Self {
            memories: Shelf::new(config.bytes_max),
            facts: Shelf::new(config.graph_bytes_max),
            graph_texts: Shelf::new(config.bytes_max),
            pending: Pending::default(),
            questions: Arc::default(),
            config,
        }
    }

    pub(crate) fn embedder(&self) -> Arc<dyn Embedder> {
        Arc::clone(&self.config.embedder)
    }

    /// The vector of a query, unless the mode uses keywords only.
    pub(crate) async fn query_vector(&self, org: &OrgId, query: &str, mode: Mode) -> Result<Option<Query>> {
        if mode == Mode::Keyword {
            return Ok(None);
        }
        let (embedder, query) = (self.embedder(), query.to_owned());
        let is_remote = embedder.is_remote();
        let work = move || query_vector(&*embedder, &query);
        if is_remote { store::wait_for_another(work).await } else { store::compute(org, work).await }
    }

    /// Ranks a project's observations for a query.
    pub(crate) async fn search(
        &self,
        rows: &OrgStore,
        project: &ProjectId,
        query: &str,
        ranking: Ranking,
        most: usize,
    ) -> Result<(Vec<Ranked>, Coverage)> {
        let index = self.memories.of(rows.org(), project, || {
            ProjectIndex::open(self.folder(rows, project.as_str()).as_deref(), self.config.embedder.dimension())
        })?;
        index.catch_up(rows, project, self.config.embedder.model()).await?;
        let vector = Arc::new(self.query_vector(rows.org(), query, ranking.mode).await?);
        let words_only = vector.is_none() && ranking.mode != Mode::Keyword;
        let now = self.config.clock.now();
        let rank = || {
            let (index, vector, query) = (Arc::clone(&index), Arc::clone(&vector), query.to_owned());
            store::compute(rows.org(), move || index.rank(&query, vector.as_ref().as_ref(), &ranking, now, most))
        };
        let mut ranked = rank().await??;
        // Counting a long queue takes as long as everything else, and only an empty answer needs the number.
        let mut coverage = Coverage { embedded: index.vectors() as u64, waiting: 0, words_only };
        if ranked.is_empty() {
            coverage.waiting = self.waiting_of(rows, project, TextKind::Observation).await?;
            // If nothing waits now, a text may have got its vector since the search.
            if coverage.waiting == 0 && index.catch_up(rows, project, self.config.embedder.model()).await? {
                ranked = rank().await??;
                coverage.embedded = index.vectors() as u64;
            }
        }
        self.memories.tidy(&index);
        Ok((ranked, coverage))
    }

    /// The current knowledge graph of a project.
    pub(crate) async fn facts(&self, rows: &OrgStore, project: &ProjectId) -> Result<Arc<FactsIndex>> {
        let facts = self.facts.of(rows.org(), project, || Ok(FactsIndex::default()))?;
        facts.catch_up(rows, project).await?;
        self.facts.tidy(&facts);
        Ok(facts)
    }

    /// The current keywords and vectors of a project's graph.
    pub(crate) async fn graph_texts(&self, rows: &OrgStore, project: &ProjectId) -> Result<Arc<GraphTexts>> {
        let texts = self.graph_texts.of(rows.org(), project, || {
            let folder = self.folder(rows, &format!("{project}.graph"));
            GraphTexts::open(folder.as_deref(), self.config.embedder.dimension())
        })?;
        texts.catch_up(rows, project, self.config.embedder.model()).await?;
        self.graph_texts.tidy(&texts);
        Ok(texts)
    }

    /// The number of texts of one kind that wait for a vector.
    pub(crate) async fn waiting_of(&self, rows: &OrgStore, project: &ProjectId, kind: TextKind) -> Result<u64> {
        let waiting = rows.first(sql::UNEMBEDDED_COUNT, &params![project, kind], |row| row.get::<i64>("count")).await?;
        Ok(waiting.unwrap_or(0).unsigned_abs())
    }

    /// The memory of an org's loaded indexes.
    pub fn bytes_of(&self, org: &OrgId) -> IndexBytes {
        IndexBytes {
            observations: self.memories.bytes_of(org),
            graph: self.facts.bytes_of(org),
            graph_texts: self.graph_texts.bytes_of(org),
        }
    }

    fn folder(&self, rows: &OrgStore, name: &str) -> Option<PathBuf> {
        self.config.folder.as_ref().map(|folder| folder.join(rows.org().as_str()).join(name))
    }

    /// Commits keyword caches with enough changes, and returns how many projects are loaded. Call it on a blocking thread.
    pub fn flush(&self) -> usize {
        let memories = self.memories.all();
        memories.iter().for_each(|index| index.flush());
        self.graph_texts.all().iter().for_each(|texts| texts.flush());
        memories.len()
    }
}

/// The vector of a query. Without one the keywords still match, so a failing embedder does not disable memory.
fn query_vector(embedder: &dyn Embedder, query: &str) -> Option<Query> {
    match embedder.embed_query(query) {
        Ok(vector) => Query::new(&vector).ok(),
        // An unavailable embedder logs that itself once, and not for every query.
        Err(error) if error.kind() == Kind::Unavailable => {
            tracing::debug!(%error, "a query is answered by keywords only");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "embedding a query failed; it is answered by keywords only");
            None
        }
    }
}
