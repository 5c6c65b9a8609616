//! Rate, concurrency and memory limits: one bucket per key, agent and user, and one per org. They are checked as soon as the principal
//! is known.

mod bucket;
mod bytes;
mod places;
mod shared;
mod sql;

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use base::{OrgId, limits};
use quick_cache::sync::Cache;
use store::{Engine, Store};

use crate::guard::Guard;
use crate::refusal::Refusal;
use bucket::Bucket;
use bytes::{Budget, Held, Spent};
use places::Place;

/// The `Retry-After` for too many concurrent requests: the shortest value possible, because calls take milliseconds.
const RETRY_SOON_SECONDS: u64 = 1;

/// The limits of a bucket: calls per minute, burst, concurrent calls, and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) per_minute: u32,
    pub(crate) burst: u32,
    pub(crate) at_once: u32,
    pub(crate) bytes: u64,
}

/// The buckets of all callers. They outlive a cached principal, so that a changed key does not get a full bucket.
pub(crate) struct Rates {
    buckets: Cache<String, Arc<Bucket>>,
    /// The store, if several nodes count together.
    shared: Option<Store>,
    of_orgs: Rate,
    /// The memory budget of the process.
    bytes: Arc<Budget>,
}

/// The buckets of one caller.
#[derive(Clone)]
pub(crate) struct Allowance {
    own: Arc<Bucket>,
    org: Arc<Bucket>,
    process: Arc<Budget>,
}

/// A running request: its slot, and the memory of its body and answer, charged to its caller, its org and the process. It is kept with
/// the answer until that is sent or dropped.
pub struct UnderWay {
    places: Mutex<Option<[Place; 2]>>,
    held: Held,
}

impl UnderWay {
    /// Holds `bytes` more before they are allocated.
    pub fn hold(&self, bytes: usize) -> Result<(), Refusal> {
        self.held.more(bytes as u64).map_err(|spent| match spent {
            Spent::Theirs => Refusal::TooManyRequests {
                retry_after_seconds: RETRY_SOON_SECONDS,
                spent: "the caller or its org has reached its memory limit for concurrent requests",
            },
            Spent::Ours => Refusal::Busy { retry_after_seconds: RETRY_SOON_SECONDS },
        })
    }

    /// Releases the slot. A subscription stream lasts long and has its own limit.
    pub fn leave(&self) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Changes the held amount to exactly `bytes`: those of the answer, once the request's body is dropped.
    pub fn settle(&self, bytes: usize) {
        self.held.exactly(bytes as u64);
    }
}

impl Rates {
    pub(crate) fn new(store: &Store, of_orgs: Rate, bytes: u64) -> Self {
        let shared = (store.engine() == Engine::Postgres).then(|| store.clone());
        Self { buckets: Cache::new(limits::LIMITER_CACHE_MAX), shared, of_orgs, bytes: Budget::new(bytes) }
    }

    /// The allowance of the caller `name` in `org`.
    pub(crate) fn allowance(&self, org: &OrgId, name: &str, rate: Rate) -> Allowance {
        self.drawing_on(self.bucket(org, name, rate), self.bucket(org, "", self.of_orgs))
    }

    /// The allowance for management calls of the credential `name` in `org`. It is separate from the limits for tool calls, so that an
    /// agent with too many calls does not lock out the users who want to stop it.
    pub(crate) fn allowance_to_manage(&self, org: &OrgId, name: &str, rate: Rate) -> Allowance {
        let own = self.bucket(org, &format!("management/{name}"), rate);
        self.drawing_on(own, self.bucket(org, "management", self.of_orgs))
    }

    fn drawing_on(&self, own: Arc<Bucket>, org: Arc<Bucket>) -> Allowance {
        Allowance { own, org, process: Arc::clone(&self.bytes) }
    }

    /// Deletes full shared buckets. A missing bucket counts as full.
    pub(crate) async fn forget_full(&self) -> base::Result<()> {
        match &self.shared {
            Some(store) => store.query(sql::FORGET_FULL, &[], |_| Ok(())).await.map(drop),
            None => Ok(()),
        }
    }

    /// The bucket of this name and rate, shared by concurrent callers. A changed rate creates a new bucket.
    fn bucket(&self, org: &OrgId, name: &str, rate: Rate) -> Arc<Bucket> {
        let new = || {
            Arc::new(match &self.shared {
                Some(store) => Bucket::shared(rate, store.clone(), *org, name),
                None => Bucket::here(rate),
            })
        };
        let key = format!("{org}/{name}/{}/{}", rate.per_minute, rate.burst);
        self.buckets.get_or_insert_with(&key, || Ok::<_, Infallible>(new())).unwrap_or_else(|never| match never {})
    }
}

impl Allowance {
    /// Takes `calls` from each bucket, all or none. The caller's own bucket comes first, so that calls refused there cost the org nothing.
    pub(crate) async fn take(&self, calls: u32) -> Result<(), Refusal> {
        self.own.take(calls).await?;
        self.org.take(calls).await
    }

    /// Takes a slot for one more request, without memory.
    pub(crate) fn enter(&self) -> Result<UnderWay, Refusal> {
        let places = [self.own.enter()?, self.org.enter()?];
        let budgets = [self.own.bytes(), self.org.bytes(), Arc::clone(&self.process)];
        Ok(UnderWay { places: Mutex::new(Some(places)), held: Held::new(budgets) })
    }
}

impl Guard {
    pub(crate) fn key_rate(&self) -> Rate {
        Rate {
            per_minute: self.limits.key_calls_per_minute,
            burst: self.limits.key_calls_burst,
            at_once: self.limits.caller_calls_at_once,
            bytes: self.limits.caller_bytes_at_once as u64,
        }
    }

    /// An agent may have its own rate.
    pub(crate) fn agent_rate(&self, per_minute: Option<i64>) -> Rate {
        let per_minute = per_minute.and_then(|rate| u32::try_from(rate).ok()).unwrap_or(self.limits.agent_calls_per_minute);
        let burst = self.limits.agent_calls_burst.min(per_minute);
        Rate { per_minute, burst, ..self.key_rate() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Timestamp;
    use std::sync::Barrier;
    use testkit::TestStore;

    #[tokio::test]
    async fn concurrent_callers_share_one_bucket() {
        const RATE: Rate = Rate { per_minute: 60, burst: 10, at_once: 2, bytes: 100 };
        let test = TestStore::open(testkit::Engine::Sqlite).await;
        let (rates, org) = (Rates::new(&test.store, RATE, 1_000), OrgId::new(Timestamp::from_ms(0)));
        let start = Barrier::new(4);
        for round in 0..500 {
            let name = format!("key {round}");
            let ask = || {
                start.wait();
                rates.bucket(&org, &name, RATE)
            };
            let found: Vec<_> = std::thread::scope(|scope| {
                let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
                asking.into_iter().map(|asking| asking.join().unwrap()).collect()
            });
            assert!(found.iter().all(|bucket| Arc::ptr_eq(bucket, &found[0])), "round {round}");
        }
        let changed = Rate { burst: 20, ..RATE };
        assert!(
            !Arc::ptr_eq(&rates.bucket(&org, "key 0", RATE), &rates.bucket(&org, "key 0", changed)),
            "a new rate is a new bucket"
        );
    }
}
