//! The versions of the protocol, and how `initialize` selects one.

use base::Timestamp;

/// The modern version that we support.
pub const MODERN: &str = "2026-07-28";
/// The versions in `server/discover` and in `-32022`.
///
/// Only versions that a client can name in `_meta`. If legacy versions were listed too, a client that picked one would be
/// refused.
pub const SUPPORTED_MODERN: [&str; 1] = [MODERN];
/// The versions that `initialize` accepts, oldest first.
pub const LEGACY: [&str; 4] = [LEGACY_OLDEST, "2025-03-26", "2025-06-18", LEGACY_NEWEST];
/// The version of a client that names none.
pub const LEGACY_OLDEST: &str = "2024-11-05";
/// The version offered to a client that names an unknown one.
pub const LEGACY_NEWEST: &str = "2025-11-25";

/// The version that `initialize` answers with: the requested one if we know it, else the newest legacy one.
pub fn negotiate(requested: Option<&str>) -> &'static str {
    let requested = requested.unwrap_or(LEGACY_OLDEST);
    LEGACY.into_iter().find(|version| *version == requested).unwrap_or(LEGACY_NEWEST)
}

/// Groups of protocol versions that answer a failed call in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Revision {
    /// Legacy, before 2025-11-25: bad arguments are a JSON-RPC error.
    Early,
    /// Legacy, from 2025-11-25 on: bad arguments are a result with `isError`, so that the model can correct them.
    Late,
    /// 2026-07-28.
    Modern,
}

/// Whether a version in a header means a modern request. That is our own version or any later date. Something that is not a date
/// counts as modern too, because only the modern rules refuse it.
pub(super) fn is_modern(version: &str) -> bool {
    !is_date(version) || version >= MODERN
}

/// Whether clients of a legacy version expect bad arguments as a result.
pub(super) fn is_late(version: &str) -> bool {
    is_date(version) && version >= LEGACY_NEWEST
}

/// Every version of the protocol is a date that exists, like 2025-11-25.
fn is_date(version: &str) -> bool {
    has_form_of_date(version) && Timestamp::parse_rfc3339(&format!("{version}T00:00:00Z")).is_some()
}

fn has_form_of_date(version: &str) -> bool {
    version.len() == MODERN.len()
        && version.bytes().zip(MODERN.bytes()).all(|(byte, pattern)| match pattern {
            b'-' => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initialize_echoes_known_versions() {
        for version in LEGACY {
            assert_eq!(negotiate(Some(version)), version);
        }
        assert_eq!(negotiate(None), "2024-11-05");
        assert_eq!(negotiate(Some("2026-07-28")), "2025-11-25");
        assert_eq!(negotiate(Some("latest")), "2025-11-25");
        assert_eq!(negotiate(Some("")), "2025-11-25");
    }

    #[test]
    fn our_date_and_later_ones_are_modern() {
        assert!(is_modern("2026-07-28") && is_modern("2027-01-01"));
        assert!(!is_modern("2024-02-29"), "a leap day exists");
        assert!(!is_modern("2025-11-25") && !is_modern("2026-01-26") && !is_modern("2024-11-05"));
    }

    #[test]
    fn versions_that_are_not_dates_are_modern() {
        for version in [
            "v999.0.0",
            "1.0",
            "",
            "latest",
            "2025-11-2",
            "2025-11-255",
            "2025/11/25",
            "20251125--",
            "2026-02-30",
            "2025-13-01",
            "2025-00-10",
            "2025-02-29",
            "2025-11-00",
        ] {
            assert!(is_modern(version) && !is_late(version), "{version}");
        }
    }

    #[test]
    fn late_starts_with_the_newest_legacy_version() {
        assert!(is_late("2025-11-25") && is_late("2026-01-26"));
        assert!(!is_late("2025-06-18") && !is_late("2025-03-26") && !is_late("2024-11-05"));
    }
}
