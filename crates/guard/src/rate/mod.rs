//! How often, and how much at once: a bucket for each key, agent and person, and one for each org, asked right after the
//! principal is known.

mod bucket;
mod places;
mod shared;
mod sql;

use std::sync::Arc;

use base::{OrgId, limits};
use quick_cache::sync::Cache;
use store::{Engine, Store};

use crate::guard::Guard;
use crate::refusal::Refusal;
use bucket::Bucket;
use places::Place;

/// How many calls a minute, how many in one burst, and how many under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) per_minute: u32,
    pub(crate) burst: u32,
    pub(crate) at_once: u32,
}

/// The buckets of all callers. They outlive a cached principal, so that changing a key does not refill its bucket.
pub(crate) struct Rates {
    buckets: Cache<String, Arc<Bucket>>,
    /// Where several nodes count together.
    shared: Option<Store>,
    of_orgs: Rate,
}

/// What one caller draws on.
#[derive(Clone)]
pub(crate) struct Allowance {
    own: Arc<Bucket>,
    org: Arc<Bucket>,
}

/// A call under way, at its caller's and its org's expense, until this is dropped.
pub struct UnderWay {
    _places: [Place; 2],
}

impl Rates {
    pub(crate) fn new(store: &Store, of_orgs: Rate) -> Self {
        let shared = (store.engine() == Engine::Postgres).then(|| store.clone());
        Self { buckets: Cache::new(limits::LIMITER_CACHE_MAX), shared, of_orgs }
    }

    /// What the caller that is called `name` in `org` draws on.
    pub(crate) fn allowance(&self, org: &OrgId, name: &str, rate: Rate) -> Allowance {
        Allowance { own: self.bucket(org, name, rate), org: self.bucket(org, "", self.of_orgs) }
    }

    /// Forgets the shared buckets that are full: the next call finds a full one anyway.
    pub(crate) async fn forget_full(&self) -> base::Result<()> {
        match &self.shared {
            Some(store) => store.query(sql::FORGET_FULL, &[], |_| Ok(())).await.map(drop),
            None => Ok(()),
        }
    }

    /// A new bucket when its rate was changed.
    fn bucket(&self, org: &OrgId, name: &str, rate: Rate) -> Arc<Bucket> {
        let key = format!("{org}/{name}");
        match self.buckets.get(&key) {
            Some(bucket) if bucket.rate() == rate => bucket,
            _ => {
                let bucket = Arc::new(match &self.shared {
                    Some(store) => Bucket::shared(rate, store.clone(), *org, name),
                    None => Bucket::here(rate),
                });
                self.buckets.insert(key, Arc::clone(&bucket));
                bucket
            }
        }
    }
}

impl Allowance {
    /// Takes `calls`, all or none. The caller's own bucket is asked first: calls refused there cost the org nothing.
    pub(crate) async fn take(&self, calls: u32) -> Result<(), Refusal> {
        self.own.take(calls).await?;
        self.org.take(calls).await
    }

    /// A place for one more call under way.
    pub(crate) fn enter(&self) -> Result<UnderWay, Refusal> {
        Ok(UnderWay { _places: [self.own.enter()?, self.org.enter()?] })
    }
}

impl Guard {
    pub(crate) fn key_rate(&self) -> Rate {
        Rate {
            per_minute: self.limits.key_calls_per_minute,
            burst: self.limits.key_calls_burst,
            at_once: self.limits.caller_calls_at_once,
        }
    }

    /// An agent may have a rate of its own.
    pub(crate) fn agent_rate(&self, per_minute: Option<i64>) -> Rate {
        let per_minute = per_minute.and_then(|rate| u32::try_from(rate).ok()).unwrap_or(self.limits.agent_calls_per_minute);
        let burst = self.limits.agent_calls_burst.min(per_minute);
        Rate { per_minute, burst, at_once: self.limits.caller_calls_at_once }
    }
}
