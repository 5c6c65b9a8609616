//! Change numbers: how caches learn, without a time limit, that they are stale.
//!
//! The row is the truth. With SQLite this process is the only writer, so the numbers are mirrored in memory and a look
//! costs nothing; with PostgreSQL each look is a query, because another node may have written.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use base::OrgId;
use tokio::sync::watch;

/// The mirror of the `changes` table for a process that is its only writer.
#[derive(Clone)]
pub(crate) struct ChangeNumbers {
    numbers: Arc<RwLock<HashMap<OrgId, u64>>>,
    tick: Arc<watch::Sender<u64>>,
}

impl ChangeNumbers {
    pub(crate) fn new() -> Self {
        Self { numbers: Arc::default(), tick: Arc::new(watch::Sender::new(0)) }
    }

    /// The number of `org`; only equality with an earlier one means anything.
    pub(crate) fn of(&self, org: &OrgId) -> u64 {
        self.numbers.read().unwrap_or_else(PoisonError::into_inner).get(org).copied().unwrap_or(0)
    }

    /// Called after a commit and before it is acknowledged.
    pub(crate) fn committed(&self, orgs: &[OrgId]) {
        if orgs.is_empty() {
            return;
        }
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        for org in orgs {
            *numbers.entry(*org).or_insert(0) += 1;
        }
        drop(numbers);
        self.tick.send_modify(|tick| *tick += 1);
    }

    /// Waits until the number of `org` is no longer `seen`.
    pub(crate) async fn changed(&self, org: &OrgId, seen: u64) -> u64 {
        let mut ticks = self.tick.subscribe();
        loop {
            ticks.borrow_and_update();
            let number = self.of(org);
            // A closed channel means that the store is gone, and nothing will change any more.
            if number != seen || ticks.changed().await.is_err() {
                return number;
            }
        }
    }
}
