//! SQLite: reads on the caller's thread, and one writer thread whose callers share commits.

pub(crate) mod backup;
mod log_sync;
mod readers;
mod writer;

use std::path::Path;

use base::{Clock, Error, Kind, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement, TransactionBehavior, ffi};

use crate::changes::ChangeNumbers;
use crate::faults::Faults;
use crate::kept::{Kept, Written};
use crate::migrate::migrate;
use crate::param::Param;
use crate::row::Row;
use crate::tx::Tx;

pub(crate) use readers::Readers;
pub(crate) use writer::Writer;

/// An open database file.
pub(crate) struct Sqlite {
    pub(crate) readers: Readers,
    pub(crate) writer: Writer,
    pub(crate) changes: ChangeNumbers,
    pub(crate) kept: Kept,
    pub(crate) faults: Faults,
}

impl Sqlite {
    /// Opens or creates the file at `path` and migrates its schema.
    pub(crate) fn open(path: &Path, clock: &Clock, faults: Faults) -> Result<Self> {
        let mut connection = connect(path, OpenFlags::default())?;
        // Every commit waits for its fsync. Group commit makes that affordable.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").map_err(from_sqlite)?;
        // Immediate, so that if two processes start together, one waits instead of failing half-way.
        let migration = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(from_sqlite)?;
        migrate(&mut Tx::sqlite(&migration, &Faults::NONE), clock)?;
        migration.commit().map_err(from_sqlite)?;
        let changes = ChangeNumbers::new();
        let (log, written) = (log_sync::LogSync::start(path)?, Written::new());
        let writer = Writer::start(connection, changes.clone(), written.clone(), log, faults.clone())?;
        Ok(Self { readers: Readers::new(path), writer, changes, kept: Kept::new(written), faults })
    }
}

/// A connection with our settings.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags).map_err(from_sqlite)?;
    connection
        .execute_batch("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;")
        .map_err(from_sqlite)?;
    // Without this, the planner looks at the bound values, and a cached statement is compiled again whenever one of them
    // changes. That costs many times more than the statement itself.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(from_sqlite)?;
    // A checkpoint may lock the file for a moment. Nothing else competes for it.
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(from_sqlite)?;
    connection.set_prepared_statement_cache_capacity(256);
    Ok(connection)
}

pub(crate) fn query<T>(
    connection: &Connection,
    sql: &str,
    params: &[Param<'_>],
    map: &mut dyn FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    every_parameter_is_used(&statement, params)?;
    let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(from_sqlite)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(from_sqlite)? {
        items.push(map(&Row::sqlite(row))?);
    }
    Ok(items)
}

pub(crate) fn execute(connection: &Connection, sql: &str, params: &[Param<'_>]) -> Result<u64> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    every_parameter_is_used(&statement, params)?;
    let touched = statement.execute(rusqlite::params_from_iter(params)).map_err(from_sqlite)?;
    Ok(u64::try_from(touched).unwrap_or(u64::MAX))
}

/// For SQLite, a statement with `?2` but without `?1` has two parameters. A statement that forgets its org must fail here as on
/// PostgreSQL, which cannot infer the type of an unused parameter.
fn every_parameter_is_used(statement: &Statement<'_>, params: &[Param<'_>]) -> Result<()> {
    match (1..=params.len()).find(|index| statement.parameter_name(*index).is_none()) {
        Some(unused) => Err(Error::internal(format_args!("parameter ?{unused} is bound but not used"))),
        None => Ok(()),
    }
}

pub(crate) fn from_sqlite(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            Error::new(Kind::Unavailable, "the server's disk is full; nothing was changed").logged(error)
        }
        Some(ErrorCode::ConstraintViolation) if is_duplicate(&error) => {
            Error::new(Kind::Conflict, "it exists already").logged(error)
        }
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::NotADatabase
            | ErrorCode::DatabaseCorrupt,
        ) => Error::new(Kind::Unavailable, "the server cannot use its disk right now; nothing was changed").logged(error),
        _ => Error::internal(error),
    }
}

/// Whether a row with the same key exists. A missing value is our bug and not the caller's.
fn is_duplicate(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|cause| cause.extended_code);
    matches!(extended, Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_cached_statement_is_compiled_once() {
        let connection = connect(Path::new(":memory:"), OpenFlags::default()).unwrap();
        connection
            .execute_batch("CREATE TABLE notes (id TEXT PRIMARY KEY, at BIGINT); CREATE INDEX by_at ON notes (at);")
            .unwrap();
        let mut statement = connection.prepare("SELECT id FROM notes WHERE at < ?1 ORDER BY at DESC LIMIT ?2").unwrap();
        for at in 0..10 {
            assert!(!statement.exists([at, at]).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
