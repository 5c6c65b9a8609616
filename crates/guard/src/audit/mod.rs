//! The audit trail: what happened in an org, gapless, chained and signed. The format is `audit`'s; this module keeps the rows.
//!
//! Nothing here decides whether something may happen. It only makes sure that what happened is on the record, in the same
//! transaction where there is one.

mod event;
mod keys;
mod ledger;
mod list;
mod prune;
mod read;
mod restored;
pub(crate) mod sql;

pub(crate) use event::By;
pub use event::Event;
pub use keys::AuditKey;
pub(crate) use keys::place_of;
pub(crate) use ledger::Ledger;
pub use list::AuditFilter;
pub use prune::Pruned;
pub use read::{Audit, AuditEntry, Extent};
