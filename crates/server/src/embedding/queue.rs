//! Vectors behind everyone's back: one task that embeds what was just remembered, and finds what nobody told it of. It is also
//! where word caches are committed.

use std::sync::Arc;
use std::time::Duration;

use base::limits::{EMBED_SWEEP_SECONDS, INDEX_FLUSH_SECONDS, PAGE_ROWS_MAX, QUERY_VECTOR_CACHE_MAX};
use base::{Clock, OrgId, PageRequest, ProjectId, Result};
use knowledge::{Indexes, IndexesConfig};
use search::embed::{Cached, MiniLm};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::data_folder::DataFolder;
use crate::state::Shared;

/// The indexes of this server: the bundled model, and word caches in the data folder.
pub(crate) fn indexes(folder: &DataFolder, clock: &Clock) -> Result<Indexes> {
    let model = MiniLm::bundled()?;
    let config = IndexesConfig {
        folder: Some(folder.path().join("cache").join("words")),
        ..IndexesConfig::new(Arc::new(Cached::new(model, QUERY_VECTOR_CACHE_MAX)), clock.clone())
    };
    Ok(Indexes::new(config))
}

/// Works until `stopping` turns true. What was not done waits in the rows for the next start.
pub(crate) async fn run(state: Shared, mut stopping: watch::Receiver<bool>) {
    let work = async {
        let (mut sweep_at, mut flush_at) = (Instant::now(), Instant::now() + Duration::from_secs(INDEX_FLUSH_SECONDS));
        loop {
            tokio::select! {
                () = state.services.indexes.pending.wait() => embed_told(&state).await,
                () = sleep_until(sweep_at) => {
                    if let Err(error) = find_untold(&state).await {
                        tracing::warn!(%error, "what waits to be embedded could not be found");
                    }
                    sweep_at = Instant::now() + Duration::from_secs(EMBED_SWEEP_SECONDS);
                }
                () = sleep_until(flush_at) => {
                    let indexes = Arc::clone(&state.services.indexes);
                    // A flush that panics has been logged by the runtime; the next one tries again.
                    let _ = tokio::task::spawn_blocking(move || indexes.flush()).await;
                    flush_at = Instant::now() + Duration::from_secs(INDEX_FLUSH_SECONDS);
                }
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
}

/// One batch for each project that has something waiting, in turn: a project with a long queue holds up no other.
async fn embed_told(state: &Shared) {
    let pending = &state.services.indexes.pending;
    for (org, project) in pending.take() {
        match embed(state, &org, &project).await {
            Ok(0) => {}
            Ok(_) => pending.tell(org, project),
            Err(error) => tracing::warn!(%org, %project, %error, "texts could not be embedded; they are tried again"),
        }
    }
}

async fn embed(state: &Shared, org: &OrgId, project: &ProjectId) -> Result<usize> {
    let access = state.guard.operator_access(org);
    state.services.indexes.embed_some(access.rows(), project).await
}

/// What a node left when it stopped, and what another model had embedded.
async fn find_untold(state: &Shared) -> Result<()> {
    let mut page = PageRequest { rows: PAGE_ROWS_MAX, after: None };
    loop {
        let orgs = state.guard.orgs().list(&page).await?;
        for org in &orgs.items {
            let access = state.guard.operator_access(&org.id);
            for project in state.services.indexes.find_waiting(access.rows()).await? {
                state.services.indexes.pending.tell(org.id, project);
            }
        }
        match orgs.next {
            Some(next) => page.after = Some(next),
            None => return Ok(()),
        }
    }
}
