//! The one place that reads the time, so that tests can move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch. It is stored as an integer and shown as RFC 3339.
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

    /// This time plus `ms` milliseconds.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// RFC 3339 in UTC with milliseconds, the form of all wire types.
    pub fn rfc3339(self) -> String {
        self.spelled().as_str().to_owned()
    }

    /// [`Timestamp::rfc3339`] without a heap allocation, because an answer can contain many times.
    fn spelled(self) -> Spelled {
        let (days, ms_of_day) = (self.0.div_euclid(DAY_MS), self.0.rem_euclid(DAY_MS));
        let (year, month, day) = civil_date(days);
        let seconds = ms_of_day / 1_000;
        let mut spelled = Spelled(*b"0000-00-00T00:00:00.000Z");
        // A year outside four digits means that the clock is wrong.
        let (year, ms) = (year.clamp(0, 9_999), ms_of_day % 1_000);
        spelled.put(0, year / 100);
        spelled.put(2, year % 100);
        spelled.put(5, month);
        spelled.put(8, day);
        spelled.put(11, seconds / 3_600);
        spelled.put(14, seconds / 60 % 60);
        spelled.put(17, seconds % 60);
        // Three digits, as two overlapping pairs.
        spelled.put(20, ms / 10);
        spelled.put(21, ms % 100);
        spelled
    }

    /// Parses RFC 3339 with any offset. Fractions of a millisecond are dropped.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let parsed: jiff::Timestamp = text.parse().ok()?;
        Some(Self(parsed.as_millisecond()))
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A time as 24 ASCII characters.
struct Spelled([u8; 24]);

impl Spelled {
    /// Writes `value`, at most 99, as two digits at `start`.
    fn put(&mut self, start: usize, value: i64) {
        let value = u8::try_from(value).unwrap_or_default();
        if let Some([tens, ones]) = self.0.get_mut(start..start + 2) {
            *tens = b'0' + value / 10;
            *ones = b'0' + value % 10;
        }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Converts days since 1970-01-01 to year, month and day of the Gregorian calendar. The computation starts years in March, so that the
/// leap day is the last day of a year.
fn civil_date(days: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    // There are 719,468 days between 0000-03-01 and 1970-01-01.
    let days = days + 719_468;
    let (cycle, day) = (days.div_euclid(DAYS_OF_400_YEARS), days.rem_euclid(DAYS_OF_400_YEARS));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (cycle * 400 + year + i64::from(month <= 2), month, day_of_month)
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.spelled().as_str())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.spelled().as_str())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse_rfc3339(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

/// The source of the time: the system clock, or a test.
#[derive(Clone, Debug, Default)]
pub struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The system clock.
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

    /// Moves a manual clock, also backwards. It has no effect on the system clock.
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
    fn times_have_milliseconds_and_parse_with_any_offset() {
        let time = Timestamp::from_ms(1_763_238_099_007);
        assert_eq!(time.rfc3339(), "2025-11-15T20:21:39.007Z");
        assert_eq!(Timestamp::parse_rfc3339("2025-11-15T21:21:39.0079+01:00"), Some(time));
        assert_eq!(Timestamp::parse_rfc3339("yesterday"), None);
    }

    proptest::proptest! {
        #[test]
        fn times_match_another_calendar(ms in -62_135_596_800_000_i64..253_402_300_800_000) {
            let calendar = format!("{:.3}", jiff::Timestamp::from_millisecond(ms).unwrap());
            proptest::prop_assert_eq!(Timestamp::from_ms(ms).rfc3339(), calendar);
        }
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
