//! How many calls are under way at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// So many places.
pub(super) struct Places {
    most: u32,
    taken: AtomicU32,
}

/// One place. It is free again when this is dropped.
pub(super) struct Place(Arc<Places>);

impl Places {
    pub(super) fn new(most: u32) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicU32::new(0) })
    }

    /// A place, if one is free.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Place> {
        let one_more = |taken: u32| (taken < self.most).then_some(taken + 1);
        self.taken.try_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        Some(Place(Arc::clone(self)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
    }
}
