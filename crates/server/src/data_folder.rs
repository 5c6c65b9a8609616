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

/// Names by which a data folder is known as one.
const OURS: [&str; 5] = [LOCK_FILE, DATABASE_FILE, SERVER_FILE, MASTER_KEY_FILE, NODE_FILE];

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
    /// Makes the folder if need be and locks it. A second server is refused.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let cannot = |what: &str, error: std::io::Error| {
            Error::new(Kind::Unavailable, format!("the data folder {} cannot be {what}: {error}", path.display()))
        };
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

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE_FILE)
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

fn read_master_key(path: &Path) -> Result<MasterKey> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::new(Kind::Unavailable, format!("the master key file {} cannot be read: {error}", path.display()))
    })?;
    MasterKey::from_hex(&text)
}
