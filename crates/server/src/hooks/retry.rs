//! The retry schedule of webhook deliveries.

use std::time::Duration;

use base::limits;
use base::secret::random_bytes;

/// How often, and at which intervals, a delivery is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The pause after the first failure. Each further pause is three times as long.
    pub first_ms: u64,
    /// The longest pause.
    pub longest_ms: u64,
    /// The most attempts per message.
    pub tries: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            first_ms: limits::WEBHOOK_PAUSE_FIRST_MS,
            longest_ms: limits::WEBHOOK_PAUSE_MAX_MS,
            tries: limits::WEBHOOK_TRIES_MAX,
        }
    }
}

impl Retry {
    /// The pause after a number of failures, or `None` after the last attempt. Up to a quarter of the pause is random, so that webhooks
    /// that failed together are not retried together.
    pub(crate) fn pause(&self, failures: u32) -> Option<Duration> {
        self.pause_by(failures, u16::from_be_bytes(random_bytes()))
    }

    fn pause_by(&self, failures: u32, chance: u16) -> Option<Duration> {
        if failures >= self.tries {
            return None;
        }
        let grown = self.first_ms.saturating_mul(3_u64.saturating_pow(failures.saturating_sub(1)));
        let full = grown.min(self.longest_ms);
        let off = full / 4 * u64::from(chance) / u64::from(u16::MAX);
        Some(Duration::from_millis(full - off))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_triple_up_to_ten_minutes_and_end() {
        let retry = Retry::default();
        let pauses: Vec<_> = (1..=8).map(|failures| retry.pause_by(failures, 0).map(|pause| pause.as_secs())).collect();
        let expected = [Some(1), Some(3), Some(9), Some(27), Some(81), Some(243), Some(600), None];
        assert_eq!(pauses, expected);
        assert!(retry.pause_by(u32::MAX, 0).is_none());
    }

    #[test]
    fn jitter_is_at_most_a_quarter() {
        let retry = Retry::default();
        assert_eq!(retry.pause_by(7, u16::MAX), Some(Duration::from_secs(450)));
        assert_eq!(retry.pause_by(1, u16::MAX), Some(Duration::from_millis(750)));
        for _ in 0..100 {
            let pause = retry.pause(3).unwrap();
            assert!((Duration::from_millis(6_750)..=Duration::from_secs(9)).contains(&pause), "{pause:?}");
        }
    }
}
