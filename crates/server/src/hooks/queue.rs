//! The relay's schedule: planned and running jobs. It neither waits nor does the work.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// Planned and running jobs. Each job is at most once in either set.
pub(super) struct Queue<J> {
    planned: HashMap<J, Instant>,
    in_order: BTreeSet<(Instant, J)>,
    /// Running jobs, and when to run them again.
    busy: HashMap<J, Option<Instant>>,
}

impl<J: Copy + Eq + Hash + Ord> Queue<J> {
    pub(super) fn new() -> Self {
        Self { planned: HashMap::new(), in_order: BTreeSet::new(), busy: HashMap::new() }
    }

    /// Plans `job` for `at`, or keeps an earlier time. A running job is run once more afterwards.
    pub(super) fn plan(&mut self, job: J, at: Instant) {
        if let Some(again) = self.busy.get_mut(&job) {
            *again = Some(again.map_or(at, |again| again.min(at)));
            return;
        }
        match self.planned.get(&job) {
            Some(earlier) if *earlier <= at => return,
            Some(later) => {
                self.in_order.remove(&(*later, job));
            }
            None => {}
        }
        self.planned.insert(job, at);
        self.in_order.insert((at, job));
    }

    /// Starts a job that is due.
    pub(super) fn start(&mut self, now: Instant) -> Option<J> {
        let (at, job) = *self.in_order.first()?;
        if at > now {
            return None;
        }
        self.in_order.remove(&(at, job));
        self.planned.remove(&job);
        self.busy.insert(job, None);
        Some(job)
    }

    /// Marks a job as done.
    pub(super) fn done(&mut self, job: J) {
        if let Some(Some(again)) = self.busy.remove(&job) {
            self.plan(job, again);
        }
    }

    /// When the next job is due.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.in_order.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn jobs_start_once_in_order_of_time() {
        let (mut queue, now) = (Queue::new(), Instant::now());
        let after = |ms| now + Duration::from_millis(ms);
        queue.plan('a', after(20));
        queue.plan('b', after(10));
        queue.plan('a', after(5));
        queue.plan('a', after(30));
        assert_eq!((queue.start(now), queue.next_at()), (None, Some(after(5))));
        assert_eq!((queue.start(after(10)), queue.start(after(10)), queue.start(after(99))), (Some('a'), Some('b'), None));
    }

    #[test]
    fn job_planned_while_running_runs_once_more() {
        let (mut queue, now) = (Queue::new(), Instant::now());
        queue.plan('a', now);
        assert_eq!(queue.start(now), Some('a'));
        queue.plan('a', now + Duration::from_secs(1));
        queue.plan('a', now);
        assert_eq!(queue.start(now), None, "a job never runs twice at the same time");
        queue.done('a');
        assert_eq!(queue.start(now), Some('a'));
        queue.done('a');
        assert_eq!(queue.next_at(), None);
    }
}
