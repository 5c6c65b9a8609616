//! Background tasks, and the hourly cleanup. Each task ends when the server stops, and the stop waits for all of them.

use std::time::{Duration, Instant};

use base::limits::SWEEP_SECONDS;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::state::Shared;

/// The interval for auditing refusals that were only counted.
const COUNTED_SECONDS: u64 = 60;

/// The running background tasks.
#[derive(Default)]
pub(crate) struct Background(Vec<(&'static str, JoinHandle<()>)>);

impl Background {
    /// Starts a task.
    pub(crate) fn start(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        #[expect(clippy::disallowed_methods, reason = "long-lived tasks start here")]
        self.0.push((name, tokio::spawn(work)));
    }

    /// Waits until all tasks have ended, in the order they were started.
    pub(crate) async fn drain(self) {
        for (name, work) in self.0 {
            if let Err(error) = work.await {
                tracing::error!(%error, "{name} failed");
            }
        }
    }
}

/// Writes counted refusals to the audit trail. A failure is retried a minute later.
pub(crate) async fn record_counted(state: &Shared, until_now: bool) {
    if let Err(error) = state.guard.record_counted(until_now).await {
        tracing::error!(%error, "cannot record the number of refused requests; retrying");
    }
}

/// Indexes code and makes its vectors until `stopping` turns true. Caches are written at the end.
pub(crate) async fn index_code(state: Shared, mut stopping: watch::Receiver<bool>) {
    let code = &state.services.code;
    tokio::select! {
        () = code.run() => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    let code = std::sync::Arc::clone(code);
    if let Err(error) = tokio::task::spawn_blocking(move || code.stop()).await {
        tracing::error!(%error, "writing the caches of code failed");
    }
}

/// Removes expired credentials and data beyond its retention time every hour until `stopping` turns true, first shortly after the
/// start. A failure is retried an hour later.
pub(crate) async fn sweep_hourly(state: Shared, mut stopping: watch::Receiver<bool>) {
    let sweeps = async {
        let (first, every) = SWEEP_SECONDS;
        let mut wait = first;
        loop {
            tokio::time::sleep(Duration::from_secs(wait)).await;
            wait = every;
            match state.guard.sweep(state.audit_keep_days).await {
                Ok(swept) if swept.is_nothing() => {}
                Ok(swept) => tracing::info!(?swept, "swept"),
                Err(error) => tracing::warn!(%error, "cleanup failed"),
            }
        }
    };
    let counts = async {
        loop {
            tokio::time::sleep(Duration::from_secs(COUNTED_SECONDS)).await;
            record_counted(&state, false).await;
            state.refusal_log.flush(Instant::now());
        }
    };
    tokio::select! {
        () = sweeps => {}
        () = counts => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
}
