//! Writing a backup.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use base::{Error, Kind, Result, Timestamp};
use tokio::runtime::Handle;

use super::frames::{DATA, END, FILE, FORMAT, FrameWriter, HEADER, ROW, SECTION_END, TABLE, TableHead, Tally};
use super::table::{Table, in_order};
use super::{Header, Section, SectionKind, values};
use crate::migrate::{SCHEMA_VERSION, newer_release};
use crate::param::Param;
use crate::{StoreConfig, postgres, sqlite};

/// The number of rows between two progress reports.
const TOLD_EVERY: u64 = 1_000;
/// Receives each table's name and how many of its rows are done. An error ends the backup.
pub type Told<'t> = dyn FnMut(&str, u64) -> Result<()> + 't;
/// The number of bytes of a file that are copied at once.
const PIECE_BYTES: usize = 64 * 1024;

/// A store that does not change while it is read.
pub(crate) trait Snapshot {
    /// The tables of the database.
    fn tables(&mut self) -> Result<Vec<Table>>;
    /// The schema version of its rows.
    fn schema_version(&mut self) -> Result<i64>;
    /// Every row of a table, in primary key order.
    fn rows(&mut self, table: &Table, each: &mut dyn FnMut(&[Param<'_>]) -> Result<()>) -> Result<()>;
}

/// A file that is backed up in addition to the rows, up to the length that it had when the backup started.
#[derive(Clone, Debug)]
pub struct Extra {
    /// Its name in the backup.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// The number of bytes to save.
    pub bytes: u64,
}

/// A written backup.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Its header.
    pub header: Header,
    /// Its content.
    pub sections: Vec<Section>,
}

/// Writes the content of a store at one point in time to `out`, without blocking writers. It includes everything that was
/// acknowledged before this call. This blocks, so do not call it on a thread that serves requests.
pub fn save<W: Write>(
    config: &StoreConfig,
    runtime: &Handle,
    (release, made_at): (&str, Timestamp),
    extras: &[Extra],
    out: W,
    told: &mut Told<'_>,
) -> Result<(Saved, W)> {
    let engine = match config {
        StoreConfig::Sqlite { .. } => "sqlite",
        StoreConfig::Postgres { .. } => "postgres",
    };
    let header = |schema| Header { format: FORMAT, release: release.to_owned(), schema, engine: engine.to_owned(), made_at };
    let mut written = None;
    let mut out = Some(out);
    let mut work = |snapshot: &mut dyn Snapshot| {
        let out = out.take().ok_or_else(|| Error::internal("a backup is written once"))?;
        written = Some(write_all(snapshot, &header, extras, out, told)?);
        Ok(())
    };
    match config {
        StoreConfig::Sqlite { path } => sqlite::backup::snapshot(path, &mut work)?,
        StoreConfig::Postgres { url } => postgres::backup::snapshot(url, runtime, &mut work)?,
    }
    written.ok_or_else(|| Error::internal("no backup was written"))
}

fn write_all<W: Write>(
    snapshot: &mut dyn Snapshot,
    header: &dyn Fn(i64) -> Header,
    extras: &[Extra],
    out: W,
    told: &mut Told<'_>,
) -> Result<(Saved, W)> {
    let tables = snapshot.tables()?;
    let schema = if tables.iter().any(|table| table.name == "schema_versions") { snapshot.schema_version()? } else { 0 };
    if schema == 0 {
        return Err(Error::new(Kind::NotFound, "the database has no Toolcrib data; no server was ever started on it"));
    }
    if schema > SCHEMA_VERSION {
        return Err(newer_release(schema));
    }
    let header = header(schema);
    let mut writer = Writer { out: FrameWriter::new(out), tally: Tally::default() };
    let payload = to_json(&header)?;
    writer.tally.header(&payload);
    writer.out.frame(HEADER, &payload)?;
    for extra in extras {
        writer.file(extra)?;
    }
    for table in in_order(tables) {
        writer.table(snapshot, &table, told)?;
    }
    let end = writer.tally.end().ok_or_else(|| Error::internal("a section is open"))?;
    writer.out.frame(END, &to_json(&end)?)?;
    Ok((Saved { header, sections: end.sections }, writer.out.finish()?))
}

struct Writer<W: Write> {
    out: FrameWriter<W>,
    tally: Tally,
}

impl<W: Write> Writer<W> {
    fn table(&mut self, snapshot: &mut dyn Snapshot, table: &Table, told: &mut Told<'_>) -> Result<()> {
        let head = to_json(&TableHead { name: table.name.clone(), columns: table.columns.clone() })?;
        self.begin(SectionKind::Table, TABLE, &table.name, &head)?;
        told(&table.name, 0)?;
        let mut payload = Vec::new();
        snapshot.rows(table, &mut |row| {
            payload.clear();
            values::encode(row, &mut payload)?;
            self.add(SectionKind::Table, ROW, &payload)?;
            let rows = self.tally.rows();
            if rows.is_multiple_of(TOLD_EVERY) {
                told(&table.name, rows)?;
            }
            Ok(())
        })?;
        told(&table.name, self.tally.rows())?;
        self.end_section()
    }

    fn file(&mut self, extra: &Extra) -> Result<()> {
        let failed = |error: std::io::Error| {
            Error::new(Kind::Unavailable, format!("cannot read `{}` for the backup: {error}", extra.path.display()))
        };
        self.begin(SectionKind::File, FILE, &extra.name, extra.name.as_bytes())?;
        let mut from = File::open(&extra.path).map_err(failed)?.take(extra.bytes);
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        loop {
            piece.clear();
            let most = u64::try_from(PIECE_BYTES).unwrap_or(u64::MAX);
            if from.by_ref().take(most).read_to_end(&mut piece).map_err(failed)? == 0 {
                return self.end_section();
            }
            self.add(SectionKind::File, DATA, &piece)?;
        }
    }

    fn begin(&mut self, kind: SectionKind, tag: u8, name: &str, payload: &[u8]) -> Result<()> {
        self.tally.begin(kind, name, payload).ok_or_else(|| Error::internal("a section is open"))?;
        self.out.frame(tag, payload)
    }

    fn add(&mut self, kind: SectionKind, tag: u8, payload: &[u8]) -> Result<()> {
        self.tally.add(kind, payload).ok_or_else(|| Error::internal("no section is open"))?;
        self.out.frame(tag, payload)
    }

    fn end_section(&mut self) -> Result<()> {
        let section = self.tally.end_section().ok_or_else(|| Error::internal("no section is open"))?;
        self.out.frame(SECTION_END, &to_json(section)?)
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::internal)
}
