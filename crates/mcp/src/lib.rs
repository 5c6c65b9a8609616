//! The MCP wire protocol of both eras on one URL: *legacy* (2024-11-05 to 2025-11-25, with an `initialize` handshake) and
//! *modern* (2026-07-28, with self-contained requests).
//!
//! ```text
//!  bytes ─▶ message::parse ─▶ Request ─▶ era::admit ─▶ Admitted ─▶ (the dispatcher) ─▶ reply::result ─▶ bytes
//!                 │                          │                            │
//!              Refusal                    Refused                       Fault ─▶ codes::Speaker ─▶ reply::error
//! ```
//!
//! This crate defines the messages and their format. It does no I/O, spawns no tasks, does not know the caller, and does not
//! parse a body that it only passes on: ids, params and arguments stay as the caller's raw text.

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
