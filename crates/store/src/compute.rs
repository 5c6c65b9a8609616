//! Work that keeps a processor busy runs on threads of its own, at most as many at once as the machine has processors. More work waits
//! for its turn, and more than may wait is refused: a flood costs time, not threads and memory.

use std::sync::LazyLock;
use std::time::Duration;

use base::limits::{COMPUTATION_WAIT_SECONDS, COMPUTATIONS_WAITING_MAX};
use base::{Error, Kind, Result};
use tokio::sync::Semaphore;

/// All stores of a process share its processors.
static COMPUTATIONS: LazyLock<Computations> = LazyLock::new(|| {
    let processors =
        std::thread::available_parallelism().map_or(PROCESSORS_MIN, |processors| processors.get().max(PROCESSORS_MIN));
    Computations::new(processors, COMPUTATIONS_WAITING_MAX)
});

/// One long computation must not hold up all others.
const PROCESSORS_MIN: usize = 2;

/// Runs `work` on a thread that may block, when a processor is free for it.
///
/// # Errors
/// `unavailable` when too much work waits already, or no processor becomes free in time.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    COMPUTATIONS.run(work).await
}

/// Calls to other machines: they need a thread each, and no processor.
static WAITS: LazyLock<Computations> = LazyLock::new(|| Computations::new(WAITS_AT_ONCE, COMPUTATIONS_WAITING_MAX));

const WAITS_AT_ONCE: usize = 32;

/// Runs `work`, which mostly waits for another machine, on a thread that may block.
///
/// # Errors
/// `unavailable` when too much work waits already, or no thread becomes free in time.
pub async fn wait_for_another<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    WAITS.run(work).await
}

struct Computations {
    running: Semaphore,
    waiting: Semaphore,
}

impl Computations {
    fn new(at_once: usize, waiting: usize) -> Self {
        Self { running: Semaphore::new(at_once), waiting: Semaphore::new(waiting) }
    }

    async fn run<T: Send + 'static>(&'static self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let turn = match self.running.try_acquire() {
            Ok(turn) => turn,
            Err(_) => {
                let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
                let patience = Duration::from_secs(COMPUTATION_WAIT_SECONDS);
                tokio::time::timeout(patience, self.running.acquire()).await.map_err(|_| busy())?.map_err(Error::internal)?
            }
        };
        let work = move || {
            // The work runs on when its caller goes away, and so does its turn.
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

fn busy() -> Error {
    Error::new(Kind::Unavailable, "the server has more work than it can do right now: try again in a few seconds")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_beyond_the_processors_waits_and_work_beyond_that_is_refused() {
        let computations: &'static Computations = Box::leak(Box::new(Computations::new(1, 1)));
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
