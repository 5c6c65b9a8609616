//! The loaded indexes of projects. The least recently used ones are dropped when memory is short.

use std::sync::{Arc, Mutex, PoisonError};

use base::{OrgId, ProjectId, Result};
use lru::LruCache;

/// Data from rows that can be dropped and loaded again.
pub(super) trait Loaded {
    /// The approximate memory in bytes.
    fn bytes(&self) -> usize;

    /// Writes what can be written to disk. Call it on a blocking thread.
    fn flush(&self) {}
}

/// One value per project. A value grows while it is kept, so its size is read after use. An ordinary cache would know only its
/// initial size.
pub(super) struct Shelf<T> {
    bytes_max: usize,
    projects: Mutex<LruCache<(OrgId, ProjectId), Arc<T>>>,
}

impl<T: Loaded> Shelf<T> {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, projects: Mutex::new(LruCache::unbounded()) }
    }

    /// The value of a project. The first caller creates it.
    pub(super) fn of(&self, org: &OrgId, project: &ProjectId, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.try_get_or_insert((*org, *project), || make().map(Arc::new)).map(Arc::clone)
    }

    /// Drops the least recently used values while all together are too large. A value in use lives until its caller is done.
    pub(super) fn tidy(&self, in_use: &Arc<T>) {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes: usize = projects.iter().map(|(_, loaded)| loaded.bytes()).sum();
        while bytes > self.bytes_max {
            let mut oldest_first = projects.iter().rev();
            let least_used = oldest_first.find(|(_, loaded)| !Arc::ptr_eq(loaded, in_use)).map(|(key, _)| *key);
            let Some(dropped) = least_used.and_then(|key| projects.pop(&key)) else {
                break;
            };
            bytes = bytes.saturating_sub(dropped.bytes());
        }
    }

    /// The approximate memory of an org's values in bytes.
    pub(super) fn bytes_of(&self, org: &OrgId) -> usize {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.iter().filter(|((owner, _), _)| owner == org).map(|(_, loaded)| loaded.bytes()).sum()
    }

    /// All loaded values.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.iter().map(|(_, loaded)| Arc::clone(loaded)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Timestamp;

    struct Heavy(usize);

    impl Loaded for Heavy {
        fn bytes(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn the_least_recently_used_is_dropped_and_the_one_in_use_stays() {
        let shelf = Shelf::new(100);
        let org = OrgId::new(Timestamp::from_ms(0));
        let projects: Vec<_> = (0..3).map(|_| ProjectId::new(Timestamp::from_ms(0))).collect();
        let ask = |project: usize, bytes: usize| {
            let loaded = shelf.of(&org, &projects[project], || Ok(Heavy(bytes))).unwrap();
            shelf.tidy(&loaded);
        };
        ask(0, 60);
        ask(1, 30);
        ask(0, 1);
        ask(2, 40);
        let mut left: Vec<usize> = shelf.all().iter().map(|loaded| loaded.0).collect();
        left.sort_unstable();
        assert_eq!(left, [40, 60], "the second had not been asked for longest");
        assert_eq!(shelf.bytes_of(&org), 100);
        assert_eq!(shelf.bytes_of(&OrgId::new(Timestamp::from_ms(0))), 0, "another org has loaded nothing");
        ask(1, 500);
        assert_eq!(shelf.all().len(), 1, "too large by itself, but in use");
    }
}
