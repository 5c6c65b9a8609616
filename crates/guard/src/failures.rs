//! Counting failed logins, so that nobody can guess for long. Attempts on unknown names count like any other.

use std::sync::{Arc, Mutex, PoisonError};

use base::{Clock, Timestamp, limits};
use quick_cache::sync::Cache;

use crate::refusal::Refusal;

const WINDOW_MS: i64 = 60_000;

/// Failures of the last minute, by name and by address.
pub(crate) struct Failures {
    clock: Clock,
    failures_max: u32,
    windows: Cache<String, Arc<Mutex<Window>>>,
}

struct Window {
    since: Timestamp,
    failures: u32,
}

impl Failures {
    pub(crate) fn new(clock: Clock, failures_max: u32) -> Self {
        Self { clock, failures_max, windows: Cache::new(limits::LIMITER_CACHE_MAX) }
    }

    /// Counts an attempt under each of `names` before it is looked at, so that many at once cannot slip past, and refuses
    /// when one of them has failed too often in its minute, whether or not this attempt is right.
    pub(crate) fn attempt(&self, names: &[String]) -> Result<(), Refusal> {
        self.check(names)?;
        self.note(names);
        Ok(())
    }

    /// The attempt was right: it was no failure.
    pub(crate) fn forgive(&self, names: &[String]) {
        for window in names.iter().filter_map(|name| self.windows.get(name)) {
            let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
            window.failures = window.failures.saturating_sub(1);
        }
    }

    fn check(&self, names: &[String]) -> Result<(), Refusal> {
        let now = self.clock.now();
        for window in names.iter().filter_map(|name| self.windows.get(name)) {
            let window = window.lock().unwrap_or_else(PoisonError::into_inner);
            let ends = window.since.plus_ms(WINDOW_MS);
            // A clock that was set back must not lock anyone out for longer than a minute.
            let current = now >= window.since && now < ends;
            if current && window.failures >= self.failures_max {
                let wait_ms = ends.ms().saturating_sub(now.ms()).unsigned_abs();
                return Err(Refusal::TooManyRequests { retry_after_seconds: wait_ms.div_ceil(1_000).max(1) });
            }
        }
        Ok(())
    }

    fn note(&self, names: &[String]) {
        let now = self.clock.now();
        for name in names {
            let fresh = || Arc::new(Mutex::new(Window { since: now, failures: 0 }));
            let window = self.windows.get_or_insert_with(name, || Ok::<_, ()>(fresh())).unwrap_or_else(|()| fresh());
            let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
            if now < window.since || now >= window.since.plus_ms(WINDOW_MS) {
                *window = Window { since: now, failures: 0 };
            }
            window.failures += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_failures_close_the_door_for_the_rest_of_the_minute() {
        let clock = Clock::manual(Timestamp::from_ms(1_000_000));
        let failures = Failures::new(clock.clone(), 10);
        let name = ["agent:a".to_owned()];
        for _ in 0..10 {
            assert!(failures.attempt(&name).is_ok());
        }
        clock.advance_ms(20_000);
        assert!(matches!(failures.check(&name), Err(Refusal::TooManyRequests { retry_after_seconds: 40 })));
        assert!(failures.check(&["agent:b".to_owned()]).is_ok());
        clock.advance_ms(40_000);
        assert!(failures.check(&name).is_ok());
    }

    #[test]
    fn a_clock_that_jumps_back_locks_nobody_out() {
        let clock = Clock::manual(Timestamp::from_ms(1_000_000));
        let failures = Failures::new(clock.clone(), 1);
        failures.note(&["a".to_owned()]);
        clock.advance_ms(-500_000);
        assert!(failures.check(&["a".to_owned()]).is_ok());
    }
}
