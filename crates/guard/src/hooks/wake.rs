//! Tracks which orgs have new events.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use base::{OrgId, limits};
use tokio::sync::Notify;

/// Orgs whose trail has grown, until the relay takes them.
#[derive(Default)]
pub(crate) struct Wake {
    orgs: Mutex<HashSet<OrgId>>,
    news: Notify,
}

impl Wake {
    /// Reports that the org's trail has grown. The entry may not be committed yet.
    pub(crate) fn tell(&self, org: &OrgId) {
        let mut orgs = self.orgs.lock().unwrap_or_else(PoisonError::into_inner);
        // Beyond the limit, the sweep finds them.
        let is_new = orgs.len() < limits::RELAY_ORGS_MAX && orgs.insert(*org);
        drop(orgs);
        if is_new {
            self.news.notify_one();
        }
    }

    /// Waits for new events. Cancelling the wait loses nothing.
    pub(crate) async fn told(&self) {
        loop {
            if !self.orgs.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            self.news.notified().await;
        }
    }

    /// Takes the orgs with new events.
    pub(crate) fn take(&self) -> HashSet<OrgId> {
        std::mem::take(&mut *self.orgs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Timestamp;

    #[tokio::test]
    async fn org_is_reported_once_until_taken() {
        let (wake, org) = (Wake::default(), OrgId::new(Timestamp::from_ms(1)));
        wake.tell(&org);
        wake.tell(&org);
        wake.told().await;
        assert_eq!(wake.take().len(), 1);
        assert!(wake.take().is_empty());
        wake.tell(&org);
        wake.told().await;
        assert!(wake.take().contains(&org));
    }
}
