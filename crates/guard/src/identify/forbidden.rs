//! A 403 at the session door is on the record of the session's org: someone tried its handle. The holder of a key must not be able
//! to fill another org's trail that way, so each is charged to the key's rate, and only some a minute are recorded; the others are
//! counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::limits::{FORBIDDEN_RECORDED_PER_MINUTE, LIMITER_CACHE_MAX};
use base::{OrgId, RequestId, SessionId};
use quick_cache::sync::Cache;

use super::Presented;
use crate::audit::{By, Event};
use crate::failures::Attempts;
use crate::guard::Guard;
use crate::refusal::Refusal;

/// A request with a good key at a session's door.
pub(super) struct Knock {
    by: By,
    /// The key's org, and the name of the bucket that it draws on.
    charged: (OrgId, String),
    /// The session's org.
    org: OrgId,
    session: SessionId,
}

impl Knock {
    pub(super) fn new(presented: &Presented, org: &OrgId, session: &SessionId, request: RequestId) -> Self {
        let charged = match presented {
            Presented::InstanceAdmin(_) => (*org, super::INSTANCE_BUCKET.to_owned()),
            Presented::Key(key) => (key.org, key.bucket_name()),
        };
        Self { by: By::presented(presented, request), charged, org: *org, session: *session }
    }
}

/// Refusals that were not recorded since the last that was, by key and by the org whose record lacks them. The metrics count them
/// like all others.
pub(crate) struct Unrecorded(Cache<(String, OrgId), Arc<AtomicU64>>);

impl Unrecorded {
    pub(crate) fn new() -> Self {
        Self(Cache::new(LIMITER_CACHE_MAX))
    }

    fn count(&self, key: &str, org: &OrgId) {
        let count = self.0.get_or_insert_with(&(key.to_owned(), *org), || Ok::<_, ()>(Arc::default()));
        if let Ok(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many there are, which are then none.
    fn take(&self, key: &str, org: &OrgId) -> u64 {
        self.0.remove(&(key.to_owned(), *org)).map_or(0, |(_, count)| count.load(Ordering::Relaxed))
    }
}

impl Guard {
    /// Refuses a knock, and puts that on the record unless its key has been refused too often in this minute.
    pub(super) async fn record_forbidden(&self, knock: &Knock, why: &'static str) -> Refusal {
        let (org, bucket) = &knock.charged;
        let allowance = self.rates.allowance(org, bucket, self.key_rate());
        let recordable = match allowance.take(1).await {
            Ok(()) => {
                let name = format!("forbidden:{bucket}");
                self.failures.attempt(&[Attempts { name, max: FORBIDDEN_RECORDED_PER_MINUTE }])
            }
            spent => spent,
        };
        match recordable {
            Ok(()) => {}
            Err(Refusal::Failed(error)) => return Refusal::Failed(error),
            Err(_) => {
                self.unrecorded.count(bucket, &knock.org);
                return Refusal::Forbidden;
            }
        }
        let unrecorded = Some(self.unrecorded.take(bucket, &knock.org)).filter(|count| *count > 0);
        let event = Event::new("door.forbidden", "session", knock.session).with("reason", why);
        let noted = match self.ledger.note(&self.rows_of(&knock.org), &knock.by, event.with_some("unrecorded", unrecorded)) {
            Ok(noted) => noted.await,
            Err(error) => Err(error),
        };
        noted.map_or_else(Refusal::Failed, |()| Refusal::Forbidden)
    }
}
