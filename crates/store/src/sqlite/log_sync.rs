//! Brings what was committed without a sync to disk, within [`limits::NOTE_SYNC_MS_MAX`].
//!
//! A sync of the write-ahead log is one of the whole file, so it covers every commit before it, whoever made it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use base::{Error, Result, limits};

/// Commits that come this soon after one another share a sync. What is left of the limit is for the sync itself.
const GATHER: Duration = Duration::from_millis(limits::NOTE_SYNC_MS_MAX / 2);

/// The way to the thread that syncs.
pub(crate) struct LogSync {
    due: SyncSender<()>,
    failing: Arc<AtomicBool>,
}

impl LogSync {
    /// Starts the thread for the log of the database at `path`.
    pub(crate) fn start(path: &Path) -> Result<Self> {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let (due, signals) = sync_channel(1);
        let failing = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&failing);
        std::thread::Builder::new()
            .name("toolcrib-sync".into())
            .spawn(move || run(&log, &signals, &flag))
            .map_err(Error::internal)?;
        Ok(Self { due, failing })
    }

    /// Asks for a sync. One that is due already covers this commit too.
    pub(crate) fn sync_soon(&self) {
        let _ = self.due.try_send(());
    }

    /// Whether the last sync failed: until one succeeds, nothing may count on the next.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }
}

fn run(log: &Path, signals: &Receiver<()>, failing: &AtomicBool) {
    while signals.recv().is_ok() {
        std::thread::sleep(GATHER);
        // What was asked for until now is covered by the sync that follows.
        while signals.try_recv().is_ok() {}
        let outcome = match File::open(log).and_then(|file| file.sync_data()) {
            // A database that was closed has emptied its log into itself.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        };
        if let Err(error) = &outcome {
            tracing::error!(%error, "the log could not be synced: until it can, every record waits for its own sync");
        }
        failing.store(outcome.is_err(), Ordering::Release);
    }
}
