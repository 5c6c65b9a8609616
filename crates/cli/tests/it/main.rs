//! The one integration binary: the real server, on both engines, through its real doors.
//!
//! A test reads like a transcript: a crib is started, a tenant gets a session or an agent, requests go in, answers are
//! compared. What needs the binary itself (signals, kill -9, the command line) starts it as a process.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod menu;
mod support;

mod agent_door;
mod answers;
mod audit;
mod authorization;
mod backup;
mod batches;
mod bounds;
mod bricks_and_kits;
mod capabilities;
mod clients;
mod command_line;
mod conformance;
mod connect;
mod console;
mod durability;
mod edges;
mod embedder;
mod escalation;
mod examples;
mod graph;
mod guessing;
mod hooks;
mod leak;
mod limits;
mod management;
mod master_key;
mod memory;
mod modern;
mod openapi;
mod policy;
mod readme;
mod record;
mod refusals;
mod run;
mod session_door;
mod stdio;
mod streams;
