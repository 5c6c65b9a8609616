//! A data folder during a restore, or after an interrupted one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use base::{Error, Kind, Result};

use crate::backup::{Swap, remove, remove_database};
use crate::data_folder::{DATABASE_FILE, DataFolder, uses_postgres};
use crate::server_file::unreadable;

/// The name of the database during a restore.
pub(crate) const RESTORING: &str = "toolcrib.db.restoring";
/// The name of the checkpoints during a restore.
pub(crate) const CHECKPOINTS_RESTORING: &str = "checkpoints.restoring";
/// The plan that a restore writes before it moves anything into place.
pub(crate) const SWAP_FILE: &str = "restore.json";

/// Describes an interrupted restore in a data folder, and says whether a server can start there.
pub fn restore_cut_short(data: &Path) -> Option<(String, bool)> {
    let shown = data.display();
    if data.join(SWAP_FILE).exists() {
        let words = format!(
            "a restore into the data folder {shown} was interrupted while moving data into place; `toolcrib serve` finishes it"
        );
        return Some((words, true));
    }
    let holds_data = data.join(DATABASE_FILE).exists() || uses_postgres(data);
    let words = || {
        format!(
            "a restore into the data folder {shown} was interrupted, and the folder contains no data; run `toolcrib restore` again"
        )
    };
    (data.join(RESTORING).exists() && !holds_data).then(|| (words(), false))
}

impl DataFolder {
    /// The path of the database during a restore.
    pub(crate) fn restoring(&self) -> PathBuf {
        self.path().join(RESTORING)
    }

    /// Moves the restored data into place. Once the plan is written, the swap is certain: either this process finishes it, or the next
    /// one that locks the folder.
    pub(crate) fn swap(&self, swap: &Swap) -> Result<()> {
        let text = serde_json::to_vec_pretty(swap)
            .map_err(|error| Error::new(Kind::InvalidParams, format!("cannot write the restore plan: {error}")))?;
        self.write_private(SWAP_FILE, &text)?;
        self.finish_swap()
    }

    pub(crate) fn finish_swap(&self) -> Result<()> {
        let path = self.path().join(SWAP_FILE);
        let unfinished = |error: &dyn std::fmt::Display| {
            let words = format!(
                "the restore is not finished ({error}); the next `toolcrib serve` or `toolcrib restore` on {} finishes it",
                self.path().display()
            );
            Error::new(Kind::Unavailable, words)
        };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(&path, &error)),
        };
        let swap: Swap =
            serde_json::from_slice(&bytes).map_err(|error| unfinished(&format_args!("{}: {error}", path.display())))?;
        swap.finish(self.path()).map_err(|error| unfinished(&error))?;
        self.remember_engine(if swap.postgres { store::Engine::Postgres } else { store::Engine::Sqlite })?;
        remove(&path).and_then(|()| File::open(self.path())?.sync_all()).map_err(|error| unfinished(&error))
    }

    /// Removes the leftovers of a killed restore.
    pub(crate) fn clear_restoring(&self) -> Result<()> {
        let cleared = remove_database(&self.restoring()).and_then(|()| remove(&self.path().join(CHECKPOINTS_RESTORING)));
        cleared.map_err(|error| Error::new(Kind::Unavailable, format!("cannot clear {}: {error}", self.restoring().display())))
    }

    /// Checks in advance that the folder is writable.
    pub(crate) fn check_writable(&self) -> Result<()> {
        const PROBE: &str = "restore.probe";
        self.write_private(PROBE, b"")?;
        remove(&self.path().join(PROBE)).map_err(Error::unavailable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A restore that was killed after it moved the checkpoints, and before it moved the database.
    #[test]
    fn next_process_finishes_an_interrupted_restore() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        put(data, "toolcrib.db", "old");
        put(data, "toolcrib.db-wal", "old log");
        put(data, RESTORING, "new");
        put(data, "checkpoints/org.jsonl", "new");
        put(data, "checkpoints.replaced-1/org.jsonl", "old");
        let mut swap = Swap::new(false);
        swap.rename("checkpoints", "checkpoints.replaced-1");
        swap.rename(CHECKPOINTS_RESTORING, "checkpoints");
        swap.database(RESTORING, "toolcrib.db", Some("toolcrib.db.replaced-1"));
        put(data, SWAP_FILE, &serde_json::to_string(&swap).unwrap());
        assert!(restore_cut_short(data).is_some_and(|(words, can_start)| can_start && words.contains("finishes it")));
        drop(DataFolder::open(data, "toolcrib serve").unwrap());
        let read = |name: &str| fs::read_to_string(data.join(name)).unwrap();
        assert_eq!((read("toolcrib.db").as_str(), read("checkpoints/org.jsonl").as_str()), ("new", "new"));
        assert_eq!((read("toolcrib.db.replaced-1").as_str(), read("toolcrib.db.replaced-1-wal").as_str()), ("old", "old log"));
        assert!(!data.join(SWAP_FILE).exists() && !data.join("toolcrib.db-wal").exists());
        assert_eq!((read("engine").as_str(), restore_cut_short(data)), ("sqlite", None));
    }

    #[test]
    fn restore_marker_is_readable_only_by_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path(), "toolcrib serve").unwrap();
        data.forget_other_rows(Some("a restore")).unwrap();
        let kept = folder.path().join("cache/restore");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "a restore");
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn leftovers_of_a_killed_restore_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "master.key", "");
        put(folder.path(), RESTORING, "half");
        put(folder.path(), "checkpoints.restoring/org.jsonl", "half");
        let Err(refused) = DataFolder::open(folder.path(), "toolcrib serve") else { panic!("there is no data") };
        assert_eq!(Some((refused.message().to_owned(), false)), restore_cut_short(&folder.path().canonicalize().unwrap()));
        put(folder.path(), "toolcrib.db", "whole");
        drop(DataFolder::open(folder.path(), "toolcrib serve").unwrap());
        assert!(!folder.path().join(RESTORING).exists() && !folder.path().join(CHECKPOINTS_RESTORING).exists());
    }
}
