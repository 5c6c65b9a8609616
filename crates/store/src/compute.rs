//! Runs CPU-bound work on separate threads, at most as many at once as the machine has processors. More work queues, and a full
//! queue refuses it, so a flood costs time but not threads or memory.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use base::limits::{COMPUTATION_WAIT_SECONDS, COMPUTATIONS_WAITING_MAX, COMPUTATIONS_WAITING_PER_ORG_MAX};
use base::{Error, Kind, OrgId, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All stores of a process share its processors.
static COMPUTATIONS: LazyLock<Turns> = LazyLock::new(|| Turns::new(processors(), COMPUTATIONS_WAITING_MAX));

fn processors() -> usize {
    std::thread::available_parallelism().map_or(PROCESSORS_MIN, |processors| processors.get().max(PROCESSORS_MIN))
}

/// One long computation must not block all others.
const PROCESSORS_MIN: usize = 2;

/// Runs `work` for `org` on a blocking thread, as soon as a processor is free.
///
/// # Errors
/// `unavailable` if the queue is full, or no processor becomes free in time.
pub async fn compute<T: Send + 'static>(org: &OrgId, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    // An org has at most as much work in the shared queue as could run at once. The rest waits in the org's own queue. So orgs
    // take turns, and a single busy org can use every processor.
    let of_org = ORGS.enter(org);
    let turn = of_org.gate.take().await?;
    let work = move || {
        let _turn = turn;
        work()
    };
    COMPUTATIONS.run(work).await
}

/// The queue of each org that has work.
static ORGS: LazyLock<Orgs> = LazyLock::new(Orgs::default);

#[derive(Default)]
struct Orgs(Mutex<HashMap<OrgId, Queue>>);

struct Queue {
    gate: Turns,
    /// The number of computations that run or wait.
    count: usize,
}

impl Orgs {
    fn enter(&'static self, org: &OrgId) -> OfOrg {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Queue { gate: Turns::new(processors(), COMPUTATIONS_WAITING_PER_ORG_MAX), count: 0 };
        let queue = queues.entry(*org).or_insert_with(new);
        queue.count += 1;
        OfOrg { orgs: self, org: *org, gate: queue.gate.clone() }
    }
}

/// One computation of an org. The last one removes the org's queue.
struct OfOrg {
    orgs: &'static Orgs,
    org: OrgId,
    gate: Turns,
}

impl Drop for OfOrg {
    fn drop(&mut self) {
        let mut queues = self.orgs.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get_mut(&self.org) {
            queue.count -= 1;
            if queue.count == 0 {
                queues.remove(&self.org);
            }
        }
    }
}

/// Checks and compilations of policies. Every request needs its org's policies, so this work does not queue behind other work.
static POLICIES: LazyLock<Turns> = LazyLock::new(|| Turns::new(PROCESSORS_MIN, COMPUTATIONS_WAITING_MAX));

/// Runs `work` on policies on a blocking thread.
///
/// # Errors
/// Same as [`compute`].
pub async fn compute_policies<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    POLICIES.run(work).await
}

/// Calls to other machines. Each needs a thread but no processor.
static WAITS: LazyLock<Turns> = LazyLock::new(|| Turns::new(WAITS_AT_ONCE, COMPUTATIONS_WAITING_MAX));

const WAITS_AT_ONCE: usize = 32;

/// Runs `work` that mostly waits for another machine, on a blocking thread.
///
/// # Errors
/// `unavailable` if the queue is full, or no thread becomes free in time.
pub async fn wait_for_another<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    WAITS.run(work).await
}

