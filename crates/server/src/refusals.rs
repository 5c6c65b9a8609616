//! Logs refused requests with their reason. During a flood it logs only their number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::RequestId;
use base::limits::REFUSAL_LINES_A_MINUTE;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::state::State;

const MINUTE: Duration = Duration::from_secs(60);

/// Recently logged refusals, by door and status. There are few combinations.
#[derive(Default)]
pub(crate) struct RefusalLog(Mutex<HashMap<(&'static str, u16), Window>>);

/// The current minute.
struct Window {
    since: Instant,
    lines: u32,
    /// Refusals that were not logged.
    left_out: u64,
}

impl RefusalLog {
    /// Whether one more line may be logged, and how many refusals were not logged before it.
    fn line(&self, door: &'static str, status: u16, now: Instant) -> Option<u64> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.entry((door, status)).or_insert(Window { since: now, lines: 0, left_out: 0 });
        if now.duration_since(window.since) >= MINUTE {
            (window.since, window.lines) = (now, 0);
        }
        if window.lines >= REFUSAL_LINES_A_MINUTE {
            window.left_out += 1;
            return None;
        }
        window.lines += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

impl RefusalLog {
    /// Logs the number of unlogged refusals for each flood that is over.
    pub(crate) fn flush(&self, now: Instant) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ((door, status), window) in windows.iter_mut().filter(|(_, window)| now.duration_since(window.since) >= MINUTE) {
            let unlogged = std::mem::take(&mut window.left_out);
            if unlogged > 0 {
                tracing::info!(door, status, unlogged, "more refusals, not logged individually");
            }
        }
    }
}

impl State {
    /// Counts a refused request and logs its reason.
    pub(crate) fn refused(&self, door: &'static str, status: u16, request: &RequestId, reason: impl Display) {
        self.metrics.refused(door, status);
        match self.refusal_log.line(door, status, Instant::now()) {
            Some(0) => tracing::info!(%request, door, status, %reason, "refused"),
            Some(unlogged) => tracing::info!(%request, door, status, unlogged, %reason, "refused"),
            None => {}
        }
    }
}

/// Why a request is unauthorized, judged by its headers.
pub(crate) fn why_unauthorized(headers: &HeaderMap) -> &'static str {
    let Some(value) = headers.get(AUTHORIZATION) else {
        return "the request has no Authorization header";
    };
    let scheme = value.to_str().unwrap_or_default().split(' ').next().unwrap_or_default();
    if scheme.eq_ignore_ascii_case("bearer") {
        "the credential is malformed, unknown, revoked or expired"
    } else {
        "the Authorization header must be `Bearer` and a credential"
    }
}

/// A message without its quoted parts, which are the caller's text and must not be logged.
pub(crate) fn without_quotes(message: &str) -> Cow<'_, str> {
    let is_quote = |c: char| matches!(c, '`' | '"');
    match (message.find(is_quote), message.rfind(is_quote)) {
        (Some(first), Some(last)) if first < last => {
            let (before, after) = (message.get(..=first).unwrap_or_default(), message.get(last..).unwrap_or_default());
            Cow::Owned(format!("{before}…{after}"))
        }
        (Some(first), _) => Cow::Owned(format!("{}…", message.get(..=first).unwrap_or_default())),
        _ => Cow::Borrowed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_is_counted_and_other_doors_are_still_logged() {
        let (log, start) = (RefusalLog::default(), Instant::now());
        for _ in 0..REFUSAL_LINES_A_MINUTE {
            assert_eq!(log.line("session", 401, start), Some(0));
        }
        for _ in 0..1_000 {
            assert_eq!(log.line("session", 401, start), None);
        }
        assert_eq!(log.line("session", 403, start), Some(0));
        assert_eq!(log.line("agent", 401, start), Some(0));
        assert_eq!(log.line("session", 401, start + MINUTE), Some(1_000));
        assert_eq!(log.line("session", 401, start + MINUTE), Some(0));
    }

    #[test]
    fn quoted_text_is_removed() {
        for (message, expected) in [
            ("no such org", "no such org"),
            ("there is no tool `secret`", "there is no tool `…`"),
            ("`a` and `b` differ", "`…` differ"),
            ("unknown field `se`cret`, expected one", "unknown field `…`, expected one"),
            (r#"invalid type: string "secret", expected u32"#, r#"invalid type: string "…", expected u32"#),
            ("half a `secret", "half a `…"),
        ] {
            assert_eq!(without_quotes(message), expected);
        }
    }
}
