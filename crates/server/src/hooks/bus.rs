//! The bus itself: subscribers are fixed at the start and told in turn, on the thread of the call.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use super::event::VerbEvent;

/// Someone who wants to know of calls as they happen.
pub trait Subscriber: Send + Sync {
    /// Told of one event. The call waits meanwhile: count, set a flag, send to a channel that never blocks, and no more.
    fn on(&self, event: &VerbEvent<'_>);
}

/// Those whom a server is started with.
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
    /// A bus whose subscribers' panics are counted in `panics`.
    pub(crate) fn new(subscribers: Vec<Arc<dyn Subscriber>>, panics: Counter) -> Self {
        Self { subscribers, panics }
    }

    /// Tells everyone. Whoever panics has had their turn; neither the call nor the others notice.
    pub(crate) fn emit(&self, event: &VerbEvent<'_>) {
        for subscriber in &self.subscribers {
            if catch_unwind(AssertUnwindSafe(|| subscriber.on(event))).is_err() {
                self.panics.inc();
                tracing::error!(phase = event.phase.word(), verb = event.verb, "a subscriber of the hook bus panicked");
            }
        }
    }
}
