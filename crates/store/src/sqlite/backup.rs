//! Backups on SQLite: a backup reads in a transaction on a separate connection, while the server writes.

use std::path::Path;

use base::{Error, Kind, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::{connect, from_sqlite};
use crate::backup::{LoadWork, SQLITE_COLUMNS, SQLITE_TABLES, Snapshot, Table, Target, count, empty, insert_into, select_all};
use crate::faults::Faults;
use crate::param::Param;
use crate::{Tx, sql};

static NO_FAULTS: Faults = Faults::NONE;

/// Runs `work` on a snapshot of the database, unaffected by concurrent writes.
pub(crate) fn snapshot(path: &Path, work: &mut dyn FnMut(&mut dyn Snapshot) -> Result<()>) -> Result<()> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|error| unreadable(path, &error))?;
    let moment = connection.unchecked_transaction().map_err(from_sqlite)?;
    // The first read fixes the snapshot.
    let mut still = Still { connection: &moment };
    still.tables().map_err(|error| unreadable(path, &error))?;
    work(&mut still)
}

/// Runs `work` on a new database at `path`. If it returns `Ok`, the result is kept and on disk. A file left behind by a failure
/// is worthless.
pub(crate) fn load(path: &Path, work: &mut LoadWork<'_>) -> Result<()> {
    let connection = connect(path, OpenFlags::default())?;
    // Nobody uses the file before it is complete, so it needs no log, and one sync at the end is enough.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;").map_err(from_sqlite)?;
    let transaction = connection.unchecked_transaction().map_err(from_sqlite)?;
    work(&mut Filling { connection: &transaction, insert: String::new() })?;
    transaction.commit().map_err(from_sqlite)?;
    connection.execute_batch("PRAGMA journal_mode = WAL;").map_err(from_sqlite)?;
    connection.close().map_err(|(_, error)| from_sqlite(error))?;
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|error| Error::new(Kind::Unavailable, format!("`{}` cannot be written: {error}", path.display())))
}

fn unreadable(path: &Path, error: &Error) -> Error {
    let log = error.log().unwrap_or_default();
    Error::new(Kind::Unavailable, format!("the database `{}` cannot be read: {log}", path.display()))
}

fn tables(connection: &Connection) -> Result<Vec<Table>> {
    let names = super::query(connection, SQLITE_TABLES, &[], &mut |row| row.get::<String>("name"))?;
    let describe = |name: String| {
        let described = super::query(connection, SQLITE_COLUMNS, &crate::params![name], &mut Table::column_from_row)?;
        Table::new(name, described)
    };
    names.into_iter().map(describe).collect()
}

/// A database in a transaction that sees no later changes.
struct Still<'c> {
    connection: &'c Connection,
}

impl Snapshot for Still<'_> {
    fn tables(&mut self) -> Result<Vec<Table>> {
        tables(self.connection)
    }

    fn schema_version(&mut self) -> Result<i64> {
        let found = super::query(self.connection, sql::NEWEST_SCHEMA_VERSION, &[], &mut |row| row.get::<Option<i64>>("version"))?;
        Ok(found.into_iter().next().flatten().unwrap_or(0))
    }

    fn rows(&mut self, table: &Table, each: &mut dyn FnMut(&[Param<'_>]) -> Result<()>) -> Result<()> {
        let mut statement = self.connection.prepare(&select_all(table)).map_err(from_sqlite)?;
        let mut rows = statement.query([]).map_err(from_sqlite)?;
        while let Some(row) = rows.next().map_err(from_sqlite)? {
            let value = |index| value(row.get_ref(index).map_err(from_sqlite)?, table);
            each(&(0..table.columns.len()).map(value).collect::<Result<Vec<_>>>()?)?;
        }
        Ok(())
    }
}

fn value<'r>(value: ValueRef<'r>, table: &Table) -> Result<Param<'r>> {
    Ok(match value {
        ValueRef::Null => Param::Null,
        ValueRef::Integer(value) => Param::Int(value),
        ValueRef::Real(value) => Param::Real(value),
        ValueRef::Text(value) => Param::Text(
            std::str::from_utf8(value).map_err(|error| Error::internal(format_args!("a text of `{}`: {error}", table.name)))?,
        ),
        ValueRef::Blob(value) => Param::Bytes(value),
    })
}

/// A database that is being filled.
struct Filling<'c> {
    connection: &'c Connection,
    insert: String,
}

impl Target for Filling<'_> {
    fn tx(&mut self) -> Tx<'_> {
        Tx::sqlite(self.connection, &NO_FAULTS)
    }

    fn tables(&mut self) -> Result<Vec<Table>> {
        tables(self.connection)
    }

    fn begin_table(&mut self, table: &Table) -> Result<()> {
        self.connection.execute_batch(&empty(table)).map_err(from_sqlite)?;
        self.insert = insert_into(table);
        Ok(())
    }

    fn row(&mut self, values: &[Param<'_>]) -> Result<()> {
        super::execute(self.connection, &self.insert, values).map(drop)
    }

    fn end_table(&mut self, table: &Table) -> Result<u64> {
        let found = super::query(self.connection, &count(table), &[], &mut |row| row.get::<i64>("count"))?;
        Ok(found.into_iter().next().unwrap_or(0).unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::{restore, save};
    use crate::{SCHEMA_VERSION, StoreConfig};
    use base::{Clock, Timestamp};

    /// A database as an older release left it.
    fn older(path: &Path, version: i64) {
        let connection = connect(path, OpenFlags::default()).unwrap();
        crate::migrate::migrate_to(version, &mut Tx::sqlite(&connection, &NO_FAULTS), &Clock::system()).unwrap();
        let put = "INSERT INTO orgs (org_id, name, slug, plan_has_graph, created_at) VALUES ('org_1', 'a', 'a', 0, 1)";
        connection.execute_batch(put).unwrap();
    }

    #[tokio::test]
    async fn restoring_migrates_a_backup_of_an_older_release() {
        let folder = tempfile::tempdir().unwrap();
        let config = |name: &str| StoreConfig::Sqlite { path: folder.path().join(name) };
        let (runtime, clock) = (tokio::runtime::Handle::current(), Clock::system());
        for version in 1..SCHEMA_VERSION {
            let (old, new) = (format!("old-{version}"), format!("new-{version}"));
            older(&folder.path().join(&old), version);
            let about = ("test", Timestamp::from_ms(0));
            let (saved, bytes) = save(&config(&old), &runtime, about, &[], Vec::new(), &mut |_, _| Ok(())).unwrap();
            assert_eq!(saved.header.schema, version);
            let done = restore(&config(&new), &runtime, &clock, false, bytes.as_slice(), &mut []).unwrap();
            assert_eq!(done.schema, SCHEMA_VERSION);
            let (again, _) = save(&config(&new), &runtime, about, &[], Vec::new(), &mut |_, _| Ok(())).unwrap();
            assert_eq!(again.header.schema, SCHEMA_VERSION);
            assert_eq!(again.sections.iter().find(|section| section.name == "orgs").unwrap().count, 1);
        }
    }
}
