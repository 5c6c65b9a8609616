//! A background task that embeds new texts, and finds texts that were left over. It also commits the keyword caches.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::limits::{EMBED_PAUSE_FIRST_MS, EMBED_PAUSE_MAX_MS, EMBED_SWEEP_SECONDS, INDEX_FLUSH_SECONDS, PAGE_ROWS_MAX};
use base::{Kind, OrgId, PageRequest, ProjectId, Result};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::endpoint::AWAY;
use crate::state::Shared;

/// Texts of a project between two log lines, so that everyday work logs none.
const REPORT_TEXTS: u64 = 1_000;

/// Runs until `stopping` turns true. The remaining texts wait in their rows for the next start.
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
                        tracing::warn!(%error, "cannot find the texts to embed");
                    }
                    sweep_at = Instant::now() + Duration::from_secs(EMBED_SWEEP_SECONDS);
                }
                () = sleep_until(flush_at) => {
                    let indexes = Arc::clone(&state.services.indexes);
                    // The runtime logs a panic in a flush. The next flush tries again.
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

/// The projects with waiting texts, and the current pause.
#[derive(Default)]
struct Queue {
    projects: HashMap<(OrgId, ProjectId), Progress>,
    /// Consecutive failed rounds.
    failures: u32,
    resume_at: Option<Instant>,
}

/// A project's progress since its queue was last empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    done: u64,
    left: u64,
}

impl Queue {
    /// Embeds one batch of each project with waiting texts, so that a long queue delays no other project. After a failure everything
    /// pauses, longer each time.
    async fn embed_told(&mut self, state: &Shared) {
        let pending = &state.services.indexes.pending;
        let told = pending.take();
        for (org, project) in &told {
            self.count(state, org, project).await;
        }
        self.report(state);
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
                        tracing::debug!(%org, %project, %error, "embedding failed; retrying");
                    } else {
                        tracing::warn!(%org, %project, %error, "embedding failed; retrying");
                    }
                    // If the embedder is unavailable, it is so for the other projects too.
                    if error.kind() == Kind::Unavailable {
                        break;
                    }
                }
            }
        }
        told.for_each(|(org, project)| pending.tell(org, project));
        self.failures = if failed { self.failures.saturating_add(1) } else { 0 };
        self.resume_at = pause(self.failures).map(|pause| Instant::now() + pause);
        self.report(state);
    }

    fn report(&self, state: &Shared) {
        state.metrics.embed_waiting(self.projects.values().map(|progress| progress.left).sum());
    }

    /// Counts the waiting texts of a project. Only now and then, because counting a long queue takes about as long as embedding a text.
    async fn count(&mut self, state: &Shared, org: &OrgId, project: &ProjectId) {
        let progress = self.projects.entry((*org, *project)).or_default();
        if progress.left > 0 && self.failures == 0 {
            return;
        }
        let change = state.guard.upkeep(org);
        // Unreadable rows are reported when they are embedded.
        if let Ok(left) = state.services.indexes.waiting(change.as_ref(), project).await {
            progress.left = left;
        }
    }

    async fn embed(&mut self, state: &Shared, org: &OrgId, project: &ProjectId) -> Result<usize> {
        let (change, indexes) = (state.guard.upkeep(org), &state.services.indexes);
        let embedded = indexes.embed_some(&change, project).await?;
        let progress = self.projects.entry((*org, *project)).or_default();
        let done = *progress;
        match progress.advance(embedded as u64) {
            Step::Quiet => {}
            Step::Report => {
                progress.left = indexes.waiting(change.as_ref(), project).await?;
                tracing::info!(%org, %project, embedded = progress.done, waiting = progress.left, "embedding texts");
            }
            Step::End => {
                self.projects.remove(&(*org, *project));
                if done.done >= REPORT_TEXTS {
                    tracing::info!(%org, %project, embedded = done.done, "all texts embedded");
                }
            }
        }
        Ok(embedded)
    }
}

/// The next step after a batch.
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

/// The pause after a number of consecutive failures.
fn pause(failures: u32) -> Option<Duration> {
    let doubled = failures.checked_sub(1).map(|times| EMBED_PAUSE_FIRST_MS.saturating_mul(2_u64.saturating_pow(times)))?;
    Some(Duration::from_millis(doubled.min(EMBED_PAUSE_MAX_MS)))
}

/// Finds texts that a stopped node left over, and texts embedded with another model.
async fn find_untold(state: &Shared) -> Result<()> {
    let mut page = PageRequest { rows: PAGE_ROWS_MAX, after: None };
    loop {
        let orgs = state.guard.orgs().list(&page).await?;
        for org in &orgs.items {
            for project in state.services.indexes.find_waiting(&state.guard.upkeep(&org.id)).await? {
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
    fn progress_is_logged_every_thousand_texts() {
        let mut progress = Progress { done: 0, left: 2_010 };
        let steps: Vec<_> = (0..126).map(|_| progress.advance(16)).collect();
        assert_eq!(steps.iter().filter(|step| **step == Step::Report).count(), 2);
        assert_eq!((progress.done, progress.left), (2_016, 0));
        assert_eq!(progress.advance(0), Step::End);
    }
}
