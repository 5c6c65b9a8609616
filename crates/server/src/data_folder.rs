//! The data folder. It is locked by one server and contains its database file, `server.json` and the master key. The latter two are
//! readable only by their owner.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::{Error, Kind, Result};
use guard::MasterKey;
use serde::{Deserialize, Serialize};

use crate::config::MasterKeySource;
use crate::folder_lock::{self, LOCK_FILE, Locking};
use crate::private;
use crate::restoring::{SWAP_FILE, restore_cut_short};
use crate::server_file::{SERVER_FILE, ServerFile};

pub(crate) const DATABASE_FILE: &str = "toolcrib.db";
const MASTER_KEY_FILE: &str = "master.key";
const NODE_FILE: &str = "node";
const EMBEDDER_FILE: &str = "embedder.json";
const ENGINE_FILE: &str = "engine";
/// The operator may create it before the first start.
const SETTINGS_FILE: &str = "toolcrib.toml";
const CACHE_FOLDER: &str = "cache";
const CACHE_RESTORE_FILE: &str = "restore";
/// File names that identify a data folder.
const OURS: [&str; 6] = [LOCK_FILE, DATABASE_FILE, SERVER_FILE, MASTER_KEY_FILE, NODE_FILE, SETTINGS_FILE];
/// Other names that the server creates there.
const MADE: [&str; 5] = [ENGINE_FILE, EMBEDDER_FILE, CACHE_FOLDER, CHECKPOINTS_FOLDER, SWAP_FILE];
/// The folder of checkpoints, unless it is configured elsewhere.
pub(crate) const CHECKPOINTS_FOLDER: &str = "checkpoints";

/// Whether we created this file in a data folder. The permissions of other files are left alone.
fn is_made_by_us(name: &str) -> bool {
    let whole = name.strip_suffix(".part").unwrap_or(name);
    let beside = |base: &str| whole.strip_prefix(base).is_some_and(|rest| rest.starts_with(['-', '.']));
    OURS.contains(&whole) || MADE.contains(&whole) || beside(DATABASE_FILE) || beside(CHECKPOINTS_FOLDER)
}

/// The error's `reason` if another process holds the folder. The lock may be free in a moment.
pub const LOCKED: &str = "data_folder_locked";

/// A data folder that this process has locked.
pub(crate) struct DataFolder {
    path: PathBuf,
    _lock: File,
}

/// `embedder.json`: the last known properties of the embedder. It may be deleted.
#[derive(Serialize, Deserialize)]
struct EmbedderFile {
    name: String,
    dimension: usize,
}

/// A master key, and its path if it was just created.
pub(crate) struct FoundMasterKey {
    pub(crate) key: MasterKey,
    made_at: Option<PathBuf>,
}

impl FoundMasterKey {
    /// The error for a wrong master key. A key that was just created is removed, so that nobody mistakes it for the right one.
    pub(crate) fn refused(&self, error: Error) -> Error {
        match &self.made_at {
            Some(path) if error.kind() == Kind::Conflict => {
                let left = fs::remove_file(path).err().map_or_else(String::new, |error| format!(" ({error})"));
                let message = format!(
                    "the master key of this data is not at {}; put it back, or pass it with --master-key-file or TOOLCRIB_MASTER_KEY{left}",
                    path.display()
                );
                Error::new(Kind::Conflict, message)
            }
            _ => error,
        }
    }
}

impl DataFolder {
    /// Like [`DataFolder::lock`], for a server. Fails if an interrupted restore in the folder cannot be finished.
    pub(crate) fn open(path: &Path, command: &str) -> Result<Self> {
        let folder = Self::lock(path, command)?;
        match restore_cut_short(&folder.path) {
            Some((words, false)) => Err(Error::new(Kind::Conflict, words)),
            _ => {
                folder.clear_restoring()?;
                Ok(folder)
            }
        }
    }

    /// Creates the folder if necessary and locks it for `command`. Fails if another process holds it. Finishes an interrupted restore.
    pub(crate) fn lock(path: &Path, command: &str) -> Result<Self> {
        let cannot = |what: &str, error: io::Error| {
            let words = format!(
                "the data folder {} cannot be {what}: {error}; let this user write there, or pass another folder with --data",
                path.display()
            );
            Error::new(Kind::Unavailable, words)
        };
        if path.exists() && !path.is_dir() {
            let words = format!("{} is a file, not a folder; pass another data folder with --data", path.display());
            return Err(Error::new(Kind::Unavailable, words));
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| cannot("created", error))?;
        let path = path.canonicalize().map_err(|error| cannot("found", error))?;
        let may_close = private::is_ours(&path, |name| OURS.contains(&name))?;
        let lock = match folder_lock::lock(&path, command).map_err(|error| cannot("used", error))? {
            Locking::Held(lock) => lock,
            Locking::Taken(words) => return Err(Error::new(Kind::Conflict, words).with("reason", LOCKED)),
        };
        // Only after locking: a running server in this folder creates and removes files.
        private::close_to_others(&path, may_close, is_made_by_us)?;
        let folder = Self { path, _lock: lock };
        if let Some((words, true)) = restore_cut_short(&folder.path) {
            tracing::warn!("{words}");
        }
        folder.finish_swap()?;
        Ok(folder)
    }

