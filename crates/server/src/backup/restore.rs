//! Restoring a backup.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Error, Kind, Result};
use guard::{BackupCheck, MasterKey, Trails};
use store::StoreConfig;
use store::backup::{self, Header, Restored, Section, Told};
use tokio::runtime::Handle;

use super::checkpoint_files::Into;
use super::place::{remove_database, sync_folder_of, take_place};
use super::{Passing, open, unreadable, with_suffix};
use crate::checkpoints;
use crate::config::Config;
use crate::data_folder::{DataFolder, LOCKED};

/// How often, and how long apart, a folder is tried that is locked.
const LOCKED_TRIES: u32 = 5;
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// What a restore is allowed to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restore {
    /// Take the place of data that is there.
    pub replace: bool,
    /// Restore although an audit trail does not verify.
    pub allow_broken_audit: bool,
}

/// A backup that was restored.
#[derive(Clone, Debug)]
pub struct RestoredInto {
    /// What it says of itself.
    pub header: Header,
    /// What was in it.
    pub sections: Vec<Section>,
    /// What was found about its audit trails.
    pub trails: Trails,
    /// The schema after the restore.
    pub schema: i64,
    /// The database that had its place before, if any: it may be deleted.
    pub replaced: Option<PathBuf>,
    /// Where the checkpoints are, when there were any and nothing was in their way.
    pub checkpoints: Option<PathBuf>,
}

/// Restores `file` into the data folder or the database that `config` names. Everything is checked before anything that was there is
/// touched. It blocks: not for a thread that serves others.
pub fn restore(config: &Config, runtime: &Handle, file: &Path, how: Restore, told: &mut Told<'_>) -> Result<RestoredInto> {
    // Before a folder is made for it. It is opened once: it may be a pipe.
    fs::metadata(file).map_err(|error| unreadable(file, &error))?;
    let is_new = !config.data.exists();
    let folder = lock(&config.data)?;
    let done = Restoring { config, runtime, folder: &folder, how }.run(file, told);
    if done.is_err() && is_new {
        folder.remove_if_empty();
    }
    done
}

/// Locks the folder. A command that looks whether a server runs holds the lock for an instant, so it is tried again.
fn lock(data: &Path) -> Result<DataFolder> {
    for _ in 1..LOCKED_TRIES {
        match DataFolder::lock(data) {
            Err(error) if error.data().get("reason").is_some_and(|reason| reason == LOCKED) => std::thread::sleep(LOCKED_PAUSE),
            locked => return locked,
        }
    }
    DataFolder::lock(data)
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
                "{} exists already: name another folder with --data, or pass --replace to put the backup in its place",
                database.display()
            );
            return Err(Error::new(Kind::Conflict, words));
        }
        let (restoring, staged_files) = (self.folder.restoring(), self.folder.path().join("checkpoints.restoring"));
        let clear = || clear(&restoring, &staged_files).map_err(|error| unwritable(&restoring, &error));
        // What a restore that was killed has left.
        clear()?;
        let loaded = self.load(&master, file, &staged_files, told);
        let (restored, trails, files) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                // The first error is the one to tell of; what is left here is nothing to a server.
                let _ = clear();
                return Err(error);
            }
        };
        let checkpoints = if files > 0 { self.place_checkpoints(&staged_files)? } else { None };
        let replaced = match &self.config.database_url {
            Some(_) => None,
            None => {
                let aside = with_suffix(&database, &format!(".replaced-{}", self.stamp()));
                take_place(&restoring, &database, &aside).map_err(|error| unwritable(&database, &error))?
            }
        };
        let engine = if self.config.database_url.is_some() { store::Engine::Postgres } else { store::Engine::Sqlite };
        self.folder.remember_engine(engine)?;
        let (header, sections) = (restored.saved.header, restored.saved.sections);
        Ok(RestoredInto { header, sections, trails, schema: restored.schema, replaced, checkpoints })
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
                "a backup holds no master key, and its secrets do not open without: pass the key of the server that was backed up with --master-key-file or TOOLCRIB_MASTER_KEY, or copy it to {} (that server has it in its data folder as master.key, unless it was started with --master-key-file)",
                self.folder.path().join("master.key").display()
            );
            Error::new(Kind::InvalidParams, words)
        })
    }

    /// Puts the checkpoints where the server looks for them. A folder of checkpoints elsewhere is left as it is when it holds any.
    fn place_checkpoints(&self, staged: &Path) -> Result<Option<PathBuf>> {
        let target = checkpoints::folder(self.config, self.folder.path());
        let is_ours = self.config.audit_checkpoints.is_none();
        let holds_any = fs::read_dir(&target).is_ok_and(|mut entries| entries.next().is_some());
        let place = || {
            if holds_any && !is_ours {
                fs::remove_dir_all(staged)?;
                return Ok(None);
            }
            if holds_any {
                fs::rename(&target, with_suffix(&target, &format!(".replaced-{}", self.stamp())))?;
            } else if target.exists() {
                fs::remove_dir(&target)?;
            }
            if let Some(above) = target.parent() {
                fs::create_dir_all(above)?;
            }
            move_folder(staged, &target)?;
            sync_folder_of(&target)?;
            Ok(Some(target.clone()))
        };
        place().map_err(|error: std::io::Error| unwritable(&target, &error))
    }

    /// The time, as a part of a name.
    fn stamp(&self) -> String {
        self.config.clock.now().rfc3339().replace(':', "-")
    }
}

/// Moves a folder of plain files, also to another disk.
fn move_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            fs::DirBuilder::new().mode(0o700).create(to)?;
            for entry in fs::read_dir(from)? {
                let entry = entry?;
                fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
            fs::remove_dir_all(from)
        }
        moved => moved,
    }
}

fn clear(restoring: &Path, staged_files: &Path) -> std::io::Result<()> {
    remove_database(restoring)?;
    match fs::remove_dir_all(staged_files) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("{} cannot be written: {error}", path.display()))
}
