//! Waits for changes by other nodes. If several tasks wait for an org, one of them polls and notifies the others.
//!
//! The task that holds the org's turn polls. If it goes away, the turn passes to the next waiting task, so no background task
//! is needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use base::{OrgId, Result};
use tokio::sync::watch;

/// The interval at which a node checks for changes by other nodes.
const PAUSE: Duration = Duration::from_millis(500);

/// The orgs that a task waits for.
#[derive(Default)]
pub(crate) struct Polls(Mutex<HashMap<OrgId, Weak<Poll>>>);

struct Poll {
    turn: tokio::sync::Mutex<()>,
    number: watch::Sender<u64>,
}

impl Polls {
    /// Waits until the number of `org` differs from `seen`. `look` reads it.
    pub(crate) async fn changed<F>(&self, org: &OrgId, seen: u64, look: impl Fn() -> F) -> Result<u64>
    where
        F: Future<Output = Result<u64>>,
    {
        let poll = self.of(org);
        let mut told = poll.number.subscribe();
        loop {
            tokio::select! {
                // A notified task need not poll.
                biased;
                // The sender is in `poll`, so the channel is never closed.
                _ = told.changed() => {
                    let number = *told.borrow_and_update();
                    if number != seen {
                        return Ok(number);
                    }
                }
                _turn = poll.turn.lock() => loop {
                    let number = look().await?;
                    poll.number.send_replace(number);
                    if number != seen {
                        return Ok(number);
                    }
                    tokio::time::sleep(PAUSE).await;
                },
            }
        }
    }

    fn of(&self, org: &OrgId) -> Arc<Poll> {
        let mut polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(poll) = polls.get(org).and_then(Weak::upgrade) {
            return poll;
        }
        // Orgs that no task waits for any more are removed.
        polls.retain(|_, poll| poll.strong_count() > 0);
        let poll = Arc::new(Poll { turn: tokio::sync::Mutex::default(), number: watch::Sender::new(0) });
        polls.insert(*org, Arc::downgrade(&poll));
        poll
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use base::Timestamp;
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn of_many_waiting_tasks_one_polls() {
        let (polls, org) = (Arc::new(Polls::default()), OrgId::new(Timestamp::from_ms(1)));
        let (looks, number) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(7)));
        let mut waiting = JoinSet::new();
        for _ in 0..50 {
            let (polls, looks, number) = (polls.clone(), looks.clone(), number.clone());
            waiting.spawn(async move {
                let look = || async {
                    looks.fetch_add(1, Ordering::SeqCst);
                    Ok(number.load(Ordering::SeqCst))
                };
                polls.changed(&org, 7, look).await.unwrap()
            });
        }
        while looks.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        number.store(8, Ordering::SeqCst);
        assert_eq!(waiting.join_all().await, vec![8; 50]);
        assert!(looks.load(Ordering::SeqCst) < 10, "{looks:?}");
        assert_eq!(polls.0.lock().unwrap().values().filter(|poll| poll.strong_count() > 0).count(), 0);
    }

    #[tokio::test]
    async fn another_task_polls_when_the_polling_one_goes_away() {
        let (polls, org) = (Polls::default(), OrgId::new(Timestamp::from_ms(1)));
        let number = AtomicU64::new(7);
        let look = || async { Ok(number.load(Ordering::SeqCst)) };
        let mut first = Box::pin(polls.changed(&org, 7, look));
        let second = polls.changed(&org, 7, look);
        // After one poll of the future, it has the turn.
        assert!(futures_now(&mut first).await.is_none());
        let gone_and_changed = async {
            tokio::task::yield_now().await;
            drop(first);
            number.store(8, Ordering::SeqCst);
        };
        assert_eq!(tokio::join!(second, gone_and_changed).0.unwrap(), 8);
    }

    /// The result of a future, if it is ready now.
    async fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = std::future::ready(()) => None,
        }
    }
}
