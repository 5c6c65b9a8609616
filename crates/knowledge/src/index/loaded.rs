//! What is loaded of the projects that are asked, until others need the room.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::{OrgId, ProjectId, Result};

/// Something read from rows that can be dropped and read again.
pub(super) trait Loaded {
    /// Memory held, about.
    fn bytes(&self) -> usize;

    /// Writes what can be written to disk. For a thread that may take its time.
    fn flush(&self) {}
}

/// One for each project that was asked.
pub(super) struct Shelf<T> {
    bytes_max: usize,
    projects: Mutex<HashMap<(OrgId, ProjectId), Slot<T>>>,
    uses: AtomicU64,
}

struct Slot<T> {
    loaded: Arc<T>,
    last_use: u64,
}

impl<T: Loaded> Shelf<T> {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, projects: Mutex::default(), uses: AtomicU64::new(0) }
    }

    /// The one of a project; the first to ask makes it.
    pub(super) fn of(&self, org: &OrgId, project: &ProjectId, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let (key, last_use) = ((*org, *project), self.uses.fetch_add(1, Ordering::Relaxed));
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = projects.get_mut(&key) {
            slot.last_use = last_use;
            return Ok(Arc::clone(&slot.loaded));
        }
        let loaded = Arc::new(make()?);
        projects.insert(key, Slot { loaded: Arc::clone(&loaded), last_use });
        Ok(loaded)
    }

    /// Drops the least used while all together take too much. One that is asked at this moment lives until it has answered.
    pub(super) fn tidy(&self, in_use: &Arc<T>) {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes: usize = projects.values().map(|slot| slot.loaded.bytes()).sum();
        while bytes > self.bytes_max {
            let least_used = projects
                .iter()
                .filter(|(_, slot)| !Arc::ptr_eq(&slot.loaded, in_use))
                .min_by_key(|(_, slot)| slot.last_use)
                .map(|(key, _)| *key);
            let Some(dropped) = least_used.and_then(|key| projects.remove(&key)) else {
                break;
            };
            bytes = bytes.saturating_sub(dropped.loaded.bytes());
        }
    }

    /// Everything that is loaded.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.values().map(|slot| Arc::clone(&slot.loaded)).collect()
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
    fn the_least_used_goes_when_room_is_needed_and_the_one_in_use_stays() {
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
        ask(1, 500);
        assert_eq!(shelf.all().len(), 1, "too large by itself, but in use");
    }
}
