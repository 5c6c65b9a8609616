//! Hooks. In memory, subscribers of the bus see each call as it happens, with its arguments, and must be quick. The relay reads the
//! audit trail afterwards and reliably updates tasks and costs and delivers webhooks. Neither can delay or fail a call.

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
