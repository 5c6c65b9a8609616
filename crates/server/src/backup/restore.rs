//! Restoring a backup.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Error, Kind, Result};
use guard::{BackupCheck, MasterKey, Trails};
use store::StoreConfig;
use store::backup::{self, Header, Restored, Section, Told};
use tokio::runtime::Handle;

use super::checkpoint_files::Into;
use super::swap::{Swap, remove};
use super::{Passing, open, with_suffix};
use crate::checkpoints;
use crate::config::Config;
use crate::data_folder::{DATABASE_FILE, DataFolder, LOCKED};
use crate::restoring::{CHECKPOINTS_RESTORING, RESTORING};

/// The name that a blocked command shows for the holder of the folder's lock.
const COMMAND: &str = "toolcrib restore";

/// How often, and at which interval, to try a locked folder.
const LOCKED_TRIES: u32 = 5;
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// Options of a restore.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restore {
    /// Replace existing data.
    pub replace: bool,
    /// Restore even if an audit trail does not verify.
    pub allow_broken_audit: bool,
}

/// A finished restore.
#[derive(Clone, Debug)]
pub struct RestoredInto {
    /// The backup's header.
    pub header: Header,
    /// The backup's contents.
    pub sections: Vec<Section>,
    /// The verification of its audit trails.
    pub trails: Trails,
    /// The schema version after the restore.
    pub schema: i64,
    /// The previous database, if any. It may be deleted.
    pub replaced: Option<PathBuf>,
    /// Previous files that were renamed and kept.
    pub set_aside: Vec<PathBuf>,
    /// Where the checkpoints were restored to, if they were.
    pub checkpoints: Option<PathBuf>,
}

/// Restores `file` into the data folder or the database of `config`. Everything is checked before any existing data is changed.
/// Blocks, so it must not run on a runtime thread.
pub fn restore(config: &Config, runtime: &Handle, file: &Path, how: Restore, told: &mut Told<'_>) -> Result<RestoredInto> {
    // Checked before a folder is created for it. It is opened only once, because it may be a pipe.
    super::check_there(file)?;
    let is_new = !config.data.exists();
    let folder = lock(&config.data)?;
    let done = Restoring { config, runtime, folder: &folder, how }.run(file, told);
    if done.is_err() && is_new {
        folder.remove_if_empty();
    }
    done
}

/// Locks the folder. Commands that check for a running server hold the lock for an instant, so it is retried.
fn lock(data: &Path) -> Result<DataFolder> {
    for _ in 1..LOCKED_TRIES {
        match DataFolder::lock(data, COMMAND) {
            Err(error) if error.data().get("reason").is_some_and(|reason| reason == LOCKED) => std::thread::sleep(LOCKED_PAUSE),
            locked => return locked,
        }
    }
    DataFolder::lock(data, COMMAND)
}

struct Restoring<'r> {
    config: &'r Config,
    runtime: &'r Handle,
    folder: &'r DataFolder,
    how: Restore,
}

