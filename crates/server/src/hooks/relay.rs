//! The relay: one task that reads the audit trail from each subscriber's cursor and processes events in order per org. It wakes up when
//! a trail grows on this node, and regularly searches for missed events.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::limits::{RELAY_EVENTS_MAX, RELAY_GATHER_MS, RELAY_JOBS_MAX, RELAY_ORGS_MAX, RELAY_SWEEP_SECONDS};
use base::{OrgId, Result, Timestamp, WebhookId};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use guard::{Outbox, Settled, Step};
use tokio::sync::watch;

use super::message::messages;
use super::queue::Queue;
use super::retry::Retry;
use crate::state::Shared;

/// The delay before a job is retried after a failure, or after it found nothing although it was woken.
const AGAIN: Duration = Duration::from_secs(1);

/// A job of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Job {
    /// Finds orgs with unprocessed events.
    Sweep,
    /// Updates an org's figures, and finds webhooks with something to deliver.
    Org(OrgId),
    /// Delivers to a webhook.
    Webhook(OrgId, WebhookId),
}

/// The result of a job, with follow-up jobs.
struct Delivered {
    job: Job,
    plans: Vec<(Job, Instant)>,
    found: bool,
}

type Work = Pin<Box<dyn Future<Output = Delivered> + Send>>;

/// The relay of one server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Relay {
    state: Shared,
    /// The name under which this node leases webhooks.
    node: Arc<str>,
    retry: Retry,
    stopping: watch::Receiver<bool>,
}

impl Relay {
    pub(crate) fn new(state: Shared, node: &str, retry: Retry, stopping: watch::Receiver<bool>) -> Self {
        Self { state, node: node.into(), retry, stopping }
    }

    /// Runs until the server stops, then waits for the running jobs.
    pub(crate) async fn run(mut self) {
        let mut queue = Queue::new();
        let mut under_way = FuturesUnordered::<Work>::new();
        // Orgs whose announced events were not visible yet.
        let mut found_nothing = HashSet::new();
        let state = Arc::clone(&self.state);
        queue.plan(Job::Sweep, Instant::now());
        loop {
            let has_room = under_way.len() < RELAY_JOBS_MAX;
            if has_room && let Some(job) = queue.start(Instant::now()) {
                under_way.push(self.clone().work(job));
                continue;
            }
            let next = queue.next_at().filter(|_| has_room);
            tokio::select! {
                _ = self.stopping.wait_for(|stopping| *stopping) => break,
                Some(outcome) = under_way.next() => {
                    queue.done(outcome.job);
                    outcome.plans.into_iter().for_each(|(job, at)| queue.plan(job, at));
                    // The entry may not have been committed when it was announced. Look once more; after that the sweep finds it.
                    if let Job::Org(org) = outcome.job
                        && !outcome.found
                        && found_nothing.insert(org)
                    {
                        queue.plan(outcome.job, Instant::now() + AGAIN);
                    } else if let Job::Org(org) = outcome.job {
                        found_nothing.remove(&org);
                    }
                }
                () = state.guard.hooks_told() => {
                    let at = Instant::now() + Duration::from_millis(RELAY_GATHER_MS);
                    state.guard.hooks_news().for_each(|org| queue.plan(Job::Org(org), at));
                }
                () = until(next) => {}
            }
        }
        while under_way.next().await.is_some() {}
    }

    fn work(self, job: Job) -> Work {
        Box::pin(async move {
            let outcome = match job {
                Job::Sweep => self.sweep().await.map(|plans| (plans, true)),
                Job::Org(org) => self.serve_org(&org).await,
                Job::Webhook(org, id) => self.serve_webhook(&org, &id).await.map(|plans| (plans, true)),
            };
            match outcome {
                Ok((plans, found)) => Delivered { job, plans, found },
                Err(error) => {
                    tracing::warn!(?job, %error, "hook relay job failed; retrying");
                    Delivered { job, plans: vec![(job, Instant::now() + AGAIN)], found: true }
                }
            }
        })
    }

    async fn sweep(&self) -> Result<Vec<(Job, Instant)>> {
        let now = Instant::now();
        let mut plans = vec![(Job::Sweep, now + Duration::from_secs(RELAY_SWEEP_SECONDS))];
        let mut after = None;
        while plans.len() < RELAY_ORGS_MAX {
            let orgs = self.state.guard.orgs_behind(after.as_ref()).await?;
            let Some(last) = orgs.last() else {
                break;
            };
            after = Some(*last);
            plans.extend(orgs.into_iter().map(|org| (Job::Org(org), now)));
        }
        Ok(plans)
    }

