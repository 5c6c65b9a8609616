//! Readiness of the server. Anyone may ask at any rate, so the result is cached for a while.

use std::time::{Duration, Instant};

use base::limits::READINESS_KEPT_MS;
use base::{Error, Result};
use guard::Guard;
use tokio::sync::Mutex;

/// The cached result.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<Found>>);

#[derive(Clone, Copy)]
struct Found {
    at: Instant,
    ready: bool,
}

impl Readiness {
    /// Fails if the store cannot be read and written, because then no call can be audited. Concurrent callers share one check.
    pub(crate) async fn check(&self, guard: &Guard) -> Result<()> {
        let mut found = self.0.lock().await;
        match *found {
            Some(Found { at, ready }) if at.elapsed() < Duration::from_millis(READINESS_KEPT_MS) => {
                if ready {
                    Ok(())
                } else {
                    Err(Error::unavailable("not ready"))
                }
            }
            _ => {
                // Whatever the reason, the caller only learns that the server is not ready.
                let answer = guard.ready().await.map_err(Error::unavailable);
                *found = Some(Found { at: Instant::now(), ready: answer.is_ok() });
                answer
            }
        }
    }
}
