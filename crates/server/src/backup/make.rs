//! Making a backup.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base::secret::{hex, random_bytes};
use base::{Error, Kind, Result, Timestamp};
use store::StoreConfig;
use store::backup::{self, Header, Section, Told};
use tokio::runtime::Handle;

use super::{BUFFER_BYTES, checkpoint_files};
use crate::config::Config;
use crate::restoring::restore_cut_short;
use crate::server_file::unreadable;
use crate::{checkpoints, data_folder};

/// A finished backup.
#[derive(Clone, Debug)]
pub struct BackedUp {
    /// Its path.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its header.
    pub header: Header,
    /// Its contents.
    pub sections: Vec<Section>,
}

/// Writes a backup to `target`, or into it if it is a folder. The file gets its final name only when it is complete and synced.
/// Blocks, so it must not run on a runtime thread.
pub fn back_up(config: &Config, runtime: &Handle, target: &Path, told: &mut Told<'_>) -> Result<BackedUp> {
    let store = store_of(config)?;
    let made_at = config.clock.now();
    if super::is_standard(target) {
        return to_stdout(config, &store, runtime, made_at, told);
    }
    let file = named(target, made_at)?;
    // Before the rows: a later checkpoint could cover entries that are not in the backup.
    let extras = checkpoint_files::list(&checkpoints::folder(config, &config.data))?;
    let part = Part::create(&file)?;
    let out = BufWriter::with_capacity(BUFFER_BYTES, part.open()?);
    let about = (env!("CARGO_PKG_VERSION"), made_at);
    let (saved, out) = backup::save(&store, runtime, about, &extras, out, told)?;
    let bytes = part.finish(out)?;
    Ok(BackedUp { file, bytes, header: saved.header, sections: saved.sections })
}

/// Writes a backup to stdout. The reader finds out at the end whether it is complete.
fn to_stdout(
    config: &Config,
    store: &StoreConfig,
    runtime: &Handle,
    made_at: Timestamp,
    told: &mut Told<'_>,
) -> Result<BackedUp> {
    let extras = checkpoint_files::list(&checkpoints::folder(config, &config.data))?;
    let out = Counting { out: BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout()), bytes: 0 };
    let (saved, mut out) = backup::save(store, runtime, (env!("CARGO_PKG_VERSION"), made_at), &extras, out, told)?;
    out.flush().map_err(|error| Error::new(Kind::Unavailable, format!("cannot write the backup to stdout: {error}")))?;
    Ok(BackedUp { file: PathBuf::from(super::STANDARD), bytes: out.bytes, header: saved.header, sections: saved.sections })
}

/// Counts the bytes written.
struct Counting<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += u64::try_from(written).unwrap_or_default();
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The store to back up. If the server uses PostgreSQL, an old SQLite file in its data folder is not used.
fn store_of(config: &Config) -> Result<StoreConfig> {
    if let Some(url) = &config.database_url {
        return Ok(StoreConfig::Postgres { url: url.clone() });
    }
    if data_folder::uses_postgres(&config.data) {
        let words = format!(
            "the server with the data folder {} uses PostgreSQL; pass the same --database-url, or set TOOLCRIB_DATABASE_URL",
            config.data.display()
        );
        return Err(Error::new(Kind::InvalidParams, words));
    }
    if let Some((words, _)) = restore_cut_short(&config.data) {
        return Err(Error::new(Kind::Conflict, words));
    }
    let path = data_folder::database_in(&config.data);
    match fs::metadata(&path) {
        Ok(found) if found.is_file() => Ok(StoreConfig::Sqlite { path }),
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Err(unreadable(&path, &error)),
        _ => {
            let words = format!(
                "there is no database {}; pass the server's data folder with --data, or its --database-url",
                path.display()
            );
            Err(Error::new(Kind::NotFound, words))
        }
    }
}

