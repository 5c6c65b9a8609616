//! Backups of a whole instance: its rows and the checkpoints of its audit trails, but no secrets. A backup can run beside the
//! server. A restore needs exclusive use of the data folder or the database.

mod checkpoint_files;
mod make;
mod restore;
mod swap;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use base::{Error, Kind, Result};
use guard::{BackupCheck, Trails};
use store::backup::{Header, Section, SectionKind, Told, Visitor};
use store::{Param, backup};

use crate::config::MasterKeySource;

pub use make::{BackedUp, back_up};
pub use restore::{Restore, RestoredInto, restore};
pub(crate) use swap::{Swap, remove, remove_database};

/// The read buffer. A large one saves system calls.
const BUFFER_BYTES: usize = 1 << 20;
/// Rows between two progress reports.
const TOLD_EVERY: u64 = 1_000;

/// A backup that was read to its end and is complete.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Its header.
    pub header: Header,
    /// Its contents.
    pub sections: Vec<Section>,
    /// The verification of its audit trails.
    pub trails: Trails,
    /// Whether a master key was given and decrypts its secrets.
    pub master_key_checked: bool,
}

/// Reads a whole backup and checks its checksums, counts and audit trails. A broken trail is reported but is not an error. Blocks,
/// so it must not run on a runtime thread.
pub fn verify_backup(file: &Path, master_key: &MasterKeySource, told: &mut Told<'_>) -> Result<Verified> {
    let master = match master_key {
        MasterKeySource::Given(hex) => Some(guard::MasterKey::from_hex(hex)?),
        MasterKeySource::File(path) => Some(crate::data_folder::read_master_key(path)?),
        MasterKeySource::DataFolder => None,
    };
    let mut check = BackupCheck::new(master.as_ref(), true);
    let saved = backup::read(open(file)?, &mut [&mut check, &mut Passing::new(told)])?;
    let trails = check.into_trails();
    Ok(Verified { header: saved.header, sections: saved.sections, trails, master_key_checked: master.is_some() })
}

/// The name for stdin and stdout.
const STANDARD: &str = "-";

fn is_standard(file: &Path) -> bool {
    file == Path::new(STANDARD)
}

/// Opens a backup, or stdin for `-`.
fn open(file: &Path) -> Result<Box<dyn BufRead>> {
    if is_standard(file) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, std::io::stdin())));
    }
    if file.is_dir() {
        return Err(Error::new(Kind::InvalidParams, format!("`{}` is a folder; name a backup file in it", file.display())));
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, File::open(file).map_err(|error| unreadable(file, &error))?)))
}

/// Fails if the backup does not exist.
fn check_there(file: &Path) -> Result<()> {
    if is_standard(file) { Ok(()) } else { std::fs::metadata(file).map(drop).map_err(|error| unreadable(file, &error)) }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("cannot read the backup `{}`: {error}", file.display()))
}

/// Reports progress while a backup is read.
struct Passing<'t, 'f> {
    told: &'t mut Told<'f>,
    table: String,
    rows: u64,
}

impl<'t, 'f> Passing<'t, 'f> {
    fn new(told: &'t mut Told<'f>) -> Self {
        Self { told, table: String::new(), rows: 0 }
    }
}

impl Visitor for Passing<'_, '_> {
    fn table(&mut self, name: &str, _: &[String]) -> Result<()> {
        name.clone_into(&mut self.table);
        self.rows = 0;
        (self.told)(name, 0)
    }

    fn row(&mut self, _: &[Param<'_>]) -> Result<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(TOLD_EVERY) { (self.told)(&self.table, self.rows) } else { Ok(()) }
    }

    fn section_end(&mut self, section: &Section) -> Result<()> {
        if section.kind == SectionKind::Table { (self.told)(&section.name, section.count) } else { Ok(()) }
    }
}

/// Appends a suffix to the last part of a path.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
