//! Loading a backup into an empty store, all or nothing.

use std::collections::HashMap;
use std::io::BufRead;

use base::secret::{hex, random_bytes};
use base::{Clock, Error, Result};
use tokio::runtime::Handle;

use super::frames::damaged;
use super::sql::FORGET_INSTANCE_KEYS;
use super::table::Table;
use super::{Header, Saved, Section, SectionKind, Visitor, read};
use crate::migrate::{SCHEMA_VERSION, migrate_to};
use crate::param::Param;
use crate::{StoreConfig, Tx, postgres, sql, sqlite};

/// An empty store in a transaction that is kept only on success.
pub(crate) trait Target {
    /// The transaction, for other statements.
    fn tx(&mut self) -> Tx<'_>;
    /// The tables of the database.
    fn tables(&mut self) -> Result<Vec<Table>>;
    /// Begins to load rows into a table.
    fn begin_table(&mut self, table: &Table) -> Result<()>;
    /// Adds a row to that table.
    fn row(&mut self, values: &[Param<'_>]) -> Result<()>;
    /// Ends that table and returns how many rows it has.
    fn end_table(&mut self, table: &Table) -> Result<u64>;
}

/// Fills a target before it is kept.
pub(crate) type Work<'w> = dyn FnMut(&mut dyn Target) -> Result<()> + 'w;

/// A restored backup.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Its header and its content.
    pub saved: Saved,
    /// The schema after the restore.
    pub schema: i64,
}

/// Loads a backup, and migrates its rows to this release's schema. On SQLite the file must not exist. On PostgreSQL no server
/// may be connected, and the database must hold no data of ours unless `replace` is set. `visitors` see everything first, and
/// an error of theirs undoes the restore. This blocks, so do not call it on a thread that serves requests.
pub fn restore(
    config: &StoreConfig,
    runtime: &Handle,
    clock: &Clock,
    replace: bool,
    from: impl BufRead,
    visitors: &mut [&mut dyn Visitor],
) -> Result<Restored> {
    let mut saved = None;
    let mut from = Some(from);
    let mut work = |target: &mut dyn Target| {
        let from = from.take().ok_or_else(|| Error::internal("a backup is read once"))?;
        let mut loader = Loader { target, clock, known: HashMap::new(), open: None };
        let mut all: Vec<&mut dyn Visitor> = visitors.iter_mut().map(|visitor| &mut **visitor as &mut dyn Visitor).collect();
        all.push(&mut loader);
        let made_at = saved.insert(read(from, &mut all)?).header.made_at;
        migrate_to(SCHEMA_VERSION, &mut target.tx(), clock)?;
        // A key that was replaced since the backup must not work again. The server that starts on these rows adds its own key.
        target.tx().execute(FORGET_INSTANCE_KEYS, &[])?;
        let name = format!("{} {made_at}", hex(&random_bytes::<16>()));
        target.tx().execute(sql::REMEMBER_RESTORE, &crate::params![name]).map(drop)
    };
    match config {
        StoreConfig::Sqlite { path } => sqlite::backup::load(path, &mut work)?,
        StoreConfig::Postgres { url } => postgres::backup::load(url, runtime, replace, &mut work)?,
    }
    let saved = saved.ok_or_else(|| Error::internal("no backup was read"))?;
    Ok(Restored { saved, schema: SCHEMA_VERSION })
}

/// Loads rows into their tables.
struct Loader<'t> {
    target: &'t mut dyn Target,
    clock: &'t Clock,
    known: HashMap<String, Table>,
    open: Option<Table>,
}

impl Visitor for Loader<'_> {
    fn header(&mut self, header: &Header) -> Result<()> {
        migrate_to(header.schema, &mut self.target.tx(), self.clock)?;
        self.known = self.target.tables()?.into_iter().map(|table| (table.name.clone(), table)).collect();
        Ok(())
    }

    fn table(&mut self, name: &str, columns: &[String]) -> Result<()> {
        // Each table may come once, with exactly its columns. So only names of our own schema get into a statement.
        let table = self.known.remove(name).ok_or_else(|| damaged(format_args!("unknown table `{name}`")))?;
        let (mut ours, mut theirs) = (table.columns.clone(), columns.to_vec());
        ours.sort();
        theirs.sort();
        if ours != theirs {
            return Err(damaged(format_args!("the table `{name}` has the wrong columns")));
        }
        let table = Table { columns: columns.to_vec(), ..table };
        self.target.begin_table(&table)?;
        self.open = Some(table);
        Ok(())
    }

    fn row(&mut self, values: &[Param<'_>]) -> Result<()> {
        self.target.row(values)
    }

    fn section_end(&mut self, section: &Section) -> Result<()> {
        if section.kind != SectionKind::Table {
            return Ok(());
        }
        let table = self.open.take().ok_or_else(|| damaged("a table ends before it begins"))?;
        let found = self.target.end_table(&table)?;
        if found != section.count {
            let words = format!("`{}` has {found} rows after loading instead of {}", section.name, section.count);
            return Err(Error::internal(words));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        match self.known.keys().find(|name| *name != "schema_versions") {
            Some(name) => Err(damaged(format_args!("the table `{name}` is missing"))),
            None => Ok(()),
        }
    }
}
