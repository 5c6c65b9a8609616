//! A private PostgreSQL server for the test process. It starts on first use and stops with the process.
//!
//! It needs PostgreSQL 15 or newer. If it is missing, root installs the Debian package automatically; for other users, the test
//! fails with the command to run.

mod programs;
mod server;

use std::sync::OnceLock;

pub use server::{Server, Settings};

/// Creates an empty database in this process's server and returns its URL. Works in sync and async tests.
pub fn fresh_database() -> String {
    shared().fresh_database()
}

/// This process's server, started by the first caller.
pub fn shared() -> &'static Server {
    // Statics are never dropped. The server stops with the process; see `server`.
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&Settings::default()))
}
