//! How far a backup or a restore is, on one line of a terminal.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base::{Error, Kind, Result};

/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(200);

/// The line, and whether somebody wants the work to end.
pub(super) struct Progress {
    what: &'static str,
    stop: Arc<AtomicBool>,
    shows: bool,
    last: Option<Instant>,
}

impl Progress {
    pub(super) fn new(what: &'static str, stop: Arc<AtomicBool>) -> Self {
        Self { what, stop, shows: std::io::stderr().is_terminal(), last: None }
    }

    /// Shows a table and how many of its rows have passed. An error when the work is to end.
    pub(super) fn tell(&mut self, table: &str, rows: u64) -> Result<()> {
        if self.stop.load(Ordering::SeqCst) {
            return Err(Error::new(Kind::Unavailable, "interrupted: nothing was kept"));
        }
        if self.shows && self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            self.last = Some(Instant::now());
            // A terminal that is gone is no reason to stop.
            let _ = write!(std::io::stderr(), "\r\x1b[K{} {table}: {rows} rows", self.what);
        }
        Ok(())
    }

    /// Takes the line away again.
    pub(super) fn clear(&mut self) {
        if self.shows && self.last.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// A number of bytes for people.
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
    fn sizes_are_for_people() {
        for (bytes, written) in [(0, "0 bytes"), (9_999, "9999 bytes"), (12_345, "12 kB"), (987_654_321, "987 MB")] {
            assert_eq!(size(bytes), written);
        }
    }

    #[test]
    fn work_ends_when_it_is_asked_to() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut progress = Progress::new("testing", Arc::clone(&stop));
        progress.tell("orgs", 1).unwrap();
        stop.store(true, Ordering::SeqCst);
        assert!(progress.tell("orgs", 2).unwrap_err().message().contains("interrupted"));
    }
}
