//! A PostgreSQL of the test process's own: started when a test first asks, gone with the process.
//!
//! It needs the programs of PostgreSQL 15 or newer. Where they are missing, root installs the Debian package; anyone else
//! is told the command to run.

mod programs;
mod server;

use std::sync::OnceLock;

pub use server::{Server, Settings};

/// The url of a new, empty database in this process's server. It may be called from synchronous and asynchronous tests.
pub fn fresh_database() -> String {
    shared().fresh_database()
}

/// This process's server, started by the first caller; the others wait for it.
pub fn shared() -> &'static Server {
    // Never dropped: the server follows the process, see `server`.
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&Settings::default()))
}
