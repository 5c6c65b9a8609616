//! Processing of events. The audit trail is the outbox: durable and ordered, and read here behind cursors. Nothing here delays a call.
//!
//! Figures (tasks and costs) update their cursor in the same transaction, so they count each call once. Webhooks update theirs after
//! the receiver has answered, so they get each event at least once.

mod delivery;
mod figures;
mod happened;
mod performance;
mod phase;
mod reports;
pub(crate) mod sql;
mod wake;
mod webhooks;

pub use delivery::{DueWebhook, Outbox, Settled, Step};
pub(crate) use figures::advance as advance_figures;
pub use happened::Happened;
pub use performance::{Performance, ToolPerformance};
pub use phase::{HookPhase, SUBSCRIBABLE, is_subscribable, subscribable};
pub use reports::{Cost, CostFilter, CostGroup, Figures, Task, TaskFilter, TaskState};
pub(crate) use wake::Wake;
pub use webhooks::{DeadLetter, NewWebhook, Webhook, WebhookChange, WebhookHealth, WebhookSecret, Webhooks};

/// The subscriber that writes tasks and costs.
pub(crate) const FIGURES: &str = "figures";
