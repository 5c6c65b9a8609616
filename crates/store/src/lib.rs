//! The store: SQLite on one machine, PostgreSQL for several, one SQL text for both.
//!
//! Code that works on rows is a plain synchronous closure over a [`Tx`]. On SQLite the writes of all callers run on one thread
//! and share commits, and reads run on the caller's thread. On PostgreSQL each closure gets a pooled connection. An org's rows
//! are accessed through an [`OrgStore`], which binds the org as `?1` of every statement: a query that forgets its tenant has
//! the wrong number of parameters and fails.
//!
//! SQL texts use `?1 … ?n`, are only in `sql.rs` files, and use only what both engines support: ids and JSON as TEXT, times as
//! BIGINT milliseconds, flags as BIGINT 0 or 1, `ON CONFLICT`, `RETURNING`, no engine functions. This crate never decides who
//! may see a row; `guard` does.

pub mod backup;
mod changes;
mod compute;
mod faults;
mod kept;
mod migrate;
mod param;
mod postgres;
mod row;
mod scoped;
mod seal;
mod sql;
mod sqlite;
mod store;
mod tx;

pub use compute::{Turn, Turns, compute, compute_policies, wait_for_another};
pub use faults::Faults;
pub use migrate::SCHEMA_VERSION;
pub use param::{AsParam, Param};
pub use row::{Column, Row};
pub use scoped::{Change, OrgStore, OrgTx};
pub use seal::{Seal, Unrecorded};
pub use store::{Engine, Store, StoreConfig};
pub use tx::{Told, Tx};
