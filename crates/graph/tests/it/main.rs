//! Compares the graph with the simplest possible implementation and with networkx.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod components;
mod distances;
mod histories;
mod model;
mod networkx;
mod random;
mod shapes;
mod walks;
