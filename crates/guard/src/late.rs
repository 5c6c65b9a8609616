//! Records that nobody waits for: of calls whose callers went away, and of calls that failed because their record could not be
//! written. They are tried until they are written.

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

/// An entry under way.
pub(crate) type Writing = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// How often an entry is tried before it is given up, and how long apart: a little longer each time, some minutes in all.
const TRIES_MAX: u32 = 12;
const PAUSE_MS: u64 = 50;
const PAUSE_MS_MAX: u64 = 60_000;

/// One record.
pub(crate) struct Late {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) rows: OrgStore,
    pub(crate) by: By,
    pub(crate) call: CallRecord,
    /// The first try, where it is under way already.
    pub(crate) first: Option<Writing>,
}

/// The records that wait.
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
    /// The way to hand a record over.
    pub(crate) fn queue(&self) -> mpsc::Sender<Late> {
        self.queue.clone()
    }
}

impl Guard {
    /// Sees to late records until `stopping` turns true.
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

    /// Writes the late records that are left when no more calls come.
    pub async fn write_last_records(&self) {
        let mut waiting = self.late.waiting.lock().await;
        let (_stop, mut stopping) = watch::channel(true);
        while let Ok(late) = waiting.try_recv() {
            late.write(&mut stopping).await;
        }
    }
}

impl Late {
    /// Tries until it is written. When the server stops, it is tried at once, and not for long.
    async fn write(mut self, stopping: &mut watch::Receiver<bool>) {
        let mut pause = PAUSE_MS;
        for tries in 1..=TRIES_MAX {
            let written = match self.first.take() {
                Some(first) => first.await,
                None => self.again().await,
            };
            let Err(error) = written else {
                if tries > 1 {
                    tracing::info!(request = %self.call.request, tries, "the record of a call was written late");
                }
                return;
            };
            tracing::error!(
                request = %self.call.request, tool = %self.call.tool, outcome = self.call.outcome.word(), tries, %error,
                "the record of a call could not be written and is tried again"
            );
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(pause)) => {}
                // Then only the pauses count that are over soon.
                _ = stopping.wait_for(|stopping| *stopping), if pause > PAUSE_MS => {}
            }
            pause = (pause * 2).min(PAUSE_MS_MAX);
        }
        tracing::error!(
            request = %self.call.request, tool = %self.call.tool, outcome = self.call.outcome.word(),
            "the record of a call is given up: the audit trail does not tell of it"
        );
    }

    async fn again(&mut self) -> Result<()> {
        self.ledger.note(&self.rows, &self.by, self.call.event())?.await
    }
}
