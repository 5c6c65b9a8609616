//! The graph beside programs that answer the same in the simplest way, and beside one that others wrote.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod histories;
mod model;
mod networkx;
mod random;
mod walks;
