//! What the tests share: a private PostgreSQL, a store on either engine, tests that run on each, and Node and
//! Python packages.
//!
//! Development only. Everything here fails by panicking with words that say what to do; nothing is ever skipped, because
//! a test that did not run looks like one that passed.

mod engine;
pub mod node;
pub mod postgres;
pub mod python;
mod store;

pub use engine::Engine;
pub use store::TestStore;
