//! The one place that reads the time, so that tests can move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch. Stored as an integer, spoken as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The timestamp `ms` milliseconds after the epoch.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// This moment and `ms` milliseconds more.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// RFC 3339 in UTC with milliseconds, as every wire type shows it.
    pub fn rfc3339(self) -> String {
        let clamped = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        format!("{clamped:.3}")
    }

    /// Reads RFC 3339 with any offset; what is finer than a millisecond is dropped.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let parsed: jiff::Timestamp = text.parse().ok()?;
        Some(Self(parsed.as_millisecond()))
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.rfc3339())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse_rfc3339(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

/// Where the time comes from: the machine, or a test's hand.
#[derive(Clone, Debug, Default)]
pub struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still until [`Clock::advance_ms`] moves it.
    pub fn manual(start: Timestamp) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(start.ms()))))
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Manual(ms) => Timestamp(ms.load(Ordering::SeqCst)),
            Source::System => {
                #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
                let now = std::time::SystemTime::now();
                let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
        }
    }

    /// Moves a manual clock, backwards too; the system's clock does not listen.
    pub fn advance_ms(&self, ms: i64) {
        if let Source::Manual(now) = &self.0 {
            now.fetch_add(ms, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spoken_with_milliseconds_and_read_with_any_offset() {
        let time = Timestamp::from_ms(1_763_238_099_007);
        assert_eq!(time.rfc3339(), "2025-11-15T20:21:39.007Z");
        assert_eq!(Timestamp::parse_rfc3339("2025-11-15T21:21:39.0079+01:00"), Some(time));
        assert_eq!(Timestamp::parse_rfc3339("yesterday"), None);
    }

    #[test]
    fn a_manual_clock_moves_both_ways() {
        let clock = Clock::manual(Timestamp::from_ms(1_000));
        clock.advance_ms(500);
        assert_eq!(clock.now().ms(), 1_500);
        clock.advance_ms(-1_000);
        assert_eq!(clock.now().ms(), 500);
    }
}
