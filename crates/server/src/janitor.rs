//! The janitor: one task that clears away dead credentials, and what is older than it is kept, shortly after the start and then every
//! hour.

use std::time::Duration;

use base::limits::SWEEP_SECONDS;
use tokio::sync::watch;

use crate::state::Shared;

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
    tokio::select! {
        () = sweeps => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
}
