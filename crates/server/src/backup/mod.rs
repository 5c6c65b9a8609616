//! Backups of a whole instance: its rows and the checkpoints of its audit trails, never its secrets. A backup is taken beside a
//! running server; a restore needs the data folder, or the database, for itself.

mod checkpoint_files;
mod make;
mod place;
mod restore;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use base::{Error, Kind, Result};
use guard::{BackupCheck, Trails};
use store::backup::{Header, Section, SectionKind, Told, Visitor};
use store::{Param, backup};

use crate::config::MasterKeySource;

pub use make::{BackedUp, back_up};
pub use restore::{Restore, RestoredInto, restore};

/// Read at a time: fewer, larger reads.
const BUFFER_BYTES: usize = 1 << 20;
/// How many rows pass between two words about the progress.
const TOLD_EVERY: u64 = 1_000;

/// A backup that was read and found whole.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What it says of itself.
    pub header: Header,
    /// What is in it.
    pub sections: Vec<Section>,
    /// What was found about its audit trails.
    pub trails: Trails,
    /// Whether a master key was given and opens its secrets.
    pub master_key_checked: bool,
}

/// Reads a backup from its first byte to its last: checksums, counts, and every audit trail. A broken trail is told of and is no
/// error. It blocks: not for a thread that serves others.
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

fn open(file: &Path) -> Result<BufReader<File>> {
    if file.is_dir() {
        return Err(Error::new(Kind::InvalidParams, format!("`{}` is a folder: name the backup in it", file.display())));
    }
    Ok(BufReader::with_capacity(BUFFER_BYTES, File::open(file).map_err(|error| unreadable(file, &error))?))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("the backup `{}` cannot be read: {error}", file.display()))
}

/// Tells how far the reading is.
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

/// A path with something after its last part.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
