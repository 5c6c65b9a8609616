//! Reads the files of a folder that an evaluation searches.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use base::{Error, Result};

use crate::index::{Content, Folder, ProjectFiles};

/// Larger files are data.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The maximum number of files of a set.
const FILES_MAX: usize = 50_000;
/// The maximum number of bytes of a set.
const BYTES_MAX: usize = 512 * 1024 * 1024;

/// What may still be read.
pub(super) struct Budget {
    files: usize,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { files: FILES_MAX, bytes: BYTES_MAX }
    }
}

impl Budget {
    /// Takes a file of this length, or fails if that is too much.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        match (self.files.checked_sub(1), self.bytes.checked_sub(bytes)) {
            (Some(files), Some(bytes)) => {
                *self = Self { files, bytes };
                Ok(())
            }
            _ => Err(Error::invalid("folder", "the folder has more than 50,000 files or 512 MiB of text; measure a part of it")),
        }
    }
}

/// A folder and the paths of the files in it that the index would search.
fn open(folder: &Path) -> Result<(Folder, Vec<String>)> {
    let unreadable = |error| Error::invalid("folder", format!("cannot read `{}`: {error}", folder.display()));
    let opened = Folder::open(folder).map_err(unreadable)?;
    let listing = opened.list(None, &AtomicBool::new(false)).map_err(unreadable)?;
    Ok((opened, listing.files.into_iter().map(|(path, _)| path).collect()))
}

/// The paths of the files that the index would search.
pub(super) fn list(folder: &Path) -> Result<Vec<String>> {
    Ok(open(folder)?.1)
}

/// The paths and texts of the files that the index would search.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, String)>> {
    let (opened, paths) = open(folder)?;
    let mut budget = Budget::default();
    let mut files = Vec::new();
    for path in paths {
        // A file that cannot be read, is very large or is binary is not searched.
        let Ok((_, Content::Bytes(bytes))) = opened.read(&path, FILE_BYTES_MAX) else { continue };
        if let Some(text) = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) {
            budget.take(text.len())?;
            files.push((path, text));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_the_rest_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.py", "x = 1\n".as_bytes()), ("b.bin", b"\0\x01"), ("c.txt", b"\xff"), (".hidden", b"x")] {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        assert_eq!(read(folder.path()).unwrap(), [("a.py".to_owned(), "x = 1\n".to_owned())]);
        assert!(read(&folder.path().join("nowhere")).unwrap_err().message().contains("cannot read"));
    }

    #[test]
    fn a_budget_ends() {
        let mut budget = Budget { files: 2, bytes: 10 };
        assert!(budget.take(9).is_ok() && budget.take(2).is_err() && budget.take(1).is_ok() && budget.take(0).is_err());
    }
}
