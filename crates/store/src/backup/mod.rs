//! Backups: every row of a store at one point in time, in one file that both engines can restore.
//!
//! The file is gzip with frames inside: a header, then sections (files, then tables), then an end that lists all sections with
//! their counts and checksums. A file without its end is not a backup. Rows are streamed, so neither a backup nor a restore
//! holds more than one row in memory. `docs/operating.md` describes backups for operators.

mod frames;
mod load;
mod read;
mod save;
mod sql;
mod table;
mod values;

pub use frames::{Header, Section, SectionKind};
pub use load::{Restored, restore};
pub use read::{Visitor, read};
pub use save::{Extra, Saved, Told, save};

pub(crate) use load::{Target, Work as LoadWork};
pub(crate) use save::Snapshot;
pub(crate) use sql::{
    DROP_TABLE, POSTGRES_COLUMNS, POSTGRES_PATIENCE, POSTGRES_TABLES, SQLITE_COLUMNS, SQLITE_TABLES, copy_into, count, empty,
    insert_into, select_all,
};
pub(crate) use table::Table;
