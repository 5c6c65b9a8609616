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

/// Whether a version named in a header means a modern request: ours or a later one. What is no date is refused as modern requests
/// are.
pub(super) fn is_modern(version: &str) -> bool {
    !is_date(version) || version >= MODERN
}

/// Whether a version has the form that all versions have: `2026-07-28`.
fn is_date(version: &str) -> bool {
    let form = |(index, byte): (usize, u8)| if matches!(index, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    version.len() == MODERN.len() && version.bytes().enumerate().all(form)
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
    fn what_sorts_after_ours_is_modern() {
        assert!(is_modern("2026-07-28") && is_modern("2027-01-01") && is_modern("v999.0.0"));
        assert!(!is_modern("2025-11-25") && !is_modern("2026-01-26"));
        assert!(is_modern("1.0") && is_modern("") && is_modern("2025-1-025"), "no dates: refused by status");
    }
}
