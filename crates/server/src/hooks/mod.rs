//! The hook bus. In memory, subscribers see each call as it happens, arguments and all, and must be quick. What must not be lost,
//! the relay reads from the audit trail afterwards: tasks, costs and webhooks. Neither can delay or fail a call.

mod bus;
mod courier;
mod event;
mod message;
mod queue;
mod relay;
mod retry;

pub(crate) use bus::Bus;
pub use bus::{Subscriber, Subscribers};
pub(crate) use courier::Courier;
pub use event::{EventOutcome, Phase, VerbError, VerbEvent};
pub(crate) use message::messages;
pub(crate) use relay::Relay;
pub use retry::Retry;
