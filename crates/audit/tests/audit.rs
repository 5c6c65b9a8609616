//! Tests of the format from outside: they write trails, tamper with them and verify them.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "audit/trail.rs"]
mod trail;

#[path = "audit/checkpoints.rs"]
mod checkpoints;
#[path = "audit/document.rs"]
mod document;
#[path = "audit/events.rs"]
mod events;
#[path = "audit/keys.rs"]
mod keys;
#[path = "audit/python.rs"]
mod python;
#[path = "audit/retention.rs"]
mod retention;
#[path = "audit/tampering.rs"]
mod tampering;
