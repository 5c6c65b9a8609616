//! The walk over a folder: which files belong to a project.
//!
//! The rules are those of ripgrep: ignore files count, hidden files do not, nothing is read but names and ignore files. An ignore file
//! counts without a repository around it too.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::{DirEntry, WalkBuilder};

use super::files::{FileStamp, Listing};

/// More files are left out, and the listing says so.
pub(crate) const FILES_MAX: usize = 200_000;
/// Deeper folders are left out.
const DEPTH_MAX: usize = 64;
/// Longer paths are left out. No tool accepts them.
const PATH_BYTES_MAX: usize = 1_024;

/// The files below `root`, or those of them that are at or below the paths in `only`.
pub(crate) fn list(root: &Path, only: Option<&[String]>, stop: &AtomicBool) -> io::Result<Listing> {
    let mut walk = WalkBuilder::new(root);
    walk.git_global(false).require_git(false).follow_links(false).max_depth(Some(DEPTH_MAX));
    let chosen = only.map(|only| Arc::new(Chosen::new(root, only)));
    walk.filter_entry(move |entry| entry.file_name() != ".git" && chosen.as_ref().is_none_or(|chosen| chosen.has(entry.path())));
    let mut listing = Listing::default();
    for entry in walk.build() {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match entry {
            Ok(entry) => add(root, &entry, &mut listing),
            // The root itself cannot be listed: no files is not the same as no answer.
            Err(error) if error.depth() == Some(0) => {
                return Err(error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into()));
            }
            // A folder that cannot be read, or that has just gone, does not stop the rest.
            Err(error) => tracing::debug!(%error, "a folder cannot be listed"),
        }
        if listing.files.len() >= FILES_MAX {
            listing.is_cut = true;
            break;
        }
    }
    listing.files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(listing)
}

fn add(root: &Path, entry: &DirEntry, listing: &mut Listing) {
    let Some(kind) = entry.file_type().filter(|kind| kind.is_file() || kind.is_dir()) else { return };
    let Ok(inner) = entry.path().strip_prefix(root) else { return };
    let Some(path) = inner.to_str().filter(|path| path.len() <= PATH_BYTES_MAX && !path.contains('\\')) else {
        listing.unnamed += 1;
        return;
    };
    if kind.is_dir() {
        listing.folders.push(path.to_owned());
    } else if let Ok(metadata) = entry.metadata() {
        listing.files.push((path.to_owned(), FileStamp::of_entry(&metadata)));
    }
}

/// The paths that a partial walk visits.
struct Chosen {
    /// The folders on the way to a path.
    above: HashSet<PathBuf>,
    paths: HashSet<PathBuf>,
}

impl Chosen {
    fn new(root: &Path, only: &[String]) -> Self {
        let paths: HashSet<PathBuf> = only.iter().map(|path| root.join(path)).collect();
        let above = paths.iter().flat_map(|path| path.ancestors().skip(1)).filter(|above| above.starts_with(root));
        Self { above: above.map(Path::to_owned).collect(), paths }
    }

    fn has(&self, path: &Path) -> bool {
        self.above.contains(path) || path.ancestors().any(|above| self.paths.contains(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for (path, text) in [
            (".gitignore", "out/\n*.log\n"),
            (".git/config", ""),
            (".hidden/a.rs", ""),
            ("a.rs", "fn a() {}"),
            ("b.log", ""),
            ("out/c.rs", ""),
            ("src/d.rs", ""),
            ("src/.ignore", "e.rs\n"),
            ("src/e.rs", ""),
            ("src/deep/f.rs", ""),
        ] {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink("a.rs", home.path().join("link.rs")).unwrap();
        std::os::unix::fs::symlink("..", home.path().join("src/loop")).unwrap();
        home
    }

    fn paths(listing: &Listing) -> Vec<&str> {
        listing.files.iter().map(|(path, _)| path.as_str()).collect()
    }

    #[test]
    fn ignored_hidden_and_linked_files_are_left_out() {
        let home = tree();
        let listing = list(home.path(), None, &AtomicBool::new(false)).unwrap();
        assert_eq!(paths(&listing), ["a.rs", "src/d.rs", "src/deep/f.rs"]);
        assert_eq!(listing.files[0].1.size, 9);
        assert_eq!(listing.folders, ["", "src", "src/deep"]);
        assert!(!listing.is_cut);
    }

    #[test]
    fn a_partial_walk_follows_the_same_rules() {
        let home = tree();
        let only = |paths: &[&str]| {
            let only: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            let listing = list(home.path(), Some(&only), &AtomicBool::new(false)).unwrap();
            listing.files.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
        };
        assert_eq!(only(&["src"]), ["src/d.rs", "src/deep/f.rs"]);
        assert_eq!(only(&["a.rs", "src/deep/f.rs", "src/missing"]), ["a.rs", "src/deep/f.rs"]);
        assert!(only(&["out/c.rs", "src/e.rs", "b.log", ".hidden/a.rs", "link.rs", ".git/config"]).is_empty());
    }

    #[test]
    fn names_that_are_not_text_are_counted() {
        use std::os::unix::ffi::OsStrExt as _;
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(std::ffi::OsStr::from_bytes(b"bad\xff.rs")), "").unwrap();
        std::fs::write(home.path().join("good.rs"), "").unwrap();
        let listing = list(home.path(), None, &AtomicBool::new(false)).unwrap();
        assert_eq!((paths(&listing), listing.unnamed), (vec!["good.rs"], 1));
        assert!(list(&home.path().join("missing"), None, &AtomicBool::new(false)).is_err());
        let stopped = list(home.path(), None, &AtomicBool::new(true));
        assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }
}