/// The file's path. In a folder, the name contains the time of the backup.
fn named(target: &Path, made_at: Timestamp) -> Result<PathBuf> {
    if !target.is_dir() && target.as_os_str().as_encoded_bytes().ends_with(b"/") {
        let words = format!("there is no folder `{}`; create it with `mkdir -p`, or name a file", target.display());
        return Err(Error::new(Kind::NotFound, words));
    }
    let folder = folder_of(target);
    if !folder.exists() {
        let words = format!("there is no folder `{}`; create it with `mkdir -p`", folder.display());
        return Err(Error::new(Kind::NotFound, words));
    }
    let file = if target.is_dir() {
        target.join(format!("toolcrib-{}.backup", made_at.rfc3339().replace(':', "-")))
    } else {
        target.to_owned()
    };
    if file.symlink_metadata().is_ok() { Err(in_the_way(&file)) } else { Ok(file) }
}

fn in_the_way(file: &Path) -> Error {
    let words = format!("`{}` already exists; choose another file name, or a folder for backups", file.display());
    Error::new(Kind::Conflict, words)
}

/// An unfinished file. It is removed on drop unless it was finished.
struct Part {
    path: PathBuf,
    whole: PathBuf,
}

impl Part {
    fn create(whole: &Path) -> Result<Self> {
        let name = whole.file_name().ok_or_else(|| Error::new(Kind::InvalidParams, "the backup needs a file name"))?;
        let name = format!(".{}.{}.part", name.to_string_lossy(), hex(&random_bytes::<4>()));
        Ok(Self { path: folder_of(whole).join(name), whole: whole.to_owned() })
    }

    fn open(&self) -> Result<File> {
        let opened = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&self.path);
        opened.map_err(|error| self.unwritable(&error))
    }

    /// Syncs the file, gives it its final name, and returns its size.
    fn finish(self, out: BufWriter<File>) -> Result<u64> {
        let finish = || {
            let mut out = out;
            out.flush()?;
            let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            give_name(&self.path, &self.whole)?;
            File::open(folder_of(&self.whole))?.sync_all()?;
            Ok(bytes)
        };
        finish().map_err(|error: io::Error| match error.kind() {
            ErrorKind::AlreadyExists => in_the_way(&self.whole),
            _ => self.unwritable(&error),
        })
    }

    fn unwritable(&self, error: &std::io::Error) -> Error {
        Error::new(Kind::Unavailable, format!("cannot write the backup `{}`: {error}", self.whole.display()))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After a successful rename this name does not exist, so nothing is removed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Renames a file without replacing another one. Of two backups to the same name, the second one fails.
fn give_name(part: &Path, whole: &Path) -> io::Result<()> {
    match fs::hard_link(part, whole) {
        // Some file systems have no hard links. There, the check before has to be enough.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
            if whole.symlink_metadata().is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            fs::rename(part, whole)
        }
        linked => linked.and_then(|()| fs::remove_file(part)),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_backup_to_the_same_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("crib.backup");
        let write = |text: &str| {
            let part = Part::create(&whole).unwrap();
            let mut out = BufWriter::new(part.open().unwrap());
            out.write_all(text.as_bytes()).unwrap();
            (part, out)
        };
        // Both passed the check before either had finished.
        let ((one, one_out), (other, other_out)) = (write("one"), write("other"));
        assert_eq!(one.finish(one_out).unwrap(), 3);
        assert!(other.finish(other_out).unwrap_err().message().contains("already exists"));
        assert_eq!(fs::read_to_string(&whole).unwrap(), "one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn missing_folder_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_ms(0);
        let missing = PathBuf::from(format!("{}/nightly/", folder.path().display()));
        let refused = named(&missing, now).unwrap_err();
        assert!(refused.message().contains("there is no folder") && refused.message().contains("mkdir -p"), "{refused}");
        let refused = named(&missing.join("crib.backup"), now).unwrap_err();
        assert!(refused.message().contains("there is no folder") && refused.message().contains("mkdir -p"), "{refused}");
        fs::create_dir(&missing).unwrap();
        assert!(named(&missing, now).unwrap().starts_with(&missing));
    }
}
