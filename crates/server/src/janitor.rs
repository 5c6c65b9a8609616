//! The hourly cleanup of expired credentials and of data beyond its retention time. It first runs shortly after the start.

use std::time::{Duration, Instant};

use base::limits::SWEEP_SECONDS;
use tokio::sync::watch;

use crate::state::Shared;

/// The interval for auditing refusals that were only counted.
const COUNTED_SECONDS: u64 = 60;

/// Writes counted refusals to the audit trail. A failure is retried a minute later.
pub(crate) async fn record_counted(state: &Shared, until_now: bool) {
    if let Err(error) = state.guard.record_counted(until_now).await {
        tracing::error!(%error, "cannot record the number of refused requests; retrying");
    }
}

/// Cleans up every hour until `stopping` turns true. A failure is retried an hour later.
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
