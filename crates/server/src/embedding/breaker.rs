//! A circuit breaker for the embedding endpoint. After a failure it is left alone for a while, and searches use keywords only. Each
//! outage is logged once when it begins and once when it is over.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::limits::EMBED_REST_SECONDS;
use prometheus_client::metrics::counter::Counter;

/// Whether requests to an endpoint are allowed.
pub(super) struct Breaker {
    /// After a failure, no requests before this time.
    resting_until: Mutex<Option<Instant>>,
    failures: Counter,
}

impl Breaker {
    /// Counts failures in `failures`.
    pub(super) fn new(failures: Counter) -> Self {
        Self { resting_until: Mutex::default(), failures }
    }

    /// Whether a request is allowed now. When the pause is over, one request tries; the others wait for its result.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut resting_until = self.resting_until.lock().unwrap_or_else(PoisonError::into_inner);
        match *resting_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                *resting_until = Some(after(now));
                true
            }
        }
    }

    /// Reports a success.
    pub(super) fn worked(&self, model: &str) {
        if self.resting_until.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            tracing::info!(model, "embedder available again");
        }
    }

    /// Reports a failure and its reason.
    pub(super) fn failed(&self, model: &str, why: &str, now: Instant) {
        self.failures.inc();
        let before = self.resting_until.lock().unwrap_or_else(PoisonError::into_inner).replace(after(now));
        if before.is_none() {
            tracing::warn!(model, why, "embedder unavailable; memory search uses keywords only, and new texts wait");
        } else {
            tracing::debug!(model, why, "embedder still unavailable");
        }
    }
}

fn after(now: Instant) -> Instant {
    now + Duration::from_secs(EMBED_REST_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_failure_one_request_tries_at_a_time() {
        let (failures, start) = (Counter::default(), Instant::now());
        let breaker = Breaker::new(failures.clone());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(breaker.admits(at(0)) && breaker.admits(at(0)));
        breaker.failed("m", "down", at(0));
        assert!(!breaker.admits(at(0)) && !breaker.admits(at(EMBED_REST_SECONDS - 1)));
        assert!(breaker.admits(at(EMBED_REST_SECONDS)), "the first request tries");
        assert!(!breaker.admits(at(EMBED_REST_SECONDS)), "the second waits");
        breaker.failed("m", "down", at(EMBED_REST_SECONDS));
        assert!(!breaker.admits(at(2 * EMBED_REST_SECONDS - 1)));
        breaker.worked("m");
        assert!(breaker.admits(at(EMBED_REST_SECONDS)) && breaker.admits(at(EMBED_REST_SECONDS)));
        assert_eq!(failures.get(), 2);
    }
}