impl Restoring<'_> {
    fn run(&self, file: &Path, told: &mut Told<'_>) -> Result<RestoredInto> {
        let master = self.master_key()?;
        let database = self.folder.database();
        if self.config.database_url.is_none() && database.exists() && !self.how.replace {
            let words = format!(
                "{} already exists; choose another folder with --data, or pass --replace to replace the data",
                database.display()
            );
            return Err(Error::new(Kind::Conflict, words));
        }
        // Left over from a killed restore.
        self.folder.clear_restoring()?;
        self.check_places()?;
        let staged = self.folder.path().join(CHECKPOINTS_RESTORING);
        let loaded = self.load(&master, file, &staged, told);
        let (restored, trails, files) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                // Report the first error. A server ignores these leftovers.
                let _ = self.folder.clear_restoring();
                return Err(error);
            }
        };
        let placed = self.place(&staged, files > 0).map_err(|error| self.after_the_commit(&error))?;
        let (header, sections) = (restored.saved.header, restored.saved.sections);
        let Placed { replaced, set_aside, checkpoints } = placed;
        Ok(RestoredInto { header, sections, trails, schema: restored.schema, replaced, set_aside, checkpoints })
    }

    /// Checks in advance that the data folder and the checkpoints can be written. On PostgreSQL the rows are committed before those are.
    fn check_places(&self) -> Result<()> {
        self.folder.check_writable()?;
        let target = checkpoints::folder(self.config, self.folder.path());
        let writable = || {
            let above = target.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(above)?;
            let probe = with_suffix(&target, ".probe");
            File::create(&probe)?;
            remove(&probe)
        };
        if self.keeps_checkpoints(&target) { Ok(()) } else { writable().map_err(|error| unwritable(&target, &error)) }
    }

    /// A separate folder of checkpoints is kept as it is if it is not empty.
    fn keeps_checkpoints(&self, target: &Path) -> bool {
        self.config.audit_checkpoints.is_some() && holds_any(target)
    }

    /// The error for a failure after the rows were committed.
    fn after_the_commit(&self, error: &Error) -> Error {
        if self.config.database_url.is_none() {
            return error.clone();
        }
        let words = format!(
            "the database was replaced by the backup, but the data folder {} is incomplete: {}",
            self.folder.path().display(),
            error.message()
        );
        Error::new(error.kind(), words).logged(error.log().unwrap_or_default())
    }

    /// Moves the rows and the checkpoints to where the server expects them.
    fn place(&self, staged: &Path, has_checkpoints: bool) -> Result<Placed> {
        let is_postgres = self.config.database_url.is_some();
        let (mut swap, mut placed) = (Swap::new(is_postgres), Placed::default());
        if has_checkpoints {
            self.place_checkpoints(staged, &mut swap, &mut placed).map_err(|error| unwritable(staged, &error))?;
        }
        if !is_postgres {
            let aside = format!("{DATABASE_FILE}.replaced-{}", self.stamp());
            let aside = self.folder.database().exists().then_some(aside.as_str());
            swap.database(RESTORING, DATABASE_FILE, aside);
            placed.replaced = aside.map(|aside| self.folder.path().join(aside));
            placed.set_aside.extend(placed.replaced.clone());
        }
        self.folder.swap(&swap)?;
        Ok(placed)
    }

    fn load(&self, master: &MasterKey, file: &Path, staged: &Path, told: &mut Told<'_>) -> Result<(Restored, Trails, u64)> {
        let store = match &self.config.database_url {
            Some(url) => StoreConfig::Postgres { url: url.clone() },
            None => {
                let path = self.folder.restoring();
                let made = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path);
                made.map_err(|error| unwritable(&path, &error))?;
                StoreConfig::Sqlite { path }
            }
        };
        let mut check = BackupCheck::new(Some(master), self.how.allow_broken_audit);
        let (mut files, mut passing) = (Into::new(staged.to_owned()), Passing::new(told));
        let clock = &self.config.clock;
        let visitors: &mut [&mut dyn backup::Visitor] = &mut [&mut check, &mut files, &mut passing];
        let restored = backup::restore(&store, self.runtime, clock, self.how.replace, open(file)?, visitors)?;
        Ok((restored, check.into_trails(), files.files))
    }

    fn master_key(&self) -> Result<MasterKey> {
        let found = self.folder.existing_master_key(&self.config.master_key)?;
        found.ok_or_else(|| {
            let words = format!(
                "a backup does not contain the master key, which its secrets need; pass the original server's key with --master-key-file \
                 or TOOLCRIB_MASTER_KEY, or copy it to {} (it is master.key in that server's data folder, unless that server uses \
                 --master-key-file)",
                self.folder.path().join("master.key").display()
            );
            Error::new(Kind::InvalidParams, words)
        })
    }

    fn place_checkpoints(&self, staged: &Path, swap: &mut Swap, placed: &mut Placed) -> std::io::Result<()> {
        File::open(staged)?.sync_all()?;
        let target = std::path::absolute(checkpoints::folder(self.config, self.folder.path()))?;
        if self.keeps_checkpoints(&target) {
            swap.remove(CHECKPOINTS_RESTORING);
            return Ok(());
        }
        if holds_any(&target) {
            let aside = with_suffix(&target, &format!(".replaced-{}", self.stamp()));
            swap.rename(self.shortened(&target), self.shortened(&aside));
            placed.set_aside.push(aside);
        } else if target.exists() {
            fs::remove_dir(&target)?;
        }
        swap.rename(CHECKPOINTS_RESTORING, self.shortened(&target));
        // An interrupted copy from another disk leaves it behind.
        swap.remove(CHECKPOINTS_RESTORING);
        placed.checkpoints = Some(target);
        Ok(())
    }

    /// The path as written to the plan: relative if it is in the data folder, so that the folder can be moved.
    fn shortened<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(self.folder.path()).unwrap_or(path)
    }

    /// The time, as part of a file name.
    fn stamp(&self) -> String {
        self.config.clock.now().rfc3339().replace(':', "-")
    }
}

/// The result of moving everything into place.
#[derive(Default)]
struct Placed {
    replaced: Option<PathBuf>,
    set_aside: Vec<PathBuf>,
    checkpoints: Option<PathBuf>,
}

fn holds_any(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("cannot write {}: {error}", path.display()))
}
