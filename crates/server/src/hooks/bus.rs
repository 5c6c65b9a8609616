//! The hook bus. Subscribers are fixed at the start and called one after another, on the call's own thread.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use super::event::VerbEvent;

/// A subscriber of the hook bus.
pub trait Subscriber: Send + Sync {
    /// Handles one event. The call waits for it, so only count, set a flag, or send to a channel without blocking.
    fn on(&self, event: &VerbEvent<'_>);
}

/// The subscribers that a server is started with.
#[derive(Clone, Default)]
pub struct Subscribers(pub Vec<Arc<dyn Subscriber>>);

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} subscriber(s)", self.0.len())
    }
}

/// The bus of one server.
pub(crate) struct Bus {
    subscribers: Vec<Arc<dyn Subscriber>>,
    panics: Counter,
}

impl Bus {
    /// Creates a bus that counts panics of its subscribers in `panics`.
    pub(crate) fn new(subscribers: Vec<Arc<dyn Subscriber>>, panics: Counter) -> Self {
        Self { subscribers, panics }
    }

    /// Sends an event to all subscribers. A panic in one affects neither the call nor the others.
    pub(crate) fn emit(&self, event: &VerbEvent<'_>) {
        for subscriber in &self.subscribers {
            if catch_unwind(AssertUnwindSafe(|| subscriber.on(event))).is_err() {
                self.panics.inc();
                tracing::error!(phase = event.phase.word(), verb = event.verb, "hook bus subscriber panicked");
            }
        }
    }
}
