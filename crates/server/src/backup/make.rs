//! Making a backup.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base::secret::{hex, random_bytes};
use base::{Error, Kind, Result, Timestamp};
use store::StoreConfig;
use store::backup::{self, Header, Section, Told};
use tokio::runtime::Handle;

use super::{BUFFER_BYTES, checkpoint_files};
use crate::config::Config;
use crate::{checkpoints, data_folder};

/// A backup that was written.
#[derive(Clone, Debug)]
pub struct BackedUp {
    /// Where it is.
    pub file: PathBuf,
    /// How large it is.
    pub bytes: u64,
    /// What it says of itself.
    pub header: Header,
    /// What is in it.
    pub sections: Vec<Section>,
}

/// Writes a backup to `target`, or into it when it is a folder. The file has its name only when it is whole and on disk. It
/// blocks: not for a thread that serves others.
pub fn back_up(config: &Config, runtime: &Handle, target: &Path, told: &mut Told<'_>) -> Result<BackedUp> {
    let store = store_of(config)?;
    let made_at = config.clock.now();
    let file = named(target, made_at)?;
    // Before the rows: a checkpoint that is taken later may tell of entries that the backup does not have.
    let extras = checkpoint_files::list(&checkpoints::folder(config, &config.data))?;
    let part = Part::create(&file)?;
    let out = BufWriter::with_capacity(BUFFER_BYTES, part.open()?);
    let about = (env!("CARGO_PKG_VERSION"), made_at);
    let (saved, out) = backup::save(&store, runtime, about, &extras, out, told)?;
    let bytes = part.finish(out)?;
    Ok(BackedUp { file, bytes, header: saved.header, sections: saved.sections })
}

/// Where the rows are. An old file in the data folder of a server that uses PostgreSQL is not taken for its data.
fn store_of(config: &Config) -> Result<StoreConfig> {
    if let Some(url) = &config.database_url {
        return Ok(StoreConfig::Postgres { url: url.clone() });
    }
    if data_folder::uses_postgres(&config.data) {
        let words = format!(
            "the server of the data folder {} keeps its data in PostgreSQL: pass the same --database-url, or set TOOLCRIB_DATABASE_URL",
            config.data.display()
        );
        return Err(Error::new(Kind::InvalidParams, words));
    }
    let path = data_folder::database_in(&config.data);
    if !path.is_file() {
        let words =
            format!("there is no database {}: pass the server's data folder with --data, or its --database-url", path.display());
        return Err(Error::new(Kind::NotFound, words));
    }
    Ok(StoreConfig::Sqlite { path })
}

/// The file's name: in a folder, one that says when the backup was made.
fn named(target: &Path, made_at: Timestamp) -> Result<PathBuf> {
    let file = if target.is_dir() {
        target.join(format!("toolcrib-{}.backup", made_at.rfc3339().replace(':', "-")))
    } else {
        target.to_owned()
    };
    if file.exists() {
        let words = format!("`{}` exists already: name another file, or a folder for backups", file.display());
        return Err(Error::new(Kind::Conflict, words));
    }
    Ok(file)
}

/// A file that is not whole yet. It goes away with this, unless it was finished.
struct Part {
    path: PathBuf,
    whole: PathBuf,
}

impl Part {
    fn create(whole: &Path) -> Result<Self> {
        let name = whole.file_name().ok_or_else(|| Error::new(Kind::InvalidParams, "a backup needs a file name"))?;
        let name = format!(".{}.{}.part", name.to_string_lossy(), hex(&random_bytes::<4>()));
        Ok(Self { path: folder_of(whole).join(name), whole: whole.to_owned() })
    }

    fn open(&self) -> Result<File> {
        let opened = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&self.path);
        opened.map_err(|error| self.unwritable(&error))
    }

    /// Gives the file its name once it is on disk, and says how large it is.
    fn finish(self, out: BufWriter<File>) -> Result<u64> {
        let finish = || {
            let mut out = out;
            out.flush()?;
            let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            fs::rename(&self.path, &self.whole)?;
            File::open(folder_of(&self.whole))?.sync_all()?;
            Ok(bytes)
        };
        finish().map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &std::io::Error) -> Error {
        Error::new(Kind::Unavailable, format!("the backup `{}` cannot be written: {error}", self.whole.display()))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the renaming there is nothing under this name.
        let _ = fs::remove_file(&self.path);
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
