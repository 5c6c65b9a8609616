//! Change numbers, which tell caches that they are stale. Caches need no time limit.
//!
//! The row in the database is authoritative. On SQLite this process is the only writer, so the numbers are mirrored in memory
//! and a check costs nothing. On PostgreSQL each check is a query, because another node may have written.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use base::OrgId;
use tokio::sync::watch;

/// A mirror of the `changes` table, for a process that is its only writer.
#[derive(Clone)]
pub(crate) struct ChangeNumbers {
    numbers: Arc<RwLock<HashMap<OrgId, u64>>>,
    tick: Arc<watch::Sender<u64>>,
}

impl ChangeNumbers {
    pub(crate) fn new() -> Self {
        Self { numbers: Arc::default(), tick: Arc::new(watch::Sender::new(0)) }
    }

    /// The number of `org`. Compare it only for equality.
    pub(crate) fn of(&self, org: &OrgId) -> u64 {
        self.numbers.read().unwrap_or_else(PoisonError::into_inner).get(org).copied().unwrap_or(0)
    }

    /// Must be called after a commit and before its acknowledgement.
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

    /// Waits until the number of `org` differs from `seen`.
    pub(crate) async fn changed(&self, org: &OrgId, seen: u64) -> u64 {
        let mut ticks = self.tick.subscribe();
        loop {
            ticks.borrow_and_update();
            let number = self.of(org);
            // A closed channel means that the store is closed, so nothing will change any more.
            if number != seen || ticks.changed().await.is_err() {
                return number;
            }
        }
    }
}
