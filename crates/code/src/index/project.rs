//! The index of one project: it is built once, follows the disk, and answers from what it has at any time.
//!
//! Whoever needs work done says so and goes on; whoever does it, does it for all. Work never holds up a question: questions are answered
//! from the published state.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use base::{Clock, Timestamp};
use tokio::sync::watch as told;

use super::file::Extractor;
use super::files::ProjectFiles;
use super::pack::Pack;
use super::snapshot::{Coverage, Following, Snapshot};
use super::state::State;
use super::table::{Counts, FileNumber};
use super::watch::Watch;
use crate::find::PassageSink;

/// More changed paths than this are found faster by a listing.
const PATHS_MAX: usize = 5_000;
/// Without events, a listing is trusted for this long.
const TRUSTED_MS: i64 = 2_000;

/// What an index is made of.
pub(crate) struct ProjectParts {
    /// The files.
    pub(crate) files: Arc<dyn ProjectFiles>,
    /// Whoever searches in the files' passages.
    pub(crate) sink: Option<Arc<dyn PassageSink>>,
}

/// The index of one project.
pub struct ProjectIndex {
    pub(super) files: Arc<dyn ProjectFiles>,
    pub(super) sink: Option<Arc<dyn PassageSink>>,
    pub(super) extractor: Extractor,
    /// Where the state is kept on disk.
    pub(super) kept: Option<PathBuf>,
    pub(super) clock: Clock,
    /// Held by whoever brings the index up to date.
    pub(super) work: Mutex<()>,
    pub(super) state: Mutex<State>,
    pub(super) counts: Arc<Counts>,
    published: RwLock<Arc<Snapshot>>,
    pub(super) progress: Mutex<Progress>,
    pub(super) waiting: Arc<Waiting>,
    tickets: AtomicU64,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) watch: Mutex<Option<Watch>>,
    changed: told::Sender<u64>,
}

/// How far the index is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) files: u64,
    pub(super) left_out: u64,
    pub(super) is_complete: bool,
    pub(super) as_of: Timestamp,
    pub(super) following: Following,
}

/// What there is to do.
pub(super) struct Waiting {
    pub(super) todo: Mutex<Todo>,
    /// Wakes whoever does it.
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Todo {
    /// List all files.
    pub(super) all: bool,
    /// Look at these paths and what is below them.
    pub(super) paths: BTreeSet<String>,
    /// Do the full step for changes that are applied.
    pub(super) settle: bool,
    /// Passages of these files have to be handed out.
    pub(super) unfed: BTreeSet<FileNumber>,
    /// Somebody is at work.
    pub(super) is_under_way: bool,
}

impl Todo {
    pub(super) fn is_empty(&self) -> bool {
        !self.all && self.paths.is_empty() && !self.settle && self.unfed.is_empty()
    }
}

impl Waiting {
    pub(super) fn lock(&self) -> MutexGuard<'_, Todo> {
        self.todo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a listing.
    pub(super) fn ask_for_all(&self) {
        self.lock().all = true;
        (self.wake)();
    }

    /// Asks for a look at some paths.
    pub(super) fn ask_for(&self, paths: impl IntoIterator<Item = String>) {
        let mut todo = self.lock();
        todo.paths.extend(paths);
        if todo.paths.len() > PATHS_MAX {
            todo.paths.clear();
            todo.all = true;
        }
        drop(todo);
        (self.wake)();
    }

    pub(super) fn ask_to_settle(&self) {
        self.lock().settle = true;
        (self.wake)();
    }
}

impl ProjectIndex {
    /// An index that has nothing yet. `wake` is called when there is work: someone then calls [`ProjectIndex::catch_up`].
    pub(crate) fn new(
        parts: ProjectParts,
        pack: Arc<Pack>,
        kept: Option<PathBuf>,
        clock: Clock,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        let state = State::default();
        let todo = Mutex::new(Todo { all: true, ..Todo::default() });
        let as_of = Timestamp::from_ms(0);
        let index = Self {
            files: parts.files,
            sink: parts.sink,
            extractor: Extractor::new(pack),
            kept,
            clock,
            work: Mutex::new(()),
            counts: Arc::clone(&state.table.counts),
            published: RwLock::new(Arc::new(Snapshot::empty(Arc::clone(&state.table.names)))),
            state: Mutex::new(state),
            progress: Mutex::new(Progress { files: 0, left_out: 0, is_complete: false, as_of, following: Following::Listings }),
            waiting: Arc::new(Waiting { todo, wake: Box::new(wake) }),
            tickets: AtomicU64::new(1),
            stop: Arc::default(),
            watch: Mutex::new(None),
            changed: told::Sender::new(0),
        };
        (index.waiting.wake)();
        Arc::new(index)
    }

    /// The current state. It stays as it is while the index goes on.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How much of the project the current state has.
    pub fn coverage(&self) -> Coverage {
        let progress = *self.lock_progress();
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let indexed = count(&self.counts.indexed);
        let todo = self.waiting.lock();
        let has_work = todo.all || todo.settle || !todo.paths.is_empty() || todo.is_under_way;
        drop(todo);
        let is_recent = self.clock.now().ms().saturating_sub(progress.as_of.ms()) <= TRUSTED_MS;
        Coverage {
            files: progress.files.max(indexed),
            indexed,
            parsed: count(&self.counts.parsed),
            failed: count(&self.counts.failed),
            left_out: progress.left_out,
            is_complete: progress.is_complete,
            is_fresh: progress.is_complete && !has_work && (progress.following == Following::Events || is_recent),
            as_of: progress.as_of,
            following: progress.following,
        }
    }

    /// Asks for a comparison of all files with the disk.
    pub fn ask_to_reconcile(&self) {
        self.waiting.ask_for_all();
    }

    /// Waits until the index is complete and fresh, or as long as the caller has patience.
    pub async fn settled(&self, patience: Duration) -> Coverage {
        let mut changed = self.changed.subscribe();
        let wait = async {
            while !(self.coverage().is_complete && self.waiting.lock().is_empty() && !self.waiting.lock().is_under_way) {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        let _late = tokio::time::timeout(patience, wait).await;
        self.coverage()
    }

    /// Tells whenever a new state is published or work is done.
    pub fn subscribe(&self) -> told::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        let graph = self.snapshot().graph.get().map_or(0, super::graph::CodeGraph::bytes);
        graph + self.lock_state().bytes() + self.sink.as_ref().map_or(0, |sink| sink.bytes())
    }

    /// How often a file was read and a text was parsed, for tests and metrics.
    pub fn work_done(&self) -> (u64, u64) {
        (self.extractor.reads.load(Ordering::Relaxed), self.extractor.parses.load(Ordering::Relaxed))
    }

    /// Ends work that is under way. It leaves the index incomplete.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A number that is higher than those before it. It is drawn before a file is read.
    pub(super) fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::SeqCst)
    }

    pub(super) fn now_ns(&self) -> i64 {
        self.clock.now().ms().saturating_mul(1_000_000)
    }

    pub(super) fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a state.
    pub(super) fn publish(&self, state: &State) {
        let snapshot = Arc::new(state.snapshot());
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = snapshot;
        self.tell();
    }

    /// Wakes those who wait for progress.
    pub(super) fn tell(&self) {
        self.changed.send_modify(|version| *version += 1);
    }
}
