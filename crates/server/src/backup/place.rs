//! Putting a restored database in its place, so that a folder has the old data, the new data, or visibly neither.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::with_suffix;

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Removes a database and what lies beside it.
pub(super) fn remove_database(path: &Path) -> io::Result<()> {
    for suffix in BESIDE.iter().chain([&""]) {
        remove(&with_suffix(path, suffix))?;
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Moves the database at `whole` aside, with its log, and `restored` into its place. Between the two steps there is no database at
/// all, and `restored` still has its name: a server refuses to start then.
pub(super) fn take_place(restored: &Path, whole: &Path, aside: &Path) -> io::Result<Option<PathBuf>> {
    let replaced = whole.exists();
    if replaced {
        fs::rename(whole, aside)?;
    }
    // A log that belongs to another database would be read into the new one.
    for suffix in BESIDE {
        let beside = with_suffix(whole, suffix);
        if beside.exists() && replaced && suffix == "-wal" {
            fs::rename(&beside, with_suffix(aside, suffix))?;
        }
        remove(&beside)?;
    }
    sync_folder_of(whole)?;
    fs::rename(restored, whole)?;
    sync_folder_of(whole)?;
    Ok(replaced.then(|| aside.to_owned()))
}

pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_log_never_meets_the_new_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["db", "db-wal", "db-shm", "new"] {
            fs::write(path(name), name).unwrap();
        }
        assert_eq!(take_place(&path("new"), &path("db"), &path("old")).unwrap(), Some(path("old")));
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["db", "old", "old-wal"]);
        assert_eq!(fs::read_to_string(path("db")).unwrap(), "new");
        fs::rename(path("db"), path("new")).unwrap();
        fs::write(path("db-wal"), "left by a restore that was killed").unwrap();
        assert_eq!(take_place(&path("new"), &path("db"), &path("old")).unwrap(), None);
        assert!(!path("db-wal").exists());
    }
}
