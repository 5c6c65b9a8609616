//! Limits concurrent calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A number of slots.
pub(super) struct Places {
    most: u32,
    taken: AtomicU32,
}

/// One slot. Dropping it frees the slot.
pub(super) struct Place(Arc<Places>);

impl Places {
    pub(super) fn new(most: u32) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicU32::new(0) })
    }

    /// Takes a slot if one is free.
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
