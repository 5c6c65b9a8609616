//! The MCP wire protocol of both eras on one URL: *legacy* (2024-11-05 to 2025-11-25, an `initialize` handshake) and
//! *modern* (2026-07-28, every request stands alone).
//!
//! ```text
//!  bytes ─▶ message::parse ─▶ Request ─▶ era::admit ─▶ Admitted ─▶ (the dispatcher) ─▶ reply::result ─▶ bytes
//!                 │                          │                            │
//!              Refusal                    Refused                       Fault ─▶ codes::Speaker ─▶ reply::error
//! ```
//!
//! This crate knows what may be said and how. It never does I/O, never spawns, never asks who the caller is, and never
//! builds a tree of a body it only has to pass on: ids, params and arguments stay the caller's own text.

pub mod codes;
pub mod era;
pub mod fault;
pub mod message;
pub mod method;
pub mod model;
pub mod object;
pub mod reply;

pub use codes::{Failure, Speaker};
pub use era::{Admitted, Era, Refused, Transport};
pub use fault::Fault;
pub use message::{Id, Incoming, Message, Notification, Refusal, Request};
pub use method::Method;
pub use reply::{ServerInfo, Stamp};
