//! What follows from events. The audit trail is the outbox: it is durable and in order, and everything here reads it behind a
//! cursor. Nothing here stands in a call's way.
//!
//! Figures (tasks and costs) move their cursor in the transaction that writes them, so they count each call once. Webhooks move
//! theirs after the receiver has answered, so they get each event at least once.

mod delivery;
mod figures;
mod happened;
mod reports;
pub(crate) mod sql;
mod wake;
mod webhooks;

pub use delivery::{DueWebhook, Outbox, Settled, Step};
pub(crate) use figures::advance as advance_figures;
pub use happened::Happened;
pub use reports::{Cost, CostFilter, CostGroup, Figures, Task, TaskFilter, TaskState};
pub(crate) use wake::Wake;
pub use webhooks::{DeadLetter, NewWebhook, Webhook, WebhookChange, WebhookHealth, WebhookSecret, Webhooks};

/// The subscriber that writes tasks and costs.
pub(crate) const FIGURES: &str = "figures";
