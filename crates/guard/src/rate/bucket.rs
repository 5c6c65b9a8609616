//! A rate bucket: counted in memory if one process serves the data, leased from the database if several do.

use std::num::NonZeroU32;
use std::sync::Arc;

use base::OrgId;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, InsufficientCapacity, Quota, RateLimiter};
use store::Store;

use super::bytes::Budget;
use super::places::{Place, Places};
use super::shared::Leased;
use super::{RETRY_SOON_SECONDS, Rate};
use crate::refusal::Refusal;

/// The bucket of a caller or an org.
pub(crate) struct Bucket {
    rate: Rate,
    tokens: Tokens,
    places: Arc<Places>,
    bytes: Arc<Budget>,
}

enum Tokens {
    Here(DefaultDirectRateLimiter),
    Leased(Leased),
}

impl Bucket {
    /// A bucket for this process only.
    pub(super) fn here(rate: Rate) -> Self {
        let per_minute = NonZeroU32::new(rate.per_minute).unwrap_or(NonZeroU32::MIN);
        let burst = NonZeroU32::new(rate.burst).unwrap_or(NonZeroU32::MIN);
        Self::of(rate, Tokens::Here(RateLimiter::direct(Quota::per_minute(per_minute).allow_burst(burst))))
    }

    /// A bucket shared by all nodes on `store`.
    pub(super) fn shared(rate: Rate, store: Store, org: OrgId, name: &str) -> Self {
        Self::of(rate, Tokens::Leased(Leased::new(rate, store, org, name)))
    }

    fn of(rate: Rate, tokens: Tokens) -> Self {
        Self { rate, tokens, places: Places::new(rate.at_once), bytes: Budget::new(rate.bytes) }
    }

    /// Takes `calls` tokens, all or none.
    pub(super) async fn take(&self, calls: u32) -> Result<(), Refusal> {
        let Some(calls) = NonZeroU32::new(calls) else {
            return Ok(());
        };
        let seconds = match &self.tokens {
            Tokens::Leased(leased) => match leased.take(calls.get()).await? {
                None => return Ok(()),
                Some(seconds) => seconds,
            },
            Tokens::Here(limiter) => match limiter.check_n(calls) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(wait)) => wait.wait_time_from(DefaultClock::default().now()).as_secs_f64(),
                Err(InsufficientCapacity(_)) => self.rate.seconds_to_fill(),
            },
        };
        Err(Refusal::TooManyRequests { retry_after_seconds: (seconds.ceil() as u64).max(1), spent: "rate limit exceeded" })
    }

    /// Takes a slot for one more call.
    pub(super) fn enter(&self) -> Result<Place, Refusal> {
        self.places
            .enter()
            .ok_or(Refusal::TooManyRequests { retry_after_seconds: RETRY_SOON_SECONDS, spent: "too many concurrent requests" })
    }

    /// The memory budget of its requests.
    pub(super) fn bytes(&self) -> Arc<Budget> {
        Arc::clone(&self.bytes)
    }
}

impl Rate {
    /// The wait if more tokens are requested than the bucket can ever contain: the time to fill it, after which a smaller request passes.
    pub(super) fn seconds_to_fill(self) -> f64 {
        f64::from(self.burst) * 60.0 / f64::from(self.per_minute.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_minute: 60, burst: 5, at_once: 2, bytes: 10 };

    async fn wait_of(bucket: &Bucket, calls: u32) -> Option<u64> {
        match bucket.take(calls).await {
            Err(Refusal::TooManyRequests { retry_after_seconds, .. }) => Some(retry_after_seconds),
            _ => None,
        }
    }

    #[tokio::test]
    async fn burst_passes_and_the_next_call_waits() {
        let bucket = Bucket::here(RATE);
        assert!(bucket.take(5).await.is_ok());
        assert_eq!(wait_of(&bucket, 1).await, Some(1));
    }

    #[tokio::test]
    async fn batch_is_taken_whole_or_not_at_all() {
        let bucket = Bucket::here(RATE);
        assert_eq!(wait_of(&bucket, 6).await, Some(5));
        assert!(bucket.take(5).await.is_ok(), "the refused batch took nothing");
    }

    #[test]
    fn calls_over_the_concurrency_limit_are_refused() {
        let bucket = Bucket::here(RATE);
        let held = [bucket.enter().unwrap(), bucket.enter().unwrap()];
        assert!(matches!(bucket.enter().err(), Some(Refusal::TooManyRequests { retry_after_seconds: 1, .. })));
        drop(held);
        assert!(bucket.enter().is_ok());
    }
}
