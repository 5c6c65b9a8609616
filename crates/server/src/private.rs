//! Keeps the data folder to its owner: what others may read there is closed to them at the start.

use std::fs::{self, DirEntry, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base::{Error, Kind, Result};

/// What group and others may do.
const OTHERS: u32 = 0o077;
/// What everyone but the group may do.
const STRANGERS: u32 = 0o007;
/// How deep the data folder nests, at most.
const DEPTH_MAX: u32 = 8;

/// Closes the data folder and what is in it to everyone but its owner. A folder that is open to others and holds something else is
/// refused and left as it is: it is not ours to close.
pub(crate) fn close_to_others(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    let shown = folder.display();
    let cannot = |error: io::Error| Error::new(Kind::Unavailable, format!("the data folder {shown} cannot be read: {error}"));
    let mode = fs::metadata(folder).map_err(cannot)?.permissions().mode();
    if mode & OTHERS != 0 {
        let entries = fs::read_dir(folder).map_err(cannot)?.collect::<io::Result<Vec<_>>>().map_err(cannot)?;
        let known = |entry: &DirEntry| entry.file_name().to_str().is_some_and(&is_ours);
        let may_close = entries.is_empty() || entries.iter().any(known);
        let closed = if may_close { close(folder, mode) } else { Err(io::Error::other("it holds files of somebody else")) };
        match closed {
            Ok(()) => {
                tracing::info!("the data folder {shown} was open to others (mode {:o}) and is now closed to them", mode & 0o777)
            }
            // A group is often what a container's volume is shared through, and not ours to end.
            Err(error) if mode & STRANGERS == 0 => {
                tracing::warn!("the data folder {shown} is open to its group (mode {:o}): {error}", mode & 0o777);
            }
            Err(error) => {
                let message = format!(
                    "the data folder {shown} is open to others (mode {:o}) and cannot be closed ({error}): run `chmod 700 {shown}`, or pass another folder with --data",
                    mode & 0o777
                );
                return Err(Error::new(Kind::Unavailable, message));
            }
        }
    }
    close_within(folder, DEPTH_MAX).map_err(cannot)
}

/// Closes everything in a folder. Links are not followed.
fn close_within(folder: &Path, depth: u32) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found: Metadata = entry.metadata()?;
        let mode = found.permissions().mode();
        if (found.is_file() || found.is_dir())
            && mode & OTHERS != 0
            && let Err(error) = close(&entry.path(), mode)
        {
            tracing::warn!("{} is open to others (mode {:o}): {error}", entry.path().display(), mode & 0o777);
        }
        if found.is_dir() && depth > 0 {
            close_within(&entry.path(), depth - 1)?;
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
    fn a_folder_of_ours_is_closed_with_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let (deep, file) = (folder.path().join("cache/words"), folder.path().join("cache/words/meta.json"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(&file, "{}").unwrap();
        fs::write(folder.path().join("ours"), "").unwrap();
        for path in [folder.path(), &folder.path().join("cache"), &deep] {
            set(path, 0o755);
        }
        set(&file, 0o644);
        close_to_others(folder.path(), |name| name == "ours").unwrap();
        assert_eq!([mode(folder.path()), mode(&deep), mode(&file)], [0o700, 0o700, 0o600]);
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("theirs"), "").unwrap();
        set(folder.path(), 0o755);
        let error = close_to_others(folder.path(), |name| name == "ours").unwrap_err();
        assert!(error.message().contains("chmod 700"), "{error}");
        assert_eq!(mode(folder.path()), 0o755);
        set(folder.path(), 0o700);
        close_to_others(folder.path(), |_| false).unwrap();
    }
}
