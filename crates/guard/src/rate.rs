//! How often: one bucket a key or agent, asked right after the principal is known.

use std::num::NonZeroU32;
use std::sync::Arc;

use base::limits;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, InsufficientCapacity, Quota, RateLimiter};
use quick_cache::sync::Cache;

use crate::refusal::Refusal;

/// How many calls a minute, and how many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) per_minute: u32,
    pub(crate) burst: u32,
}

/// The buckets of all callers. They outlive a cached principal, so that changing a key does not refill its bucket.
pub(crate) struct Rates {
    buckets: Cache<String, Arc<Bucket>>,
}

/// One caller's bucket.
pub(crate) struct Bucket {
    rate: Rate,
    limiter: DefaultDirectRateLimiter,
}

impl Rates {
    pub(crate) fn new() -> Self {
        Self { buckets: Cache::new(limits::LIMITER_CACHE_MAX) }
    }

    /// The bucket called `name`; a new one when its rate was changed.
    pub(crate) fn bucket(&self, name: &str, rate: Rate) -> Arc<Bucket> {
        match self.buckets.get(name) {
            Some(bucket) if bucket.rate == rate => bucket,
            _ => {
                let bucket = Arc::new(Bucket::new(rate));
                self.buckets.insert(name.to_owned(), Arc::clone(&bucket));
                bucket
            }
        }
    }
}

impl Bucket {
    fn new(rate: Rate) -> Self {
        let per_minute = NonZeroU32::new(rate.per_minute).unwrap_or(NonZeroU32::MIN);
        let burst = NonZeroU32::new(rate.burst).unwrap_or(NonZeroU32::MIN);
        Self { rate, limiter: RateLimiter::direct(Quota::per_minute(per_minute).allow_burst(burst)) }
    }

    /// Takes `calls` tokens, all or none.
    pub(crate) fn take(&self, calls: u32) -> Result<(), Refusal> {
        let Some(calls) = NonZeroU32::new(calls) else {
            return Ok(());
        };
        let seconds = match self.limiter.check_n(calls) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(wait)) => wait.wait_time_from(DefaultClock::default().now()).as_secs_f64().ceil(),
            // It never fits: the honest wait is that for a full bucket, after which a smaller batch passes.
            Err(InsufficientCapacity(_)) => (f64::from(self.rate.burst) * 60.0 / f64::from(self.rate.per_minute.max(1))).ceil(),
        };
        Err(Refusal::TooManyRequests { retry_after_seconds: (seconds as u64).max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_of(outcome: Result<(), Refusal>) -> Option<u64> {
        match outcome {
            Err(Refusal::TooManyRequests { retry_after_seconds }) => Some(retry_after_seconds),
            _ => None,
        }
    }

    #[test]
    fn a_burst_passes_and_the_next_call_waits() {
        let rates = Rates::new();
        let rate = Rate { per_minute: 60, burst: 3 };
        assert!(rates.bucket("a", rate).take(3).is_ok());
        assert_eq!(wait_of(rates.bucket("a", rate).take(1)), Some(1));
        assert!(rates.bucket("b", rate).take(1).is_ok(), "another caller has a bucket of its own");
    }

    #[test]
    fn a_batch_is_taken_whole_or_not_at_all() {
        let bucket = Rates::new().bucket("a", Rate { per_minute: 60, burst: 5 });
        assert_eq!(wait_of(bucket.take(6)), Some(5));
        assert!(bucket.take(5).is_ok(), "the refused batch took nothing");
    }
}
