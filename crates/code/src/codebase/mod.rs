//! A project's code as its callers see it: files, index, search, history and git joined into one.
//!
//! [`Codebases`] holds what all calls share on this node. [`Codebase`] is one project for one call: it reads through the caller's rows, and
//! changes files only if these rows are a [`Change`](store::Change), which records every change.
//!
//! | module | purpose |
//! |---|---|
//! | `place` | what is open of one project, and files that are stored in rows |
//! | `background` | builds indexes, makes vectors and writes caches |
//! | `read`, `write` | one file |
//! | `search` | hits with their snippets |
//! | `past` | versions and commits in one list |
//! | `people` | the tree, old contents, who wrote each line, undoing |

mod background;
mod past;
mod people;
mod place;
mod read;
mod search;
mod write;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ::search::background::Questions;
use ::search::embed::Embedder;
use base::{Clock, OrgId, ProjectId, Result};
use store::OrgStore;
use tokio::sync::Notify;

use crate::find::VectorPack;
use crate::history::History;
use crate::index::{CodeIndexes, Coverage, Following, ProjectIndex, Snapshot};
use crate::path::CodePath;
use place::{Place, Told};

pub use background::CodeFigures;
pub use past::{PastChange, PastFilter, PastPage, Pasts};
pub use people::{FileBlame, LineOrigin, Origin, TreeEntry, TreePage, language_of};
pub use read::{FileContent, FileRead, SimilarFile};
pub use search::{CodeHit, HybridQuery, HybridResults, SemanticQuery, SemanticResults, Signals};
pub use write::{ChangedSymbols, Edit, Edited};

/// The largest pack of vectors of an org.
const VECTORS_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// What all codebases of a node share.
pub struct CodebasesConfig {
    /// The folder of the caches. Without a folder they are in memory and built again at each start.
    pub folder: Option<PathBuf>,
    /// The clock.
    pub clock: Clock,
    /// Makes vectors of passages.
    pub embedder: Arc<dyn Embedder>,
    /// The questions that background work gives way to.
    pub questions: Arc<Questions>,
    /// The maximum memory of indexes before the least recently used are dropped.
    pub bytes_max: usize,
}

type Key = (OrgId, ProjectId);

/// The codebases of all projects on this node.
pub struct Codebases {
    config: CodebasesConfig,
    indexes: CodeIndexes,
    places: Mutex<HashMap<Key, Arc<Place>>>,
    packs: Mutex<HashMap<OrgId, Weak<VectorPack>>>,
    /// Passages wait for vectors.
    waiting: Arc<Notify>,
}

impl Codebases {
    /// Codebases that are opened on first use.
    pub fn new(config: CodebasesConfig) -> Self {
        let indexes = CodeIndexes::new(config.folder.clone(), config.bytes_max, config.clock.clone());
        Self { config, indexes, places: Mutex::default(), packs: Mutex::default(), waiting: Arc::default() }
    }

    /// The code of a project. The first caller opens it; the background builds its index, and answers say how far it is.
    ///
    /// # Errors
    /// `conflict` if the project's root is gone or cannot be read.
    pub async fn of<R: AsRef<OrgStore>>(&self, rows: R, project: ProjectId, root: Option<&str>) -> Result<Codebase<R>> {
        let key = (*rows.as_ref().org(), project);
        let known = self.places().get(&key).cloned();
        let place = match known.filter(|place| place.root() == root) {
            Some(place) => place,
            None => self.open(rows.as_ref(), key, root).await?,
        };
        let sink = Told { finder: Arc::clone(&place.finder), waiting: Arc::clone(&self.waiting) };
        let index = self.indexes.project(key.0, project, || Ok(place.parts(sink)))?;
        // Where nothing reports changes, questions make the index look for them.
        let coverage = index.coverage();
        if coverage.is_complete && !coverage.is_fresh && coverage.following == Following::Listings {
            index.ask_to_reconcile();
        }
        Ok(Codebase { rows, project, clock: self.config.clock.clone(), place, index })
    }

    /// Opens a project, or opens it again because its root changed.
    async fn open(&self, rows: &OrgStore, key: Key, root: Option<&str>) -> Result<Arc<Place>> {
        let opening = place::Opening {
            rows: rows.clone(),
            project: key.1,
            root: root.map(ToOwned::to_owned),
            folder: self.config.folder.as_ref().map(|folder| folder.join(key.0.as_str()).join(format!("{}.words", key.1))),
            pack: self.pack(&key.0),
            embedder: Arc::clone(&self.config.embedder),
            questions: Arc::clone(&self.config.questions),
        };
        let place = Arc::new(opening.open().await?);
        let mut places = self.places();
        // Another caller may have been faster.
        if let Some(known) = places.get(&key).filter(|known| known.root() == root) {
            return Ok(Arc::clone(known));
        }
        if places.insert(key, Arc::clone(&place)).is_some() {
            self.indexes.forget(key.0, key.1);
        }
        Ok(place)
    }

    /// The vectors of an org on disk. Without them, vectors are made again after a restart.
    fn pack(&self, org: &OrgId) -> Option<Arc<VectorPack>> {
        let folder = self.config.folder.as_ref()?.join(org.as_str());
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pack) = packs.get(org).and_then(Weak::upgrade) {
            return Some(pack);
        }
        let embedder = &self.config.embedder;
        match VectorPack::open(&folder, embedder.model(), embedder.dimension(), VECTORS_BYTES_MAX) {
            Ok(pack) => {
                let pack = Arc::new(pack);
                packs.insert(*org, Arc::downgrade(&pack));
                Some(pack)
            }
            Err(error) => {
                tracing::warn!(%error, "vectors of code are not kept on disk");
                None
            }
        }
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Key, Arc<Place>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The code of one project, for one call.
pub struct Codebase<R = OrgStore> {
    rows: R,
    project: ProjectId,
    clock: Clock,
    place: Arc<Place>,
    index: Arc<ProjectIndex>,
}

/// How much of a project an answer covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeCoverage {
    /// Files and outlines.
    pub index: Coverage,
    /// Passages that words find.
    pub passages: u64,
    /// Passages that have a vector.
    pub embedded: u64,
}

impl<R: AsRef<OrgStore> + Clone> Codebase<R> {
    /// The index, for questions about dependencies.
    pub fn index(&self) -> &Arc<ProjectIndex> {
        &self.index
    }

    /// Asks the index about its current state. The file that a question is about is compared with the disk first.
    pub async fn ask<T: Send + 'static>(
        &self,
        file: Option<&CodePath>,
        question: impl FnOnce(&Snapshot) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (index, file) = (Arc::clone(&self.index), file.cloned());
        let work = move || {
            if let Some(file) = file {
                index.refresh(file.as_str());
            }
            question(&index.snapshot())
        };
        store::compute(self.rows().org(), work).await?
    }

    /// How much of the project is covered now.
    pub fn coverage(&self) -> CodeCoverage {
        let found = self.place.finder.coverage();
        CodeCoverage { index: self.index.coverage(), passages: found.passages as u64, embedded: found.embedded as u64 }
    }

    /// The versions of the project's files.
    pub fn history(&self) -> History<R> {
        History::new(self.rows.clone(), self.project, self.place.files.clone(), self.clock.clone())
    }

    fn rows(&self) -> &OrgStore {
        self.rows.as_ref()
    }
}
