//! The indexes of the projects that are asked, in this process. They are loaded when a project is first asked, follow its changes,
//! and are dropped when nobody has asked for a while or others need the room.

mod known;
mod project;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::limits::INDEX_BYTES_MAX;
use base::{Clock, Error, Kind, OrgId, ProjectId, Result};
use search::embed::Embedder;
use search::vectors::Query;
use store::OrgStore;

pub(crate) use known::Note;
use project::ProjectIndex;

use crate::embedding::{Coverage, Pending};
use crate::memory::{Mode, Ranked, Ranking};

/// How indexes are made.
pub struct IndexesConfig {
    /// Where word caches are kept. Without a folder they are in memory, and made again at each start.
    pub folder: Option<PathBuf>,
    /// What makes vectors of texts.
    pub embedder: Arc<dyn Embedder>,
    /// The time.
    pub clock: Clock,
    /// Memory that indexes may take before the least used are dropped.
    pub bytes_max: usize,
}

impl IndexesConfig {
    /// The usual, with this embedder.
    pub fn new(embedder: Arc<dyn Embedder>, clock: Clock) -> Self {
        Self { folder: None, embedder, clock, bytes_max: INDEX_BYTES_MAX }
    }
}

/// The indexes of all projects.
pub struct Indexes {
    config: IndexesConfig,
    projects: Mutex<HashMap<(OrgId, ProjectId), Slot>>,
    uses: AtomicU64,
    /// Projects where texts wait for their vectors.
    pub pending: Pending,
}

struct Slot {
    index: Arc<ProjectIndex>,
    last_use: u64,
}

impl Indexes {
    /// No index is loaded until it is asked for.
    pub fn new(config: IndexesConfig) -> Self {
        Self { config, projects: Mutex::default(), uses: AtomicU64::new(0), pending: Pending::default() }
    }

    pub(crate) fn embedder(&self) -> Arc<dyn Embedder> {
        Arc::clone(&self.config.embedder)
    }

    /// Ranks what a project knows by a query in plain words.
    pub(crate) async fn search(
        &self,
        rows: &OrgStore,
        project: &ProjectId,
        query: &str,
        ranking: Ranking,
        most: usize,
    ) -> Result<(Vec<Ranked>, Coverage)> {
        let index = self.of(rows, project)?;
        index.catch_up(rows, project, self.config.embedder.model()).await?;
        let (embedder, query, now) = (self.embedder(), query.to_owned(), self.config.clock.now());
        let searched = Arc::clone(&index);
        let work = move || {
            let vector = match ranking.mode {
                Mode::Keyword => None,
                Mode::Vector | Mode::Fused => vector_of(embedder.as_ref(), &query),
            };
            let words_only = vector.is_none() && ranking.mode != Mode::Keyword;
            Ok::<_, Error>((searched.rank(&query, vector.as_ref(), &ranking, now, most)?, words_only))
        };
        let (ranked, words_only) = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
        self.tidy(&index);
        let waiting = self.waiting(rows, project).await?;
        Ok((ranked, Coverage { embedded: index.vectors() as u64, waiting, words_only }))
    }

    /// The index of a project, loaded or new.
    fn of(&self, rows: &OrgStore, project: &ProjectId) -> Result<Arc<ProjectIndex>> {
        let key = (*rows.org(), *project);
        let use_number = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = projects.get_mut(&key) {
            slot.last_use = use_number;
            return Ok(Arc::clone(&slot.index));
        }
        let folder = self.config.folder.as_ref().map(|folder| folder.join(key.0.as_str()).join(key.1.as_str()));
        let index = Arc::new(ProjectIndex::open(folder.as_deref(), self.config.embedder.dimension())?);
        projects.insert(key, Slot { index: Arc::clone(&index), last_use: use_number });
        Ok(index)
    }

    /// Drops the least used indexes while all together take too much. One that is asked at this moment lives until it has answered.
    fn tidy(&self, in_use: &Arc<ProjectIndex>) {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes: usize = projects.values().map(|slot| slot.index.bytes()).sum();
        while bytes > self.config.bytes_max {
            let least_used = projects
                .iter()
                .filter(|(_, slot)| !Arc::ptr_eq(&slot.index, in_use))
                .min_by_key(|(_, slot)| slot.last_use)
                .map(|(key, _)| *key);
            let Some(dropped) = least_used.and_then(|key| projects.remove(&key)) else {
                break;
            };
            bytes = bytes.saturating_sub(dropped.index.bytes());
        }
    }

    /// Commits word caches that have gathered enough, and says how many projects are loaded. For a thread that may take its time.
    pub fn flush(&self) -> usize {
        let loaded: Vec<_> = {
            let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
            projects.values().map(|slot| Arc::clone(&slot.index)).collect()
        };
        loaded.iter().for_each(|index| index.flush());
        loaded.len()
    }
}

/// What a question means. Without a vector its words still find something: an embedder that fails must not silence memory.
fn vector_of(embedder: &dyn Embedder, query: &str) -> Option<Query> {
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
