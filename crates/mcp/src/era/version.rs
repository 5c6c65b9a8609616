//! The protocol's versions, and how `initialize` picks one.

/// The modern version we speak.
pub const MODERN: &str = "2026-07-28";
/// What `server/discover` and `-32022` offer.
///
/// Only versions that a client can name in `_meta`: had the legacy ones stood here too, a client that picked one would
/// be refused the very version it was offered.
pub const SUPPORTED_MODERN: [&str; 1] = [MODERN];
/// The versions `initialize` agrees to, oldest first.
pub const LEGACY: [&str; 4] = [LEGACY_OLDEST, "2025-03-26", "2025-06-18", LEGACY_NEWEST];
/// What a client that names no version speaks.
pub const LEGACY_OLDEST: &str = "2024-11-05";
/// What a client that names an unknown version is offered.
pub const LEGACY_NEWEST: &str = "2025-11-25";

/// The version that `initialize` answers: the one asked for if we know it, else the newest legacy one.
pub fn negotiate(requested: Option<&str>) -> &'static str {
    let requested = requested.unwrap_or(LEGACY_OLDEST);
    LEGACY.into_iter().find(|version| *version == requested).unwrap_or(LEGACY_NEWEST)
}

/// The groups of protocol versions that answer a failed call in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Revision {
    /// Legacy, before 2025-11-25: bad arguments are a JSON-RPC error.
    Early,
    /// Legacy, from 2025-11-25 on: bad arguments are a result with `isError`, so that the model can correct them.
    Late,
    /// 2026-07-28.
    Modern,
}

/// Whether a version named in a header means a modern request: ours, any later date, or something that is no date, which
/// only the modern rules refuse.
pub(super) fn is_modern(version: &str) -> bool {
    !is_date(version) || version >= MODERN
}

/// Whether a legacy version is one whose clients expect bad arguments as a result.
pub(super) fn is_late(version: &str) -> bool {
    is_date(version) && version >= LEGACY_NEWEST
}

/// Every version of the protocol is a date, like 2025-11-25.
fn is_date(version: &str) -> bool {
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
    fn initialize_echoes_what_it_knows() {
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
        assert!(!is_modern("2025-11-25") && !is_modern("2026-01-26") && !is_modern("2024-11-05"));
    }

    #[test]
    fn what_is_no_date_is_left_to_the_modern_rules() {
        for version in ["v999.0.0", "1.0", "", "latest", "2025-11-2", "2025-11-255", "2025/11/25", "20251125--"] {
            assert!(is_modern(version) && !is_late(version), "{version}");
        }
    }

    #[test]
    fn late_begins_with_the_newest_legacy_version() {
        assert!(is_late("2025-11-25") && is_late("2026-01-26"));
        assert!(!is_late("2025-06-18") && !is_late("2025-03-26") && !is_late("2024-11-05"));
    }
}
