//! The data folder: locked by one server, holding its database file, `server.json` and the master key, both readable by
//! their owner only.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::{Error, Kind, Result};
use guard::MasterKey;
use serde::{Deserialize, Serialize};

use crate::config::MasterKeySource;
use crate::private;

const LOCK_FILE: &str = "toolcrib.lock";
const DATABASE_FILE: &str = "toolcrib.db";
const SERVER_FILE: &str = "server.json";
const MASTER_KEY_FILE: &str = "master.key";
const NODE_FILE: &str = "node";
const EMBEDDER_FILE: &str = "embedder.json";
const ENGINE_FILE: &str = "engine";
/// An operator may have written it before the first start.
const SETTINGS_FILE: &str = "toolcrib.toml";
const CACHE_FOLDER: &str = "cache";
const CACHE_RESTORE_FILE: &str = "restore";
/// What a database is called while it is being restored.
const RESTORING: &str = "toolcrib.db.restoring";

/// Names by which a data folder is known as one.
const OURS: [&str; 6] = [LOCK_FILE, DATABASE_FILE, SERVER_FILE, MASTER_KEY_FILE, NODE_FILE, SETTINGS_FILE];

/// The `reason` of the error when another server holds the folder: it may be gone in a moment.
pub const LOCKED: &str = "data_folder_locked";

/// A data folder that this process, and no other, uses.
pub(crate) struct DataFolder {
    path: PathBuf,
    _lock: File,
}

/// `server.json`: how the command line finds the server and proves that it is the operator's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFile {
    /// Where the server listens.
    pub url: String,
    /// The instance admin's key.
    pub key: String,
}

/// `embedder.json`: what was last learnt of the embedder. It may be deleted.
#[derive(Serialize, Deserialize)]
struct EmbedderFile {
    name: String,
    dimension: usize,
}

/// A master key, and where it was made if it was made just now.
pub(crate) struct FoundMasterKey {
    pub(crate) key: MasterKey,
    made_at: Option<PathBuf>,
}

impl FoundMasterKey {
    /// What to say when the data turned out to be written with another key. One that was made just now is no key of anything,
    /// and must not be left where it looks like the right one.
    pub(crate) fn refused(&self, error: Error) -> Error {
        match &self.made_at {
            Some(path) if error.kind() == Kind::Conflict => {
                let left = fs::remove_file(path).err().map_or_else(String::new, |error| format!(" ({error})"));
                let message = format!(
                    "the master key that the data was written with is not at {}: put it back, or pass it with --master-key-file or TOOLCRIB_MASTER_KEY{left}",
                    path.display()
                );
                Error::new(Kind::Conflict, message)
            }
            _ => error,
        }
    }
}

/// Reads the `server.json` of a data folder, if a server has ever been started there.
pub fn find_running(data: &Path) -> Option<ServerFile> {
    serde_json::from_slice(&fs::read(data.join(SERVER_FILE)).ok()?).ok()
}

