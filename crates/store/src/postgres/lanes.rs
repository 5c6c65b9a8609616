//! Turns within one process: of all writes in a lane, one at a time asks for a connection.
//!
//! Between processes the lane is an advisory lock of the database; this only keeps the waiting out of the pool.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::{Mutex, OwnedMutexGuard};

/// Lanes remembered before those that nobody waits in are forgotten.
const KEPT: usize = 1_024;

#[derive(Default)]
pub(super) struct Lanes(std::sync::Mutex<HashMap<Box<str>, Weak<Mutex<()>>>>);

impl Lanes {
    /// Waits for its turn in `lane`, which lasts until the guard is dropped.
    pub(super) async fn enter(&self, lane: &str) -> OwnedMutexGuard<()> {
        self.lane(lane).lock_owned().await
    }

    fn lane(&self, name: &str) -> Arc<Mutex<()>> {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(name).and_then(Weak::upgrade) {
            return lane;
        }
        if lanes.len() >= KEPT {
            lanes.retain(|_, lane| lane.strong_count() > 0);
        }
        let lane = Arc::new(Mutex::new(()));
        lanes.insert(name.into(), Arc::downgrade(&lane));
        lane
    }
}
