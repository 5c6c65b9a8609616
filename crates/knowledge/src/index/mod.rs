//! The indexes of the projects that are asked, in this process. They are loaded when a project is first asked, follow its changes,
//! and are dropped when others need the room.
//!
//! | room | holds |
//! |---|---|
//! | `texts` | texts found by words and meaning, whatever they are texts of |
//! | `project`, `known` | what was noted |
//! | `facts` | the knowledge graph as nodes and edges |
//! | `graph_texts` | the words and meanings of entities and triplets |
//! | `loaded` | what is kept of which project, and for how long |

mod facts;
mod graph_texts;
mod known;
mod loaded;
mod project;
mod texts;

use std::path::PathBuf;
use std::sync::Arc;

use base::limits::{GRAPH_BYTES_MAX, INDEX_BYTES_MAX};
use base::{Clock, Kind, ProjectId, Result};
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

/// Rows read at once while an index follows.
pub(crate) const ROWS_AT_ONCE: i64 = 2_000;

/// How indexes are made.
pub struct IndexesConfig {
    /// Where word caches are kept. Without a folder they are in memory, and made again at each start.
    pub folder: Option<PathBuf>,
    /// What makes vectors of texts.
    pub embedder: Arc<dyn Embedder>,
    /// The time.
    pub clock: Clock,
    /// Memory that search indexes may take before the least used are dropped.
    pub bytes_max: usize,
    /// Memory that graphs may take before the least used are dropped.
    pub graph_bytes_max: usize,
}

impl IndexesConfig {
    /// The usual, with this embedder.
    pub fn new(embedder: Arc<dyn Embedder>, clock: Clock) -> Self {
        Self { folder: None, embedder, clock, bytes_max: INDEX_BYTES_MAX, graph_bytes_max: GRAPH_BYTES_MAX }
    }
}

/// The indexes of all projects.
pub struct Indexes {
    config: IndexesConfig,
    memories: Shelf<ProjectIndex>,
    facts: Shelf<FactsIndex>,
    graph_texts: Shelf<GraphTexts>,
    /// Projects where texts wait for their vectors.
    pub pending: Pending,
}

impl Indexes {
    /// No index is loaded until it is asked for.
    pub fn new(config: IndexesConfig) -> Self {
        Self {
            memories: Shelf::new(config.bytes_max),
            facts: Shelf::new(config.graph_bytes_max),
            graph_texts: Shelf::new(config.bytes_max),
            pending: Pending::default(),
            config,
        }
    }

    pub(crate) fn embedder(&self) -> Arc<dyn Embedder> {
        Arc::clone(&self.config.embedder)
    }

    /// What a question means, unless it is asked by its words alone.
    pub(crate) async fn query_vector(&self, query: &str, mode: Mode) -> Result<Option<Query>> {
        if mode == Mode::Keyword {
            return Ok(None);
        }
        let (embedder, query) = (self.embedder(), query.to_owned());
        let is_remote = embedder.is_remote();
        let work = move || query_vector(&*embedder, &query);
        if is_remote { store::wait_for_another(work).await } else { store::compute(work).await }
    }

    /// Ranks what a project's agents noted by a query in plain words.
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
        let vector = self.query_vector(query, ranking.mode).await?;
        let words_only = vector.is_none() && ranking.mode != Mode::Keyword;
        let (searched, query, now) = (Arc::clone(&index), query.to_owned(), self.config.clock.now());
        let ranked = store::compute(move || searched.rank(&query, vector.as_ref(), &ranking, now, most)).await??;
        self.memories.tidy(&index);
        Ok((ranked, self.coverage(rows, project, TextKind::Observation, index.vectors(), words_only).await?))
    }

    /// The knowledge graph of a project as it is now.
    pub(crate) async fn facts(&self, rows: &OrgStore, project: &ProjectId) -> Result<Arc<FactsIndex>> {
        let facts = self.facts.of(rows.org(), project, || Ok(FactsIndex::default()))?;
        facts.catch_up(rows, project).await?;
        self.facts.tidy(&facts);
        Ok(facts)
    }

    /// The words and meanings of a project's graph as it is now.
    pub(crate) async fn graph_texts(&self, rows: &OrgStore, project: &ProjectId) -> Result<Arc<GraphTexts>> {
        let texts = self.graph_texts.of(rows.org(), project, || {
            let folder = self.folder(rows, &format!("{project}.graph"));
            GraphTexts::open(folder.as_deref(), self.config.embedder.dimension())
        })?;
        texts.catch_up(rows, project, self.config.embedder.model()).await?;
        self.graph_texts.tidy(&texts);
        Ok(texts)
    }

    /// How much of one kind of text is known by meaning.
    pub(crate) async fn coverage(
        &self,
        rows: &OrgStore,
        project: &ProjectId,
        kind: TextKind,
        vectors: usize,
        words_only: bool,
    ) -> Result<Coverage> {
        let waiting = rows.first(sql::UNEMBEDDED_COUNT, &params![project, kind], |row| row.get::<i64>(0)).await?;
        Ok(Coverage { embedded: vectors as u64, waiting: waiting.unwrap_or(0).unsigned_abs(), words_only })
    }

    fn folder(&self, rows: &OrgStore, name: &str) -> Option<PathBuf> {
        self.config.folder.as_ref().map(|folder| folder.join(rows.org().as_str()).join(name))
    }

    /// Commits word caches that have gathered enough, and says how many projects are loaded. For a thread that may take its time.
    pub fn flush(&self) -> usize {
        let memories = self.memories.all();
        memories.iter().for_each(|index| index.flush());
        self.graph_texts.all().iter().for_each(|texts| texts.flush());
        memories.len()
    }
}

/// What a question means. Without a vector its words still find something: an embedder that fails must not silence memory.
fn query_vector(embedder: &dyn Embedder, query: &str) -> Option<Query> {
    match embedder.embed(query) {
        Ok(vector) => Query::new(&vector).ok(),
        // An embedder that is away says so itself, once: not with every question.
        Err(error) if error.kind() == Kind::Unavailable => {
            tracing::debug!(%error, "a question is answered by its words");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "a question could not be embedded: it is answered by its words");
            None
        }
    }
}
