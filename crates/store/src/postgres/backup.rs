//! Backups on PostgreSQL: a backup reads in one snapshot transaction, and a restore is one transaction.

use std::collections::HashSet;
use std::pin::Pin;
use std::time::Duration;

use base::{Error, Kind, Result};
use deadpool_postgres::Object;
use tokio::runtime::Handle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use super::{Session, reachable_pool};
use crate::backup::{
    DROP_TABLE, LoadWork, POSTGRES_COLUMNS, POSTGRES_PATIENCE, POSTGRES_TABLES, Snapshot, Table, Target, copy_into, count, empty,
    select_all,
};
use crate::faults::Faults;
use crate::migrate;
use crate::param::Param;
use crate::row::Row;
use crate::{Tx, sql};

/// The application name of a backup or a restore.
const NAME: &str = "toolcrib-backup";
/// How often, and how far apart, to check for servers that have just stopped.
const GONE_TRIES: u32 = 30;
const GONE_PAUSE: Duration = Duration::from_millis(100);
static NO_FAULTS: Faults = Faults::NONE;
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const BEGIN_LOAD: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Runs `work` on a snapshot of the database, unaffected by concurrent writes.
pub(crate) fn snapshot(url: &str, runtime: &Handle, work: &mut dyn FnMut(&mut dyn Snapshot) -> Result<()>) -> Result<()> {
    let session = session(url, runtime)?;
    session.transact(BEGIN_SNAPSHOT, &mut |_| {
        session.batch(POSTGRES_PATIENCE)?;
        work(&mut Still { session: &session })
    })
}

/// Runs `work` on an empty database, and keeps the result if it returns `Ok`.
pub(crate) fn load(url: &str, runtime: &Handle, replace: bool, work: &mut LoadWork<'_>) -> Result<()> {
    let session = session(url, runtime)?;
    refuse_servers(&session)?;
    session.transact(BEGIN_LOAD, &mut |tx| {
        session.batch(POSTGRES_PATIENCE)?;
        tx.query(sql::LOCK_MIGRATIONS, &[], |_| Ok(()))?;
        make_room(&session, tx, replace)?;
        work(&mut Filling { session: &session, copy: None })
    })
}

fn session(url: &str, runtime: &Handle) -> Result<Session> {
    let client: Object = runtime.block_on(async {
        let pool = reachable_pool(url, NAME, 1, false).await?;
        pool.get().await.map_err(Error::unavailable)
    })?;
    Ok(Session::new(client, runtime.clone(), Faults::NONE))
}

/// Keeps servers out until this session ends, and refuses a database with a connected server. A server that has just stopped
/// gets a moment to disconnect.
fn refuse_servers(session: &Session) -> Result<()> {
    for _ in 0..GONE_TRIES {
        let rows = session.query(sql::TRY_LOCK_OUT_SERVERS, &[])?;
        let alone = rows.first().map(|row| row.try_get::<_, bool>("locked")).transpose().map_err(Error::internal)?;
        if alone == Some(true) {
            return Ok(());
        }
        std::thread::sleep(GONE_PAUSE);
    }
    let words = "a server is connected to the database; stop every server that uses it and try again";
    Err(Error::new(Kind::Conflict, words))
}

/// Refuses a database with data, or drops our tables if `replace` is set.
fn make_room(session: &Session, tx: &mut Tx<'_>, replace: bool) -> Result<()> {
    let there: HashSet<String> = tx.query(POSTGRES_TABLES, &[], |row| row.get::<String>("name"))?.into_iter().collect();
    let ours: Vec<_> = migrate::tables().chain(["schema_versions"]).filter(|name| there.contains(*name)).collect();
    if ours.is_empty() {
        return Ok(());
    }
    if !replace {
        let words = "the database already has Toolcrib data; use an empty database, or pass --replace to delete that data";
        return Err(Error::new(Kind::Conflict, words));
    }
    if there.contains("schema_versions") {
        let found = tx.first(sql::NEWEST_SCHEMA_VERSION, &[], |row| row.get::<Option<i64>>("version"))?.flatten().unwrap_or(0);
        if found > migrate::SCHEMA_VERSION {
            // A newer database may have tables that this release does not know.
            return Err(migrate::newer_release(found));
        }
    }
    for name in ours {
        session.batch(&format!("{DROP_TABLE}{name}"))?;
    }
    Ok(())
}

