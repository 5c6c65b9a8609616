//! Turns within one process: only one write of a lane at a time asks for a connection.
//!
//! Between processes an advisory lock of the database guards the lane. This only keeps waiting writes from using up the pool.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::{Mutex, OwnedMutexGuard};

/// The number of lanes to remember before unused ones are removed.
const KEPT: usize = 1_024;

#[derive(Default)]
pub(super) struct Lanes(std::sync::Mutex<HashMap<Box<str>, Weak<Mutex<()>>>>);

impl Lanes {
    /// Waits for a turn in `lane`. The turn lasts until the guard is dropped.
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
