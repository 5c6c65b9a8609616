//! The indexes of all projects on this node. The least recently used ones are dropped when memory is short; what they keep on disk makes
//! the next start quick.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::{Clock, OrgId, ProjectId, Result};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::kept;
use super::pack::{Key, Pack};
use super::project::{ProjectIndex, ProjectParts};

/// Events of one change come together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Projects that are worked on at the same time. Each uses all processors.
const PROJECTS_AT_ONCE: usize = 4;

type Place = (OrgId, ProjectId);

/// The indexes of all projects on this node.
pub(crate) struct CodeIndexes {
    /// Where caches are kept. Without it, they are kept in memory.
    folder: Option<PathBuf>,
    bytes_max: usize,
    clock: Clock,
    loaded: Mutex<Loaded>,
    work: Arc<Work>,
}

#[derive(Default)]
struct Loaded {
    projects: HashMap<Place, (Arc<ProjectIndex>, u64)>,
    packs: HashMap<OrgId, Weak<Pack>>,
    /// Counts questions, to know which index was not asked for longest.
    time: u64,
}

/// Projects with work.
#[derive(Default)]
struct Work {
    projects: Mutex<HashSet<Place>>,
    told: Notify,
}

impl CodeIndexes {
    /// Indexes that keep their caches below a folder and use at most about so much memory.
    pub(crate) fn new(folder: Option<PathBuf>, bytes_max: usize, clock: Clock) -> Self {
        Self { folder, bytes_max, clock, loaded: Mutex::default(), work: Arc::default() }
    }

    /// The index of a project. The first caller makes it, and [`CodeIndexes::run`] builds it; everyone else shares it.
    pub(crate) fn project(
        &self,
        org: OrgId,
        project: ProjectId,
        make: impl FnOnce() -> Result<ProjectParts>,
    ) -> Result<Arc<ProjectIndex>> {
        let mut loaded = self.lock();
        loaded.time += 1;
        let now = loaded.time;
        if let Some((index, used)) = loaded.projects.get_mut(&(org, project)) {
            *used = now;
            return Ok(Arc::clone(index));
        }
        let pack = self.pack(&mut loaded, org);
        let kept = self.folder_of(org).map(|folder| folder.join(format!("{project}.files")));
        let work = Arc::clone(&self.work);
        let wake = move || {
            work.projects.lock().unwrap_or_else(PoisonError::into_inner).insert((org, project));
            work.told.notify_one();
        };
        let index = ProjectIndex::new(make()?, pack, kept, self.clock.clone(), wake);
        loaded.projects.insert((org, project), (Arc::clone(&index), now));
        let dropped = self.tidy(&mut loaded, &index);
        drop(loaded);
        for index in dropped {
            index.stop();
            index.keep();
        }
        Ok(index)
    }

    /// The index of a project, if it is loaded.
    pub(crate) fn loaded(&self, org: OrgId, project: ProjectId) -> Option<Arc<ProjectIndex>> {
        self.lock().projects.get(&(org, project)).map(|(index, _)| Arc::clone(index))
    }

    /// Drops the index of a project: its root changed, or the project is gone.
    pub(crate) fn forget(&self, org: OrgId, project: ProjectId) {
        if let Some((index, _)) = self.lock().projects.remove(&(org, project)) {
            index.stop();
        }
    }

    /// Builds indexes and follows the disk, until it is dropped. The server runs it in the background.
    pub(crate) async fn run(&self) {
        let mut running = JoinSet::new();
        loop {
            self.work.told.notified().await;
            tokio::time::sleep(TOGETHER).await;
            let places: Vec<Place> = self.work.projects.lock().unwrap_or_else(PoisonError::into_inner).drain().collect();
            for place in places {
                while running.len() >= PROJECTS_AT_ONCE {
                    running.join_next().await;
                }
                let index = self.lock().projects.get(&place).map(|(index, _)| Arc::clone(index));
                if let Some(index) = index {
                    running.spawn_blocking(move || index.catch_up());
                }
            }
        }
    }

    /// Keeps all indexes on disk, and drops outlines that no project needs. Call it on a blocking thread, now and then and at the end.
    pub(crate) fn keep(&self) {
        let (indexes, packs) = {
            let loaded = self.lock();
            let indexes: Vec<_> = loaded.projects.values().map(|(index, _)| Arc::clone(index)).collect();
            let packs: Vec<_> = loaded.packs.iter().filter_map(|(org, pack)| Some((*org, pack.upgrade()?))).collect();
            (indexes, packs)
        };
        for index in indexes {
            index.keep();
        }
        for (org, pack) in packs {
            if let Some(folder) = self.folder_of(org) {
                pack.compact(&needed(&folder));
            }
        }
    }

    /// Ends the work that is under way, so that the server can end.
    pub(crate) fn stop(&self) {
        for (index, _) in self.lock().projects.values() {
            index.stop();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder_of(&self, org: OrgId) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(org.to_string()))
    }

    fn pack(&self, loaded: &mut Loaded, org: OrgId) -> Arc<Pack> {
        if let Some(pack) = loaded.packs.get(&org).and_then(Weak::upgrade) {
            return pack;
        }
        let pack = Arc::new(Pack::open(self.folder_of(org).as_deref()));
        loaded.packs.insert(org, Arc::downgrade(&pack));
        pack
    }

    /// Drops the least recently used indexes while all together are too large.
    fn tidy(&self, loaded: &mut Loaded, in_use: &Arc<ProjectIndex>) -> Vec<Arc<ProjectIndex>> {
        let mut sizes: Vec<(u64, Place, usize)> =
            loaded.projects.iter().map(|(place, (index, used))| (*used, *place, index.bytes())).collect();
        sizes.sort_unstable_by_key(|(used, ..)| *used);
        let mut bytes: usize = sizes.iter().map(|(_, _, bytes)| bytes).sum();
        let mut dropped = Vec::new();
        for (_, place, size) in sizes {
            if bytes <= self.bytes_max {
                break;
            }
            let is_in_use = loaded.projects.get(&place).is_none_or(|(index, _)| Arc::ptr_eq(index, in_use));
            if !is_in_use && let Some((index, _)) = loaded.projects.remove(&place) {
                bytes = bytes.saturating_sub(size);
                dropped.push(index);
            }
        }
        dropped
    }
}

/// The outlines that the projects of an org need, by what they keep on disk.
fn needed(folder: &Path) -> HashSet<Key> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let kept = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "files"));
    let files = kept.filter_map(|path| kept::load(&path)).flatten();
    files.filter_map(|file| Some(Key::new(&file.hash, file.language?.name()))).collect()
}