    /// Removes a new folder after a failure, if it is empty.
    pub(crate) fn remove_if_empty(&self) {
        // If it cannot be removed, an empty folder stays, which does no harm.
        let _ = fs::remove_file(self.path.join(LOCK_FILE)).and_then(|()| fs::remove_dir(&self.path));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE_FILE)
    }

    /// The folder for caches, which can be rebuilt from the rows.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path.join(CACHE_FOLDER)
    }

    /// Deletes caches of other rows. `restore` identifies the restore that the rows came from.
    pub(crate) fn forget_other_rows(&self, restore: Option<&str>) -> Result<()> {
        let (cache, kept) = (self.cache(), self.cache().join(CACHE_RESTORE_FILE));
        if fs::read_to_string(&kept).ok().as_deref() == restore {
            return Ok(());
        }
        let forget = || {
            if cache.exists() {
                fs::remove_dir_all(&cache)?;
            }
            if restore.is_none() {
                return Ok(());
            }
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&cache)
        };
        forget()
            .map_err(|error: io::Error| Error::new(Kind::Unavailable, format!("cannot clear {}: {error}", cache.display())))?;
        match restore {
            Some(restore) => self.write_private(&format!("{CACHE_FOLDER}/{CACHE_RESTORE_FILE}"), restore.as_bytes()),
            None => Ok(()),
        }
    }

    /// Records which engine the server uses, so that a backup does not mistake an old file for its data.
    pub(crate) fn remember_engine(&self, engine: store::Engine) -> Result<()> {
        let word = engine_word(engine);
        if fs::read_to_string(self.path.join(ENGINE_FILE)).is_ok_and(|known| known == word) {
            return Ok(());
        }
        self.write_private(ENGINE_FILE, word.as_bytes())
    }

    /// Creates the database file before the engine does, readable only by its owner. The log files inherit its mode.
    pub(crate) fn ensure_private_database(&self) -> Result<()> {
        let path = self.database();
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        made.map(drop).map_err(|error| Error::new(Kind::Unavailable, format!("cannot open {}: {error}", path.display())))
    }

    /// The name of this node among nodes that share a database. It is created once and is not secret.
    pub(crate) fn node(&self) -> Result<String> {
        if let Ok(node) = fs::read_to_string(self.path.join(NODE_FILE)) {
            return Ok(node.trim().to_owned());
        }
        let node = base::secret::hex(&base::secret::random_bytes::<16>());
        self.write_private(NODE_FILE, node.as_bytes())?;
        Ok(node)
    }

    /// The last known length of an embedder's vectors.
    pub(crate) fn embed_dimension(&self, name: &str) -> Option<usize> {
        let known: EmbedderFile = serde_json::from_slice(&fs::read(self.path.join(EMBEDDER_FILE)).ok()?).ok()?;
        Some(known.dimension).filter(|_| known.name == name)
    }

    /// Stores the length for a start at which the embedder is unreachable.
    pub(crate) fn remember_embed_dimension(&self, name: &str, dimension: usize) -> Result<()> {
        if self.embed_dimension(name) == Some(dimension) {
            return Ok(());
        }
        let known = EmbedderFile { name: name.to_owned(), dimension };
        self.write_private(EMBEDDER_FILE, &serde_json::to_vec(&known).map_err(Error::internal)?)
    }

    /// Writes `server.json` atomically.
    pub(crate) fn write_server_file(&self, server: &ServerFile) -> Result<()> {
        let text = serde_json::to_string_pretty(server).map_err(Error::internal)?;
        self.write_private(SERVER_FILE, text.as_bytes())
    }

    /// The master key. If the data folder should contain it but does not, it is created before anything is encrypted.
    pub(crate) fn master_key(&self, source: &MasterKeySource) -> Result<FoundMasterKey> {
        let known = |key| FoundMasterKey { key, made_at: None };
        match source {
            MasterKeySource::Given(hex) => MasterKey::from_hex(hex).map(known),
            MasterKeySource::File(path) => read_master_key(path).map(known),
            MasterKeySource::DataFolder => {
                let path = self.path.join(MASTER_KEY_FILE);
                if path.exists() {
                    return read_master_key(&path).map(known);
                }
                let key = MasterKey::generate();
                self.write_private(MASTER_KEY_FILE, format!("{}\n", key.to_hex()).as_bytes())?;
                Ok(FoundMasterKey { key, made_at: Some(path) })
            }
        }
    }

    /// The master key, if it exists. A restore does not create one.
    pub(crate) fn existing_master_key(&self, source: &MasterKeySource) -> Result<Option<MasterKey>> {
        match source {
            MasterKeySource::DataFolder if !self.path.join(MASTER_KEY_FILE).exists() => Ok(None),
            source => self.master_key(source).map(|found| Some(found.key)),
        }
    }

    pub(crate) fn write_private(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (part, whole) = (self.path.join(format!("{name}.part")), self.path.join(name));
        let written = (|| {
            let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&part, &whole)?;
            File::open(&self.path)?.sync_all()
        })();
        written.map_err(|error| Error::new(Kind::Unavailable, format!("cannot write {}: {error}", whole.display())))
    }
}

fn engine_word(engine: store::Engine) -> &'static str {
    match engine {
        store::Engine::Sqlite => "sqlite",
        store::Engine::Postgres => "postgres",
    }
}

/// Whether the server of a data folder last used PostgreSQL.
pub(crate) fn uses_postgres(data: &Path) -> bool {
    fs::read_to_string(data.join(ENGINE_FILE)).is_ok_and(|known| known == engine_word(store::Engine::Postgres))
}

/// The path of the database file in a data folder.
pub(crate) fn database_in(data: &Path) -> PathBuf {
    data.join(DATABASE_FILE)
}

pub(crate) fn read_master_key(path: &Path) -> Result<MasterKey> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::new(Kind::Unavailable, format!("cannot read the master key file {}: {error}", path.display())))?;
    MasterKey::from_hex(&text)
}
