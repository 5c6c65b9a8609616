//! Whether the server can do its work: anyone may ask, so however often that is, it is found out once in a while.

use std::time::{Duration, Instant};

use base::limits::READINESS_KEPT_MS;
use base::{Error, Result};
use guard::Guard;
use tokio::sync::Mutex;

/// What was found out last.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<Found>>);

#[derive(Clone, Copy)]
struct Found {
    at: Instant,
    ready: bool,
}

impl Readiness {
    /// Fails when the store cannot be read and written, without which there is no record and so no call. Those who ask while it
    /// is being found out wait for the same answer.
    pub(crate) async fn check(&self, guard: &Guard) -> Result<()> {
        let mut found = self.0.lock().await;
        match *found {
            Some(Found { at, ready }) if at.elapsed() < Duration::from_millis(READINESS_KEPT_MS) => {
                if ready {
                    Ok(())
                } else {
                    Err(Error::unavailable("the server was not ready a moment ago"))
                }
            }
            _ => {
                // Whatever keeps the store from answering, for the caller it is not ready.
                let answer = guard.ready().await.map_err(Error::unavailable);
                *found = Some(Found { at: Instant::now(), ready: answer.is_ok() });
                answer
            }
        }
    }
}
