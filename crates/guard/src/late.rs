//! Audit entries that no caller waits for: of calls whose callers disconnected, and of calls that failed because their entry could not
//! be written. They are retried until they are written.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::Result;
use base::limits::LATE_RECORDS_MAX;
use store::OrgStore;
use tokio::sync::{Mutex, mpsc, watch};

use crate::audit::{By, Ledger};
use crate::call::CallRecord;
use crate::guard::Guard;

/// An entry that is being written.
pub(crate) type Writing = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// How often an entry is retried before it is given up, and at which intervals: increasing, a few minutes in total.
const TRIES_MAX: u32 = 12;
const PAUSE_MS: u64 = 50;
const PAUSE_MS_MAX: u64 = 60_000;

/// One late record.
pub(crate) struct Late {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) rows: OrgStore,
    pub(crate) by: By,
    pub(crate) call: CallRecord,
    /// The first attempt, if it has already started.
    pub(crate) first: Option<Writing>,
}

/// The queue of late records.
pub(crate) struct LateRecords {
    queue: mpsc::Sender<Late>,
    waiting: Mutex<mpsc::Receiver<Late>>,
}

impl Default for LateRecords {
    fn default() -> Self {
        let (queue, waiting) = mpsc::channel(LATE_RECORDS_MAX);
        Self { queue, waiting: Mutex::new(waiting) }
    }
}

impl LateRecords {
    /// The sender of the queue.
    pub(crate) fn queue(&self) -> mpsc::Sender<Late> {
        self.queue.clone()
    }
}

impl Guard {
    /// Writes late records until `stopping` turns true.
    pub async fn write_late_records(&self, mut stopping: watch::Receiver<bool>) {
        let mut waiting = self.late.waiting.lock().await;
        loop {
            let late = tokio::select! {
                late = waiting.recv() => late,
                _ = stopping.wait_for(|stopping| *stopping) => return,
            };
            match late {
                Some(late) => late.write(&mut stopping).await,
                None => return,
            }
        }
    }

    /// Writes the remaining records after the last call.
    pub async fn write_last_records(&self) {
        let mut waiting = self.late.waiting.lock().await;
        let (_stop, mut stopping) = watch::channel(true);
        while let Ok(late) = waiting.try_recv() {
            late.write(&mut stopping).await;
        }
    }
}

impl Late {
    /// Retries until the record is written. When the server stops, it is retried at once, but only briefly.
    async fn write(mut self, stopping: &mut watch::Receiver<bool>) {
        let mut pause = PAUSE_MS;
        for tries in 1..=TRIES_MAX {
            let written = match self.first.take() {
                Some(first) => first.await,
                None => self.again().await,
            };
            let Err(error) = written else {
                if tries > 1 {
                    tracing::info!(request = %self.call.request, tries, "audit entry of a call written late");
                }
                return;
            };
            tracing::error!(
                request = %self.call.request, tool = %self.call.tool, outcome = self.call.outcome.word(), tries, %error,
                "cannot write the audit entry of a call; retrying"
            );
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(pause)) => {}
                // When the server stops, only short pauses are allowed.
                _ = stopping.wait_for(|stopping| *stopping), if pause > PAUSE_MS => {}
            }
            pause = (pause * 2).min(PAUSE_MS_MAX);
        }
        tracing::error!(
            request = %self.call.request, tool = %self.call.tool, outcome = self.call.outcome.word(),
            "giving up the audit entry of a call; it is missing from the audit trail"
        );
    }

    async fn again(&mut self) -> Result<()> {
        self.ledger.note(&self.rows, &self.by, self.call.event())?.await
    }
}