fn tables(session: &Session) -> Result<Vec<Table>> {
    let names = session.query(POSTGRES_TABLES, &[])?;
    let names = names.iter().map(|row| Row::postgres(row).get("name")).collect::<Result<Vec<String>>>()?;
    let known: HashSet<_> = migrate::tables().chain(["schema_versions"]).collect();
    let describe = |name: String| {
        let columns = session.query(POSTGRES_COLUMNS, &crate::params![name])?;
        let described = columns.iter().map(|row| Table::column_from_row(&Row::postgres(row))).collect::<Result<_>>()?;
        Table::new(name, described)
    };
    // Other applications may share the database.
    names.into_iter().filter(|name| known.contains(name.as_str())).map(describe).collect()
}

/// A database in a transaction that sees no later changes.
struct Still<'s> {
    session: &'s Session,
}

impl Snapshot for Still<'_> {
    fn tables(&mut self) -> Result<Vec<Table>> {
        tables(self.session)
    }

    fn schema_version(&mut self) -> Result<i64> {
        let rows = self.session.query(sql::NEWEST_SCHEMA_VERSION, &[])?;
        let version = rows.first().map(|row| Row::postgres(row).get::<Option<i64>>("version")).transpose()?;
        Ok(version.flatten().unwrap_or(0))
    }

    fn rows(&mut self, table: &Table, each: &mut dyn FnMut(&[Param<'_>]) -> Result<()>) -> Result<()> {
        self.session.stream(&select_all(table), &mut |row| each(&values(row)?))
    }
}

fn values(row: &tokio_postgres::Row) -> Result<Vec<Param<'_>>> {
    let value = |(index, column): (usize, &tokio_postgres::Column)| {
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index).map(|value| value.map(Param::Int)),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(index).map(|value| value.map(Param::Real)),
            Type::TEXT => row.try_get::<_, Option<&str>>(index).map(|value| value.map(Param::Text)),
            Type::BYTEA => row.try_get::<_, Option<&[u8]>>(index).map(|value| value.map(Param::Bytes)),
            ref other => return Err(Error::internal(format_args!("`{}` has the type {other}", column.name()))),
        };
        value.map(|value| value.unwrap_or(Param::Null)).map_err(Error::internal)
    };
    row.columns().iter().enumerate().map(value).collect()
}

/// A database that is being filled.
struct Filling<'s> {
    session: &'s Session,
    copy: Option<Pin<Box<BinaryCopyInWriter>>>,
}

impl Target for Filling<'_> {
    fn tx(&mut self) -> Tx<'_> {
        Tx::postgres(self.session, &NO_FAULTS)
    }

    fn tables(&mut self) -> Result<Vec<Table>> {
        tables(self.session)
    }

    fn begin_table(&mut self, table: &Table) -> Result<()> {
        self.session.batch(&empty(table))?;
        let types = self.session.types(&select_all(table))?;
        self.copy = Some(self.session.copy_in(&copy_into(table), &types)?);
        Ok(())
    }

    fn row(&mut self, values: &[Param<'_>]) -> Result<()> {
        let copy = self.copy.as_mut().ok_or_else(|| Error::internal("no table is open"))?;
        self.session.copy_row(copy, values)
    }

    fn end_table(&mut self, table: &Table) -> Result<u64> {
        let copy = self.copy.take().ok_or_else(|| Error::internal("no table is open"))?;
        self.session.end_copy(copy)?;
        let rows = self.session.query(&count(table), &[])?;
        let found = rows.first().map(|row| Row::postgres(row).get::<i64>("count")).transpose()?;
        Ok(found.unwrap_or(0).unsigned_abs())
    }
}
