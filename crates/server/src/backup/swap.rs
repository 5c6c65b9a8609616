//! Moves restored files into place, so that a folder contains either all of the old data or all of the new data. The steps are written
//! to a plan first. If the process is killed, the next process that locks the folder finishes them.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::with_suffix;

/// Files that SQLite keeps next to a database.
pub(crate) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The steps to take in a data folder, in order. Paths inside the folder are relative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Swap {
    /// Whether the folder's data is in PostgreSQL afterwards.
    pub(crate) postgres: bool,
    steps: Vec<Step>,
}

/// One idempotent step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Step {
    /// Renames a file or folder. Nothing else creates the new name, so if it exists, the step is done.
    Move { from: PathBuf, to: PathBuf },
    /// Removes a file or folder.
    Remove { path: PathBuf },
}

impl Swap {
    pub(crate) fn new(postgres: bool) -> Self {
        Self { postgres, steps: Vec::new() }
    }

    /// Moves the database at `whole` and its log to `aside`, and `restored` into its place.
    pub(crate) fn database(&mut self, restored: &str, whole: &str, aside: Option<&str>) {
        if let Some(aside) = aside {
            self.rename(whole, aside);
            // The latest commits may be only in the log.
            self.rename(format!("{whole}-wal"), format!("{aside}-wal"));
        }
        // The log of another database must not be replayed into the new one.
        for suffix in BESIDE {
            self.remove(format!("{whole}{suffix}"));
        }
        self.rename(restored, whole);
    }

    pub(crate) fn rename(&mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) {
        self.steps.push(Step::Move { from: from.into(), to: to.into() });
    }

    pub(crate) fn remove(&mut self, path: impl Into<PathBuf>) {
        self.steps.push(Step::Remove { path: path.into() });
    }

    /// Does all steps that are not done yet.
    pub(crate) fn finish(&self, folder: &Path) -> io::Result<()> {
        self.steps.iter().try_for_each(|step| step.run(folder))
    }
}

impl Step {
    fn run(&self, folder: &Path) -> io::Result<()> {
        match self {
            Step::Move { from, to } => {
                let (from, to) = (folder.join(from), folder.join(to));
                if to.symlink_metadata().is_ok() || from.symlink_metadata().is_err() {
                    return Ok(());
                }
                move_to(&from, &to)?;
                sync_folder_of(&from)?;
                sync_folder_of(&to)
            }
            Step::Remove { path } => {
                let path = folder.join(path);
                remove(&path)?;
                sync_folder_of(&path)
            }
        }
    }
}

/// Removes a file or folder if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a database and the files next to it.
pub(crate) fn remove_database(path: &Path) -> io::Result<()> {
    BESIDE.iter().chain([&""]).try_for_each(|suffix| remove(&with_suffix(path, suffix)))
}

/// Moves a file, or a folder of plain files, also to another disk. The new name appears only when the copy is complete.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(above) = to.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(above)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices && from.is_dir() => {
            let part = with_suffix(to, ".part");
            remove(&part)?;
            DirBuilder::new().mode(0o700).create(&part)?;
            for entry in fs::read_dir(from)? {
                let entry = entry?;
                let copy = part.join(entry.file_name());
                fs::copy(entry.path(), &copy)?;
                File::open(&copy)?.sync_all()?;
            }
            File::open(&part)?.sync_all()?;
            fs::rename(&part, to)?;
            fs::remove_dir_all(from)
        }
        moved => moved,
    }
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    match File::open(path.parent().unwrap_or(Path::new("."))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => opened?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder right before the restored data is moved into place.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("db", "old"), ("db-wal", "old log"), ("db-shm", ""), ("db.restoring", "new")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        for (name, text) in [("checkpoints", "old"), ("checkpoints.restoring", "new")] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("org.jsonl"), text).unwrap();
        }
        folder
    }

    fn swap() -> Swap {
        let mut swap = Swap::new(false);
        swap.rename("checkpoints", "checkpoints.replaced-1");
        swap.rename("checkpoints.restoring", "checkpoints");
        swap.database("db.restoring", "db", Some("db.replaced-1"));
        swap
    }

    #[test]
    fn swap_finishes_after_a_kill_at_any_step() {
        let whole = swap();
        for done in 0..=whole.steps.len() {
            let folder = folder();
            let before = Swap { steps: whole.steps.iter().take(done).cloned().collect(), ..Swap::default() };
            before.finish(folder.path()).unwrap();
            whole.finish(folder.path()).unwrap();
            let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            let all = ["checkpoints", "checkpoints.replaced-1", "db", "db.replaced-1", "db.replaced-1-wal"];
            assert_eq!(names, all, "after {done} steps");
            let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
            assert_eq!((read("db").as_str(), read("checkpoints/org.jsonl").as_str()), ("new", "new"), "after {done} steps");
            assert_eq!((read("db.replaced-1").as_str(), read("checkpoints.replaced-1/org.jsonl").as_str()), ("old", "old"));
        }
    }

    #[test]
    fn old_log_is_not_kept_next_to_the_new_database() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("new"), "new").unwrap();
        fs::write(folder.path().join("db-wal"), "left by a killed restore").unwrap();
        let mut swap = Swap::new(false);
        swap.database("new", "db", None);
        swap.finish(folder.path()).unwrap();
        assert!(folder.path().join("db").exists() && !folder.path().join("db-wal").exists());
    }
}
