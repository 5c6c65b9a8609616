//! How long an endpoint that failed is left alone, so that questions are answered at once by their words; and the one place that
//! speaks of an outage, once when it begins and once when it is over.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::limits::EMBED_REST_SECONDS;
use prometheus_client::metrics::counter::Counter;

/// Whether an endpoint may be asked.
pub(super) struct Breaker {
    /// Since it failed, it is left alone until then.
    resting_until: Mutex<Option<Instant>>,
    failures: Counter,
}

impl Breaker {
    /// Counts what fails in `failures`.
    pub(super) fn new(failures: Counter) -> Self {
        Self { resting_until: Mutex::default(), failures }
    }

    /// Whether a question may be asked now. When the rest is over, the first one tries, and the others rest on until it knows.
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

    /// It worked.
    pub(super) fn worked(&self, model: &str) {
        if self.resting_until.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            tracing::info!(model, "the embedder answers again");
        }
    }

    /// It did not, and why.
    pub(super) fn failed(&self, model: &str, why: &str, now: Instant) {
        self.failures.inc();
        let before = self.resting_until.lock().unwrap_or_else(PoisonError::into_inner).replace(after(now));
        if before.is_none() {
            tracing::warn!(model, why, "the embedder cannot be used: memory answers by words, and texts wait, until it is back");
        } else {
            tracing::debug!(model, why, "the embedder still cannot be used");
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
    fn after_a_failure_one_question_tries_at_a_time() {
        let (failures, start) = (Counter::default(), Instant::now());
        let breaker = Breaker::new(failures.clone());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(breaker.admits(at(0)) && breaker.admits(at(0)));
        breaker.failed("m", "down", at(0));
        assert!(!breaker.admits(at(0)) && !breaker.admits(at(EMBED_REST_SECONDS - 1)));
        assert!(breaker.admits(at(EMBED_REST_SECONDS)), "the first tries");
        assert!(!breaker.admits(at(EMBED_REST_SECONDS)), "the second rests on");
        breaker.failed("m", "down", at(EMBED_REST_SECONDS));
        assert!(!breaker.admits(at(2 * EMBED_REST_SECONDS - 1)));
        breaker.worked("m");
        assert!(breaker.admits(at(EMBED_REST_SECONDS)) && breaker.admits(at(EMBED_REST_SECONDS)));
        assert_eq!(failures.get(), 2);
    }
}
