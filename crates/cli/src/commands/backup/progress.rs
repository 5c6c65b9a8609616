//! The progress line of a backup or restore.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base::{Error, Kind, Result};

use crate::output;

/// How often the line is updated.
const EVERY: Duration = Duration::from_millis(200);

/// The progress line, and whether the work is cancelled.
pub(super) struct Progress {
    what: &'static str,
    stop: Arc<AtomicBool>,
    last: Option<Instant>,
}

impl Progress {
    pub(super) fn new(what: &'static str, stop: Arc<AtomicBool>) -> Self {
        Self { what, stop, last: None }
    }

    /// Shows a table and how many of its rows are done. Fails if the work is cancelled.
    pub(super) fn tell(&mut self, table: &str, rows: u64) -> Result<()> {
        if self.stop.load(Ordering::SeqCst) {
            return Err(Error::new(Kind::Unavailable, "interrupted; nothing was kept"));
        }
        if self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            self.last = Some(Instant::now());
            output::progress(&format!("{} {table}: {rows} rows", self.what));
        }
        Ok(())
    }

    /// Clears the line.
    pub(super) fn clear(&mut self) {
        if self.last.is_some() {
            output::progress("");
        }
    }
}

/// Formats a number of bytes.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "kB", "MB", "GB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 10_000 && unit + 1 < UNITS.len() {
        value /= 1_000;
        unit += 1;
    }
    format!("{value} {}", UNITS.get(unit).unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_readable_units() {
        for (bytes, written) in [(0, "0 bytes"), (9_999, "9999 bytes"), (12_345, "12 kB"), (987_654_321, "987 MB")] {
            assert_eq!(size(bytes), written);
        }
    }

    #[test]
    fn progress_fails_after_a_stop_request() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut progress = Progress::new("testing", Arc::clone(&stop));
        progress.tell("orgs", 1).unwrap();
        stop.store(true, Ordering::SeqCst);
        assert!(progress.tell("orgs", 2).unwrap_err().message().contains("interrupted"));
    }
}
