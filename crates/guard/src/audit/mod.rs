//! The audit trail of an org: gapless, chained and signed. The crate `audit` defines the format; this module stores the rows.
//!
//! Nothing here decides whether something may happen. It only records what happened, in the same transaction if there is one.

mod entry;
mod event;
mod keys;
mod ledger;
mod list;
mod prune;
mod read;
mod restored;
pub(crate) mod sql;

pub(crate) use entry::{EntryRow, entry_from_row};
pub(crate) use event::By;
pub use event::Event;
pub use keys::AuditKey;
pub(crate) use keys::{jwk_of, place_of};
pub(crate) use ledger::Ledger;
pub use list::AuditFilter;
pub use prune::Pruned;
pub use read::{Audit, AuditEntry, Extent};
