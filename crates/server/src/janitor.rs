//! The janitor: one task that clears away dead credentials, and what is older than it is kept, shortly after the start and then every
//! hour.

use std::time::Duration;

use base::limits::SWEEP_SECONDS;
use tokio::sync::watch;

use crate::state::Shared;

/// How often refusals that were counted are put on the record.
const COUNTED_SECONDS: u64 = 60;

/// Puts refusals on the record that were counted. What fails is tried again a minute later.
pub(crate) async fn record_counted(state: &Shared, until_now: bool) {
    if let Err(error) = state.guard.record_counted(until_now).await {
        tracing::error!(%error, "the number of refused requests could not be recorded");
    }
}

/// Sweeps until `stopping` turns true. What fails is tried again an hour later: nothing waits for it.
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
                Err(error) => tracing::warn!(%error, "what is dead or too old could not be removed"),
            }
        }
    };
    let counts = async {
        loop {
            tokio::time::sleep(Duration::from_secs(COUNTED_SECONDS)).await;
            record_counted(&state, false).await;
        }
    };
    tokio::select! {
        () = sweeps => {}
        () = counts => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
}
