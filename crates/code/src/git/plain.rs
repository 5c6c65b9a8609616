//! Checks that a repository consists of plain files and folders before anything is read from it.
//!
//! A pipe or a device in the place of a branch or an object would block its reader for ever, and no deadline helps then. The check is made
//! once, when a repository is opened: it protects against a repository that was unpacked from somewhere, not against somebody who changes
//! the server's disk at the same time.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most files and folders. More are refused: it is not the repository of a project then.
const MAX_ENTRIES: usize = 1_000_000;
/// The deepest folder of branches and objects.
const MAX_DEPTH: usize = 64;
/// The most stores of objects that lend to each other, as in git.
const MAX_STORES: usize = 16;
/// The longest list of such stores.
const MAX_ALTERNATES: u64 = 64 << 10;

/// Whether `path` itself is a regular file.
pub(super) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Whether `path` itself is a folder.
pub(super) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// The text of a regular file that is shorter than `most` bytes.
pub(super) fn read(path: &Path, most: u64) -> Option<String> {
    if !is_file(path) {
        return None;
    }
    let mut text = String::new();
    let read = std::fs::File::open(path).ok()?.take(most).read_to_string(&mut text).ok()?;
    ((read as u64) < most).then_some(text)
}

/// Whether the branches and the objects below the folder of a repository are plain, including objects that it borrows.
pub(super) fn is_plain(git_dir: &Path) -> bool {
    let mut left = MAX_ENTRIES;
    let files = ["config", "config.worktree", "packed-refs", "shallow"].map(|name| git_dir.join(name));
    let are_files = files.iter().all(|path| path.symlink_metadata().is_err() || is_file(path));
    if !are_files || !is_plain_below(&git_dir.join("refs"), &mut left) {
        return false;
    }
    let mut stores = vec![git_dir.join("objects")];
    let mut next = 0;
    while let Some(store) = stores.get(next).cloned() {
        if stores.len() > MAX_STORES || !is_plain_below(&store, &mut left) {
            return false;
        }
        let Some(more) = lenders(&store) else { return false };
        stores.extend(more);
        next += 1;
    }
    true
}

/// The stores that a store of objects borrows from. A store that is not there lends nothing. `None` if the list cannot be trusted.
fn lenders(store: &Path) -> Option<Vec<PathBuf>> {
    let list = store.join("info/alternates");
    if list.symlink_metadata().is_err() {
        return Some(Vec::new());
    }
    let text = read(&list, MAX_ALTERNATES)?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    // A quoted path would need git's own rules to be read.
    let paths: Option<Vec<_>> = lines.map(|line| (!line.starts_with('"')).then(|| store.join(line))).collect();
    Some(paths?.into_iter().filter(|path| path.exists()).collect())
}

/// Whether everything below `folder` is plain.
pub(super) fn is_plain_folder(folder: &Path) -> bool {
    is_plain_below(folder, &mut { MAX_ENTRIES })
}

fn is_plain_below(folder: &Path, left: &mut usize) -> bool {
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { return false };
        for entry in entries {
            let Some((entry, kind)) = entry.ok().and_then(|entry| entry.file_type().ok().map(|kind| (entry, kind))) else {
                return false;
            };
            if *left == 0 || depth > MAX_DEPTH {
                return false;
            }
            *left -= 1;
            if kind.is_dir() {
                folders.push((entry.path(), depth + 1));
            } else if !kind.is_file() {
                return false;
            }
        }
    }
    true
}
