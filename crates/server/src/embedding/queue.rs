//! Vectors behind everyone's back: one task that embeds what was just remembered, and finds what nobody told it of. It is also
//! where word caches are committed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::limits::{EMBED_PAUSE_FIRST_MS, EMBED_PAUSE_MAX_MS, EMBED_SWEEP_SECONDS, INDEX_FLUSH_SECONDS, PAGE_ROWS_MAX};
use base::{Kind, OrgId, PageRequest, ProjectId, Result};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::endpoint::AWAY;
use crate::state::Shared;

/// Texts of a project between two lines in the log: enough that everyday work leaves none.
const REPORT_TEXTS: u64 = 1_000;

/// Works until `stopping` turns true. What was not done waits in the rows for the next start.
pub(crate) async fn run(state: Shared, mut stopping: watch::Receiver<bool>) {
    let work = async {
        let mut queue = Queue::default();
        let (mut sweep_at, mut flush_at) = (Instant::now(), Instant::now() + Duration::from_secs(INDEX_FLUSH_SECONDS));
        loop {
            let resume_at = queue.resume_at;
            let told = async {
                match resume_at {
                    Some(at) => sleep_until(at).await,
                    None => state.services.indexes.pending.wait().await,
                }
            };
            tokio::select! {
                () = told => queue.embed_told(&state).await,
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

/// The projects where something waits, and whether the embedder is left alone for a while.
#[derive(Default)]
struct Queue {
    projects: HashMap<(OrgId, ProjectId), Progress>,
    /// Rounds in a row that failed.
    failures: u32,
    resume_at: Option<Instant>,
}

/// How far a project has come since something last waited in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    done: u64,
    left: u64,
}

impl Queue {
    /// One batch for each project that has something waiting, in turn: a project with a long queue holds up no other. After a failure
    /// everything waits for a while, longer each time.
    async fn embed_told(&mut self, state: &Shared) {
        let pending = &state.services.indexes.pending;
        let told = pending.take();
        for (org, project) in &told {
            self.count(state, org, project).await;
        }
        let (mut told, mut failed) = (told.into_iter(), false);
        for (org, project) in told.by_ref() {
            match self.embed(state, &org, &project).await {
                Ok(0) => {}
                Ok(_) => pending.tell(org, project),
                Err(error) => {
                    failed = true;
                    pending.tell(org, project);
                    let is_known = self.failures > 0 || error.data().get("reason").is_some_and(|reason| reason == AWAY);
                    if is_known {
                        tracing::debug!(%org, %project, %error, "texts could not be embedded; they are tried again");
                    } else {
                        tracing::warn!(%org, %project, %error, "texts could not be embedded; they are tried again");
                    }
                    // What cannot be reached is out of reach for the other projects, too.
                    if error.kind() == Kind::Unavailable {
                        break;
                    }
                }
            }
        }
        told.for_each(|(org, project)| pending.tell(org, project));
        self.failures = if failed { self.failures.saturating_add(1) } else { 0 };
        self.resume_at = pause(self.failures).map(|pause| Instant::now() + pause);
        state.metrics.embed_waiting(self.projects.values().map(|progress| progress.left).sum());
    }

    /// Counts what waits in a project: now and then only, because counting a long queue takes about as long as embedding a text.
    async fn count(&mut self, state: &Shared, org: &OrgId, project: &ProjectId) {
        let progress = self.projects.entry((*org, *project)).or_default();
        if progress.left > 0 && self.failures == 0 {
            return;
        }
        let access = state.guard.operator_access(org);
        // Rows that cannot be read are spoken of when they are to be embedded.
        if let Ok(left) = state.services.indexes.waiting(access.rows(), project).await {
            progress.left = left;
        }
    }

    async fn embed(&mut self, state: &Shared, org: &OrgId, project: &ProjectId) -> Result<usize> {
        let (access, indexes) = (state.guard.operator_access(org), &state.services.indexes);
        let embedded = indexes.embed_some(access.rows(), project).await?;
        let progress = self.projects.entry((*org, *project)).or_default();
        let done = *progress;
        match progress.advance(embedded as u64) {
            Step::Quiet => {}
            Step::Report => {
                progress.left = indexes.waiting(access.rows(), project).await?;
                tracing::info!(%org, %project, embedded = progress.done, waiting = progress.left, "texts are being embedded");
            }
            Step::End => {
                self.projects.remove(&(*org, *project));
                if done.done >= REPORT_TEXTS {
                    tracing::info!(%org, %project, embedded = done.done, "all texts are embedded");
                }
            }
        }
        Ok(embedded)
    }
}

/// What follows from a batch.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Quiet,
    Report,
    End,
}

impl Progress {
    fn advance(&mut self, embedded: u64) -> Step {
        if embedded == 0 {
            return Step::End;
        }
        let before = self.done / REPORT_TEXTS;
        self.done += embedded;
        self.left = self.left.saturating_sub(embedded);
        if self.done / REPORT_TEXTS > before { Step::Report } else { Step::Quiet }
    }
}

/// How long to wait after so many failures in a row.
fn pause(failures: u32) -> Option<Duration> {
    let doubled = failures.checked_sub(1).map(|times| EMBED_PAUSE_FIRST_MS.saturating_mul(2_u64.saturating_pow(times)))?;
    Some(Duration::from_millis(doubled.min(EMBED_PAUSE_MAX_MS)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let seconds: Vec<_> = (0..10).map(|failures| pause(failures).map(|pause| pause.as_secs())).collect();
        let expected = [None, Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), Some(60), Some(60), Some(60)];
        assert_eq!(seconds, expected);
        assert_eq!(pause(u32::MAX), Some(Duration::from_secs(60)));
    }

    #[test]
    fn every_thousand_texts_are_worth_a_line() {
        let mut progress = Progress { done: 0, left: 2_010 };
        let steps: Vec<_> = (0..126).map(|_| progress.advance(16)).collect();
        assert_eq!(steps.iter().filter(|step| **step == Step::Report).count(), 2);
        assert_eq!((progress.done, progress.left), (2_016, 0));
        assert_eq!(progress.advance(0), Step::End);
    }
}
