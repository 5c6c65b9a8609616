//! Checkpoint files in a backup: which files are saved, and where a restore puts them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::{Error, Kind, OrgId, Result};
use store::backup::{Extra, Section, SectionKind, Visitor};

/// The prefix of their names in a backup.
const PREFIX: &str = "checkpoints/";
/// Longer than any line.
const LINE_BYTES: u64 = 64 * 1024;

/// The files in `folder`, each up to its last complete line.
pub(super) fn list(folder: &Path) -> Result<Vec<Extra>> {
    let unreadable =
        |error: io::Error| Error::new(Kind::Unavailable, format!("cannot read the checkpoints in {}: {error}", folder.display()));
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut extras = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = name.strip_suffix(".jsonl").is_some_and(|org| OrgId::parse(org).is_some());
        if is_ours && entry.file_type().map_err(unreadable)?.is_file() {
            let bytes = whole_lines(&entry.path()).map_err(unreadable)?;
            extras.push(Extra { name: format!("{PREFIX}{name}"), path: entry.path(), bytes });
        }
    }
    extras.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(extras)
}

/// The length of a file up to its last complete line. The server may be writing the next one.
fn whole_lines(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LINE_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(length - from).read_to_end(&mut tail)?;
    let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    Ok(from + u64::try_from(whole).unwrap_or_default())
}

/// Writes the checkpoint files of a backup into a folder.
pub(super) struct Into {
    folder: PathBuf,
    open: Option<File>,
    pub(super) files: u64,
}

impl Into {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, open: None, files: 0 }
    }

    fn unwritable(&self, error: &io::Error) -> Error {
        Error::new(Kind::Unavailable, format!("cannot write {}: {error}", self.folder.display()))
    }
}

impl Visitor for Into {
    fn file(&mut self, name: &str) -> Result<()> {
        let Some(name) = name.strip_prefix(PREFIX).filter(|name| !name.contains('/')) else { return Ok(()) };
        let create = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(self.folder.join(name))
        };
        self.open = Some(create().map_err(|error| self.unwritable(&error))?);
        self.files += 1;
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.open.as_mut().map_or(Ok(()), |file| file.write_all(bytes));
        written.map_err(|error| self.unwritable(&error))
    }

    fn section_end(&mut self, section: &Section) -> Result<()> {
        match self.open.take() {
            Some(file) if section.kind == SectionKind::File => file.sync_all().map_err(|error| self.unwritable(&error)),
            _ => Ok(()),
        }
    }
}
