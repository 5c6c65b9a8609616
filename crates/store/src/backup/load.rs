//! Loading a backup into an empty store, all or nothing.

use std::collections::HashMap;
use std::io::BufRead;

use base::secret::{hex, random_bytes};
use base::{Clock, Error, Result};
use tokio::runtime::Handle;

use super::frames::damaged;
use super::table::Table;
use super::{Header, Saved, Section, SectionKind, Visitor, read};
use crate::migrate::{SCHEMA_VERSION, migrate_to};
use crate::param::Param;
use crate::{StoreConfig, Tx, postgres, sql, sqlite};

/// An empty store in a transaction that is kept only when everything went well.
pub(crate) trait Target {
    /// The transaction, for statements of our own.
    fn tx(&mut self) -> Tx<'_>;
    /// The tables of the database.
    fn tables(&mut self) -> Result<Vec<Table>>;
    /// Takes rows of a table from here on.
    fn begin_table(&mut self, table: &Table) -> Result<()>;
    /// A row of that table.
    fn row(&mut self, values: &[Param<'_>]) -> Result<()>;
    /// Ends that table and counts its rows.
    fn end_table(&mut self, table: &Table) -> Result<u64>;
}

/// What is done with a target before it is kept.
pub(crate) type Work<'w> = dyn FnMut(&mut dyn Target) -> Result<()> + 'w;

/// A backup that was restored.
#[derive(Clone, Debug)]
pub struct Restored {
    /// What it says of itself, and what was in it.
    pub saved: Saved,
    /// The schema after the restore.
    pub schema: i64,
}

/// Loads a backup, and migrates its rows to this release's schema. On SQLite the file must not exist; on PostgreSQL the database
/// must hold nothing of ours, unless `replace` is set, and no server may be connected. `visitors` see everything first, and an
/// error of theirs leaves everything as it was. It blocks: not for a thread that serves others.
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

/// Puts rows where they belong.
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
        // Each table once, and with exactly the columns that it has here: only names of our own schema reach a statement.
        let table = self.known.remove(name).ok_or_else(|| damaged(format_args!("there is no table `{name}`")))?;
        let (mut ours, mut theirs) = (table.columns.clone(), columns.to_vec());
        ours.sort();
        theirs.sort();
        if ours != theirs {
            return Err(damaged(format_args!("the table `{name}` has other columns")));
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
        let table = self.open.take().ok_or_else(|| damaged("a table ends that did not begin"))?;
        let found = self.target.end_table(&table)?;
        if found != section.count {
            let words = format!("`{}` has {found} rows after loading, and not {}", section.name, section.count);
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