/// A limit on concurrent work, with a bounded queue.
#[derive(Clone)]
pub struct Turns {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// A permit to work. The work holds it, or a clone of it, until it is done, because work on a separate thread continues when
/// its caller goes away.
#[derive(Clone)]
pub struct Turn(#[expect(dead_code, reason = "it is held, not read")] Arc<OwnedSemaphorePermit>);

impl Turns {
    /// Allows `at_once` permits, and up to `waiting` callers in the queue.
    pub fn new(at_once: usize, waiting: usize) -> Self {
        Self { running: Arc::new(Semaphore::new(at_once)), waiting: Arc::new(Semaphore::new(waiting)) }
    }

    /// Gets a permit, within [`COMPUTATION_WAIT_SECONDS`].
    ///
    /// # Errors
    /// `unavailable` if the queue is full, or no permit becomes free in time.
    pub async fn take(&self) -> Result<Turn> {
        if let Ok(turn) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(Turn(Arc::new(turn)));
        }
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let patience = Duration::from_secs(COMPUTATION_WAIT_SECONDS);
        let turn = tokio::time::timeout(patience, Arc::clone(&self.running).acquire_owned()).await;
        Ok(Turn(Arc::new(turn.map_err(|_| busy())?.map_err(Error::internal)?)))
    }

    /// Runs `work` on a blocking thread, as soon as there is a permit.
    ///
    /// # Errors
    /// Same as [`Turns::take`].
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let turn = self.take().await?;
        let work = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

fn busy() -> Error {
    Error::new(Kind::Unavailable, "the server is overloaded; try again in a few seconds")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use base::Timestamp;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn orgs_take_turns() {
        const MANY: usize = 200;
        let (busy, other) = (OrgId::new(Timestamp::from_ms(1)), OrgId::new(Timestamp::from_ms(2)));
        let (open, done) = (Arc::new(std::sync::Barrier::new(processors() + 1)), Arc::new(Mutex::new(Vec::new())));
        let mut tasks = tokio::task::JoinSet::new();
        // The first ones occupy every processor before the others come, and many more queue behind them.
        let (hold, mut held) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..processors() {
            let (open, hold) = (Arc::clone(&open), hold.clone());
            let work = move || {
                hold.send(()).unwrap();
                open.wait();
            };
            tasks.spawn(async move { compute(&busy, work).await });
        }
        for _ in 0..processors() {
            held.recv().await.unwrap();
        }
        for name in std::iter::repeat_n("busy", MANY).chain(["other"]) {
            let (done, org) = (Arc::clone(&done), if name == "busy" { busy } else { other });
            tasks.spawn(async move { compute(&org, move || done.lock().unwrap().push(name)).await });
        }
        let all_wait = || {
            let queues = ORGS.0.lock().unwrap();
            let count = |org| queues.get(org).map_or(0, |queue| queue.count);
            let other_waits = COMPUTATIONS.waiting.available_permits() < COMPUTATIONS_WAITING_MAX;
            (count(&busy), count(&other)) == (processors() + MANY, 1) && other_waits
        };
        while !all_wait() {
            tokio::task::yield_now().await;
        }
        tokio::task::spawn_blocking(move || open.wait()).await.unwrap();
        tasks.join_all().await.into_iter().for_each(|outcome| outcome.unwrap());
        let place = done.lock().unwrap().iter().position(|name| *name == "other").unwrap();
        assert!(place < MANY / 2, "it came after {place} of the {MANY} queued before it");
        assert!(!ORGS.0.lock().unwrap().contains_key(&busy));
    }

    #[tokio::test(start_paused = true)]
    async fn excess_work_queues_and_a_full_queue_refuses() {
        let computations = Turns::new(1, 1);
        let (release, blocked) = mpsc::channel::<()>();
        let mut first = std::pin::pin!(computations.run(move || blocked.recv().is_ok()));
        assert!(futures_util::poll!(first.as_mut()).is_pending());
        let mut second = std::pin::pin!(computations.run(|| 2));
        assert!(futures_util::poll!(second.as_mut()).is_pending());
        let refused = |outcome: Result<i32>| outcome.unwrap_err().kind() == Kind::Unavailable;
        assert!(refused(computations.run(|| 3).await), "one runs and one waits");
        tokio::time::advance(Duration::from_secs(COMPUTATION_WAIT_SECONDS + 1)).await;
        assert!(refused(second.await), "it waited long enough");
        release.send(()).unwrap();
        assert!(first.await.unwrap());
        assert_eq!(computations.run(|| 4).await.unwrap(), 4);
    }
}
