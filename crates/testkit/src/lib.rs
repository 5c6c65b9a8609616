//! Shared test helpers: a private PostgreSQL, stores and tests on both engines, and Node and Python packages.
//!
//! For development only. A missing requirement panics with a message that says what to do. Tests are never skipped, because a
//! skipped test looks like a passed one.

mod engine;
pub mod node;
pub mod postgres;
pub mod python;
mod store;

pub use engine::Engine;
pub use store::{TestStore, changing};
