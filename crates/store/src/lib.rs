//! The store: SQLite on one machine, PostgreSQL for several, one SQL text for both.
//!
//! Work on rows is written as plain synchronous closures over a [`Tx`]. On SQLite the writes of all callers run on one
//! thread and share commits; reads run where they are asked for. On PostgreSQL each closure gets a pooled connection.
//! An org's rows are reached through an [`OrgStore`], which binds the org as `?1` of every statement: a query that forgets
//! its tenant has the wrong number of parameters and fails.
//!
//! SQL texts use `?1 … ?n`, live in `sql.rs` files only, and keep to what both engines understand: ids and JSON as TEXT,
//! times as BIGINT milliseconds, switches as BIGINT 0 or 1, `ON CONFLICT`, `RETURNING`, no engine functions.
//! This crate never decides who may see a row; that is `guard`'s.

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

pub use compute::{compute, wait_for_another};
pub use faults::Faults;
pub use migrate::SCHEMA_VERSION;
pub use param::{AsParam, Param};
pub use row::{Column, Row};
pub use scoped::{OrgStore, OrgTx};
pub use seal::Seal;
pub use store::{Engine, Store, StoreConfig};
pub use tx::{Told, Tx};
