//! The integration tests: the real server, on both engines, through its real doors.
//!
//! A test starts a crib (a server), gives a tenant a session or an agent, sends requests and compares the answers. Tests of
//! signals, kill -9 and the command line start the binary as a process.

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
mod code;
mod code_api;
mod command_line;
mod conformance;
mod connect;
mod console;
mod decisions;
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
mod registered;
mod run;
mod session_door;
mod stdio;
mod streams;