impl DataFolder {
    /// The same as [`DataFolder::lock`], for a server: a folder in which a restore was cut short is refused.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let folder = Self::lock(path)?;
        if folder.restoring().exists() && !folder.database().exists() {
            let words = format!(
                "a restore into the data folder {} did not come to its end, and the folder holds no data: run `toolcrib restore` again",
                folder.path.display()
            );
            return Err(Error::new(Kind::Conflict, words));
        }
        Ok(folder)
    }

    /// Makes the folder if need be and locks it. A second server is refused.
    pub(crate) fn lock(path: &Path) -> Result<Self> {
        let cannot = |what: &str, error: std::io::Error| {
            let words = format!(
                "the data folder {} cannot be {what}: {error}; let this user write there, or pass another folder with --data",
                path.display()
            );
            Error::new(Kind::Unavailable, words)
        };
        if path.exists() && !path.is_dir() {
            let words = format!("{} is a file and no folder: pass another data folder with --data", path.display());
            return Err(Error::new(Kind::Unavailable, words));
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| cannot("made", error))?;
        let path = path.canonicalize().map_err(|error| cannot("found", error))?;
        private::close_to_others(&path, |name| OURS.contains(&name))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join(LOCK_FILE))
            .map_err(|error| cannot("used", error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::new(
                Kind::Conflict,
                format!("another server uses the data folder {}: stop it, or pass another folder with --data", path.display()),
            )
            .with("reason", LOCKED)),
            Err(TryLockError::Error(error)) => Err(cannot("locked", error)),
        }
    }

    /// Removes a folder that was made for something that came to nothing.
    pub(crate) fn remove_if_empty(&self) {
        // If it cannot be removed, an empty folder stays, which harms nobody.
        let _ = fs::remove_file(self.path.join(LOCK_FILE)).and_then(|()| fs::remove_dir(&self.path));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE_FILE)
    }

    /// Where a database lies while it is being restored.
    pub(crate) fn restoring(&self) -> PathBuf {
        self.path.join(RESTORING)
    }

    /// Where what can be made again from the rows is kept.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path.join(CACHE_FOLDER)
    }

    /// Throws away what was kept of other rows than these: `restore` names the restore that they came from.
    pub(crate) fn forget_other_rows(&self, restore: Option<&str>) -> Result<()> {
        let (cache, kept) = (self.cache(), self.cache().join(CACHE_RESTORE_FILE));
        if fs::read_to_string(&kept).ok().as_deref() == restore {
            return Ok(());
        }
        let forget = || {
            if cache.exists() {
                fs::remove_dir_all(&cache)?;
            }
            let Some(restore) = restore else { return Ok(()) };
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&cache)?;
            fs::write(&kept, restore)
        };
        forget().map_err(|error: std::io::Error| {
            Error::new(Kind::Unavailable, format!("{} cannot be cleared: {error}", cache.display()))
        })
    }

    /// Says which engine the server of this folder uses, so that a backup does not take an old file for its data.
    pub(crate) fn remember_engine(&self, engine: store::Engine) -> Result<()> {
        let word = engine_word(engine);
        if fs::read_to_string(self.path.join(ENGINE_FILE)).is_ok_and(|known| known == word) {
            return Ok(());
        }
        self.write_private(ENGINE_FILE, word.as_bytes())
    }

    /// Makes the database file before the engine does, readable by its owner only; its log files follow its mode.
    pub(crate) fn ensure_private_database(&self) -> Result<()> {
        let path = self.database();
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        made.map(drop).map_err(|error| Error::new(Kind::Unavailable, format!("{} cannot be used: {error}", path.display())))
    }

    /// The name of this node among those that share a database: made once, no secret.
    pub(crate) fn node(&self) -> Result<String> {
        if let Ok(node) = fs::read_to_string(self.path.join(NODE_FILE)) {
            return Ok(node.trim().to_owned());
        }
        let node = base::secret::hex(&base::secret::random_bytes::<16>());
        self.write_private(NODE_FILE, node.as_bytes())?;
        Ok(node)
    }

    /// How many numbers the vectors of an embedder had when it last said so here.
    pub(crate) fn embed_dimension(&self, name: &str) -> Option<usize> {
        let known: EmbedderFile = serde_json::from_slice(&fs::read(self.path.join(EMBEDDER_FILE)).ok()?).ok()?;
        Some(known.dimension).filter(|_| known.name == name)
    }

    /// Remembers it for a start at which the embedder cannot be asked.
    pub(crate) fn remember_embed_dimension(&self, name: &str, dimension: usize) -> Result<()> {
        if self.embed_dimension(name) == Some(dimension) {
            return Ok(());
        }
        let known = EmbedderFile { name: name.to_owned(), dimension };
        self.write_private(EMBEDDER_FILE, &serde_json::to_vec(&known).map_err(Error::internal)?)
    }

    /// Writes `server.json` in one step, so that a reader never sees half of it.
    pub(crate) fn write_server_file(&self, server: &ServerFile) -> Result<()> {
        let text = serde_json::to_string_pretty(server).map_err(Error::internal)?;
        self.write_private(SERVER_FILE, text.as_bytes())
    }

    /// The master key. In the data folder it is made when there is none: it must be there before anything is encrypted with it.
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

    /// The master key, which must be there: a restore makes none.
    pub(crate) fn existing_master_key(&self, source: &MasterKeySource) -> Result<Option<MasterKey>> {
        match source {
            MasterKeySource::DataFolder if !self.path.join(MASTER_KEY_FILE).exists() => Ok(None),
            source => self.master_key(source).map(|found| Some(found.key)),
        }
    }

    fn write_private(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (part, whole) = (self.path.join(format!("{name}.part")), self.path.join(name));
        let written = (|| {
            let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&part, &whole)?;
            File::open(&self.path)?.sync_all()
        })();
        written.map_err(|error| Error::new(Kind::Unavailable, format!("{} cannot be written: {error}", whole.display())))
    }
}

fn engine_word(engine: store::Engine) -> &'static str {
    match engine {
        store::Engine::Sqlite => "sqlite",
        store::Engine::Postgres => "postgres",
    }
}

/// Whether the server of a data folder was last started on PostgreSQL.
pub(crate) fn uses_postgres(data: &Path) -> bool {
    fs::read_to_string(data.join(ENGINE_FILE)).is_ok_and(|known| known == engine_word(store::Engine::Postgres))
}

/// Where the database file of a data folder is.
pub(crate) fn database_in(data: &Path) -> PathBuf {
    data.join(DATABASE_FILE)
}

pub(crate) fn read_master_key(path: &Path) -> Result<MasterKey> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::new(Kind::Unavailable, format!("the master key file {} cannot be read: {error}", path.display()))
    })?;
    MasterKey::from_hex(&text)
}
