//! A pool of read-only connections. Point reads take a few microseconds, so they run on the caller's thread.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::{Error, Result};
use rusqlite::{Connection, OpenFlags};

use super::connect;

/// The number of idle connections to keep. More are opened if more threads read at once.
const KEPT: usize = 8;

pub(crate) struct Readers {
    path: PathBuf,
    /// `None` once the store is closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), idle: Mutex::new(Some(Vec::new())) }
    }

    /// Runs `read` with exclusive use of a connection.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let pooled = match &mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(idle) => idle.pop(),
            None => return Err(Error::unavailable("the store is closed")),
        };
        let connection = match pooled {
            Some(connection) => connection,
            None => connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?,
        };
        let outcome = read(&connection);
        if let Some(idle) = &mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner)
            && idle.len() < KEPT
        {
            idle.push(connection);
        }
        outcome
    }

    /// Runs `read` on one snapshot of the whole database.
    pub(crate) fn snapshot<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.with(|connection| {
            let snapshot = connection.unchecked_transaction().map_err(super::from_sqlite)?;
            read(&snapshot)
        })
    }

    /// Closes the idle connections and refuses later reads.
    pub(crate) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