    /// Returns follow-up jobs, and whether there was anything to do.
    async fn serve_org(&self, org: &OrgId) -> Result<(Vec<(Job, Instant)>, bool)> {
        let guard = &self.state.guard;
        let passed = guard.advance_figures(org).await?;
        let due = guard.due_webhooks(org).await?;
        let found = passed > 0 || !due.is_empty();
        let now = guard.clock().now();
        let mut plans: Vec<_> = due.iter().map(|due| (Job::Webhook(*org, due.id), instant(now, due.next_try_at))).collect();
        if passed >= RELAY_EVENTS_MAX as usize {
            plans.push((Job::Org(*org), Instant::now()));
        }
        Ok((plans, found))
    }

    async fn serve_webhook(&self, org: &OrgId, id: &WebhookId) -> Result<Vec<(Job, Instant)>> {
        let Some(outbox) = self.state.guard.take_webhook(org, id, &self.node).await? else {
            // Another node has leased it. Look again a little later, in case it left something.
            return Ok(vec![(Job::Org(*org), Instant::now() + AGAIN)]);
        };
        let again = self.deliver(outbox).await?;
        Ok(again.map(|at| (Job::Webhook(*org, *id), at)).into_iter().collect())
    }

    /// Delivers the batch message by message. Returns when to continue, if there is more to do.
    async fn deliver(&self, outbox: Outbox) -> Result<Option<Instant>> {
        let now = self.state.guard.clock().now();
        let mut step = Step { sequence: outbox.sequence, part: outbox.part, tries: outbox.tries, ..Step::default() };
        if outbox.next_try_at > now {
            step.next_try_at = Some(outbox.next_try_at);
            return self.put_down(&outbox, step, Some(instant(now, outbox.next_try_at))).await;
        }
        for event in &outbox.batch {
            let messages = messages(&outbox.org, event, &outbox.events);
            let first = usize::try_from(step.part).unwrap_or(0);
            for (index, message) in messages.iter().enumerate().skip(first) {
                let sent = tokio::select! {
                    sent = self.state.courier.deliver(&outbox.url, &outbox.secret, message, self.state.guard.clock().now()) => sent,
                    // The server is stopping. This is not a failure: the message is sent again after the start.
                    () = self.stopped() => return self.put_down(&outbox, step, None).await,
                };
                self.state.metrics.delivered(sent.is_ok());
                // The position after this message, whether it was delivered or given up.
                let past = match index + 1 == messages.len() {
                    true => Step { sequence: event.sequence, ..Step::default() },
                    false => Step { sequence: step.sequence, part: step.part.max(0) + 1, ..Step::default() },
                };
                let written = match sent {
                    Ok(()) => Step { arrived: true, ..past.clone() },
                    Err(error) => {
                        let tries = step.tries.saturating_add(1);
                        tracing::info!(org = %outbox.org, webhook = %outbox.id, tries, error, "webhook delivery failed");
                        match self.retry.pause(tries) {
                            Some(pause) => {
                                let at = self.state.guard.clock().now().plus_ms(millis(pause));
                                let failed = Step { tries, next_try_at: Some(at), error: Some(error), ..step };
                                return self.put_down(&outbox, failed, Some(Instant::now() + pause)).await;
                            }
                            None => {
                                let part = i64::try_from(index).unwrap_or(i64::MAX);
                                let dead = Some((event.sequence, part, message.message_type.clone()));
                                Step { dead, error: Some(error), ..past.clone() }
                            }
                        }
                    }
                };
                step = past;
                if self.settle(&outbox, written).await? == Settled::Lost {
                    return Ok(None);
                }
            }
            // The webhook does not subscribe to it, or all of its messages are done.
            step = Step { sequence: event.sequence, ..Step::default() };
        }
        let more = outbox.batch.len() >= RELAY_EVENTS_MAX as usize;
        self.put_down(&outbox, step, more.then(Instant::now)).await
    }

    /// Stores the position and releases the lease.
    async fn put_down(&self, outbox: &Outbox, step: Step, again: Option<Instant>) -> Result<Option<Instant>> {
        self.settle(outbox, Step { release: true, ..step }).await.map(|_| again)
    }

    async fn settle(&self, outbox: &Outbox, step: Step) -> Result<Settled> {
        self.state.guard.settle_webhook(&outbox.org, &outbox.id, &self.node, step).await
    }

    async fn stopped(&self) {
        // Fails only if the server is already gone.
        let _ = self.stopping.clone().wait_for(|stopping| *stopping).await;
    }
}

/// Waits until `then`, or forever without one.
async fn until(then: Option<Instant>) {
    match then {
        Some(then) => tokio::time::sleep_until(then.into()).await,
        None => std::future::pending().await,
    }
}

/// Converts a stored time to a time of this process.
fn instant(now: Timestamp, then: Timestamp) -> Instant {
    let ms = u64::try_from(then.ms().saturating_sub(now.ms())).unwrap_or(0);
    Instant::now() + Duration::from_millis(ms)
}

fn millis(pause: Duration) -> i64 {
    i64::try_from(pause.as_millis()).unwrap_or(i64::MAX)
}
