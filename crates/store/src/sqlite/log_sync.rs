//! Syncs commits that did not wait for the disk, within [`limits::NOTE_SYNC_MS_MAX`].
//!
//! A sync of the write-ahead log covers the whole file, so it covers every earlier commit.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use base::{Error, Result, limits};

/// Commits within this time share a sync. The rest of the limit is for the sync itself.
const GATHER: Duration = Duration::from_millis(limits::NOTE_SYNC_MS_MAX / 2);

/// Requests syncs from the thread that syncs the log.
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

    /// Requests a sync. One that is already due covers this commit too.
    pub(crate) fn sync_soon(&self) {
        let _ = self.due.try_send(());
    }

    /// Whether the last sync failed. Until one succeeds, no commit may rely on the next.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }
}

fn run(log: &Path, signals: &Receiver<()>, failing: &AtomicBool) {
    while signals.recv().is_ok() {
        std::thread::sleep(GATHER);
        // The next sync covers all requests up to now.
        while signals.try_recv().is_ok() {}
        let outcome = match File::open(log).and_then(|file| file.sync_data()) {
            // A closed database has moved its log into the main file.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        };
        if let Err(error) = &outcome {
            tracing::error!(%error, "syncing the log failed; until it succeeds, every record waits for its own sync");
        }
        failing.store(outcome.is_err(), Ordering::Release);
    }
}
