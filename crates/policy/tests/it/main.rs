//! The integration tests: policies as people write them, and decisions as the server requests them.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod random;
mod support;

mod checking;
mod differential;
mod documents;
mod fail_closed;
mod heads;
mod input;
mod listing;
mod nesting;
mod peers;
mod schema;
mod slicing;
