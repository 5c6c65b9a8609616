//! Makes the data folder private: at the start, permissions of group and others are removed.

use std::fs::{self, DirEntry, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base::{Error, Kind, Result};

/// Permissions of group and others.
const OTHERS: u32 = 0o077;
/// Permissions of others.
const STRANGERS: u32 = 0o007;
/// The maximum depth of the data folder.
const DEPTH_MAX: u32 = 8;

/// Whether we may change the folder's permissions: it is empty or contains a known name. Fails if the folder is accessible to others
/// and is not ours. Changes nothing.
pub(crate) fn is_ours(folder: &Path, is_known: impl Fn(&str) -> bool) -> Result<bool> {
    let mode = mode_of(folder)?;
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| unreadable(folder, &error))?;
    let known = |entry: &DirEntry| entry.file_name().to_str().is_some_and(&is_known);
    let is_ours = entries.is_empty() || entries.iter().any(known);
    if mode & STRANGERS != 0 && !is_ours { Err(open_to_others(folder, mode, &foreign())) } else { Ok(is_ours) }
}

/// Makes the data folder private if `may_close`, and also its entries for which `is_made_by_us`. The caller holds the folder's lock.
pub(crate) fn close_to_others(folder: &Path, may_close: bool, is_made_by_us: impl Fn(&str) -> bool) -> Result<()> {
    let shown = folder.display();
    let mode = mode_of(folder)?;
    if mode & OTHERS != 0 {
        let closed = if may_close { close(folder, mode) } else { Err(foreign()) };
        match closed {
            Ok(()) => {
                tracing::info!("the data folder {shown} was accessible to others (mode {:o}) and is now private", mode & 0o777)
            }
            // Containers often share a volume through its group, so this is only a warning.
            Err(error) if mode & STRANGERS == 0 => {
                tracing::warn!("the data folder {shown} is accessible to its group (mode {:o}): {error}", mode & 0o777);
            }
            Err(error) => return Err(open_to_others(folder, mode, &error)),
        }
    }
    close_within(folder, DEPTH_MAX, &is_made_by_us).map_err(|error| unreadable(folder, &error))
}

fn mode_of(folder: &Path) -> Result<u32> {
    let found = fs::metadata(folder).map_err(|error| unreadable(folder, &error))?;
    Ok(found.permissions().mode())
}

fn foreign() -> io::Error {
    io::Error::other("it contains files that do not belong to Toolcrib")
}

fn unreadable(folder: &Path, error: &io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("cannot read the data folder {}: {error}", folder.display()))
}

fn open_to_others(folder: &Path, mode: u32, error: &io::Error) -> Error {
    let shown = folder.display();
    let message = format!(
        "the data folder {shown} is accessible to others (mode {:o}) and cannot be made private ({error}); run `chmod 700 {shown}`, \
         or pass another folder with --data",
        mode & 0o777
    );
    Error::new(Kind::Unavailable, message)
}

/// Makes our entries in a folder private, with everything in them. Does not follow symlinks. Ignores files that disappear.
fn close_within(folder: &Path, depth: u32, is_ours: &dyn Fn(&str) -> bool) -> io::Result<()> {
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match fs::read_dir(folder) {
        Err(error) if gone(&error) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(is_ours) {
            continue;
        }
        let found: Metadata = match entry.metadata() {
            Err(error) if gone(&error) => continue,
            found => found?,
        };
        let mode = found.permissions().mode();
        if (found.is_file() || found.is_dir())
            && mode & OTHERS != 0
            && let Err(error) = close(&entry.path(), mode)
            && !gone(&error)
        {
            tracing::warn!("{} is accessible to others (mode {:o}): {error}", entry.path().display(), mode & 0o777);
        }
        if found.is_dir() && depth > 0 {
            close_within(&entry.path(), depth - 1, &|_| true)?;
        }
    }
    Ok(())
}

fn close(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 & !OTHERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn only_our_own_files_are_made_private() {
        let folder = tempfile::tempdir().unwrap();
        let (deep, file) = (folder.path().join("cache/words"), folder.path().join("cache/words/meta.json"));
        let (theirs, inside) = (folder.path().join("site"), folder.path().join("site/index.html"));
        for path in [&deep, &theirs] {
            fs::create_dir_all(path).unwrap();
        }
        for path in [&file, &inside] {
            fs::write(path, "{}").unwrap();
            set(path, 0o644);
        }
        for path in [folder.path(), &folder.path().join("cache"), &deep, &theirs] {
            set(path, 0o755);
        }
        assert!(is_ours(folder.path(), |name| name == "cache").unwrap());
        assert_eq!([mode(folder.path()), mode(&file)], [0o755, 0o644], "nothing is made private before the folder is locked");
        close_to_others(folder.path(), true, |name| name == "cache").unwrap();
        assert_eq!([mode(folder.path()), mode(&deep), mode(&file)], [0o700, 0o700, 0o600]);
        assert_eq!([mode(&theirs), mode(&inside)], [0o755, 0o644]);
    }

    #[test]
    fn foreign_folder_is_refused_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("theirs"), "").unwrap();
        set(folder.path(), 0o755);
        let error = is_ours(folder.path(), |name| name == "ours").unwrap_err();
        assert!(error.message().contains("chmod 700"), "{error}");
        assert_eq!(mode(folder.path()), 0o755);
        set(folder.path(), 0o700);
        assert!(!is_ours(folder.path(), |_| false).unwrap());
    }
}
