//! Counts failed attempts to limit guessing. Attempts with unknown names count too.

use std::sync::{Arc, Mutex, PoisonError};

use base::{Clock, Timestamp, limits};
use quick_cache::sync::Cache;

use crate::refusal::Refusal;

const WINDOW_MS: i64 = 60_000;

/// Failures in the last minute, by name.
pub(crate) struct Failures {
    clock: Clock,
    windows: Cache<String, Arc<Mutex<Window>>>,
}

/// A name to count attempts under, and how many may fail per minute.
pub(crate) struct Attempts {
    pub(crate) name: String,
    pub(crate) max: u32,
}

struct Window {
    since: Timestamp,
    failures: u32,
}

impl Failures {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, windows: Cache::new(limits::LIMITER_CACHE_MAX) }
    }

    /// Refuses if one of the names had too many failures in its minute.
    pub(crate) fn check(&self, names: &[Attempts]) -> Result<(), Refusal> {
        let now = self.clock.now();
        for (name, max) in names.iter().map(|attempts| (&attempts.name, attempts.max)) {
            let Some(window) = self.windows.get(name) else {
                continue;
            };
            let window = window.lock().unwrap_or_else(PoisonError::into_inner);
            if window.is_of(now) {
                window.refuse_beyond(max, now)?;
            }
        }
        Ok(())
    }

    /// Counts an attempt under each name before its result is known, so that concurrent attempts cannot exceed the limit. Attempts over
    /// the limit are refused, whether or not they are right.
    pub(crate) fn attempt(&self, names: &[Attempts]) -> Result<(), Refusal> {
        // An attempt refused under one name does not count under the other, so nobody can lock out somebody else.
        self.check(names)?;
        let now = self.clock.now();
        for Attempts { name, max } in names {
            let fresh = || Arc::new(Mutex::new(Window { since: now, failures: 0 }));
            let window = self.windows.get_or_insert_with(name, || Ok::<_, ()>(fresh())).unwrap_or_else(|()| fresh());
            let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
            if !window.is_of(now) {
                *window = Window { since: now, failures: 0 };
            }
            window.refuse_beyond(*max, now)?;
            window.failures += 1;
        }
        Ok(())
    }

    /// Uncounts a successful attempt.
    pub(crate) fn forgive(&self, names: &[Attempts]) {
        for window in names.iter().filter_map(|attempts| self.windows.get(&attempts.name)) {
            let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
            window.failures = window.failures.saturating_sub(1);
        }
    }
}

impl Window {
    /// Whether its minute is still running. If the clock was set back, nobody is locked out for longer than that.
    fn is_of(&self, now: Timestamp) -> bool {
        now >= self.since && now < self.since.plus_ms(WINDOW_MS)
    }

    fn refuse_beyond(&self, failures_max: u32, now: Timestamp) -> Result<(), Refusal> {
        if self.failures < failures_max {
            return Ok(());
        }
        let wait_ms = self.since.plus_ms(WINDOW_MS).ms().saturating_sub(now.ms()).unsigned_abs();
        Err(Refusal::TooManyRequests { retry_after_seconds: wait_ms.div_ceil(1_000).max(1), spent: "too many failed attempts" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, max: u32) -> [Attempts; 1] {
        [Attempts { name: name.to_owned(), max }]
    }

    #[test]
    fn ten_failures_lock_out_for_the_rest_of_the_minute() {
        let clock = Clock::manual(Timestamp::from_ms(1_000_000));
        let failures = Failures::new(clock.clone());
        let name = named("agent:a", 10);
        for _ in 0..10 {
            assert!(failures.attempt(&name).is_ok());
        }
        clock.advance_ms(20_000);
        assert!(matches!(failures.check(&name), Err(Refusal::TooManyRequests { retry_after_seconds: 40, .. })));
        assert!(failures.check(&named("agent:b", 10)).is_ok());
        clock.advance_ms(40_000);
        assert!(failures.check(&name).is_ok());
    }

    #[test]
    fn each_name_has_its_own_limit() {
        let failures = Failures::new(Clock::manual(Timestamp::from_ms(1_000_000)));
        let [pair] = named("login:a/1", 2);
        let [account] = named("user:a", 3);
        let names = [pair, account];
        assert!(failures.attempt(&names).is_ok() && failures.attempt(&names).is_ok());
        assert!(failures.attempt(&names).is_err(), "the pair is at its limit");
        assert!(failures.attempt(&named("user:a", 3)).is_ok(), "a refused attempt is not counted under the other name");
        assert!(failures.attempt(&named("user:a", 3)).is_err());
    }

    #[test]
    fn clock_set_back_locks_nobody_out() {
        let clock = Clock::manual(Timestamp::from_ms(1_000_000));
        let failures = Failures::new(clock.clone());
        assert!(failures.attempt(&named("a", 1)).is_ok());
        clock.advance_ms(-500_000);
        assert!(failures.check(&named("a", 1)).is_ok());
    }
}
