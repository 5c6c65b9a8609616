//! The files of a project as the index sees them: a listing with stamps, and bounded reads.
//!
//! [`Folder`] is a folder on disk. It never follows a symbolic link, never leaves its root and never waits for a pipe.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use base::Timestamp;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use serde::{Deserialize, Serialize};

use super::scan;

/// What tells without a read whether a file has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    /// Its length in bytes.
    pub(crate) size: u64,
    /// When its content last changed, in nanoseconds since the epoch.
    pub(crate) modified_ns: i64,
    /// When its content or its metadata last changed, in nanoseconds since the epoch. Nobody can set it back.
    pub(crate) changed_ns: i64,
    /// Its number in the file system.
    pub(crate) inode: u64,
}

impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// When the content last changed.
    pub(crate) fn changed_at(&self) -> Timestamp {
        Timestamp::from_ms(self.modified_ns / 1_000_000)
    }

    pub(crate) fn of_entry(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            size: metadata.len(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// A listing of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// The files with their stamps, sorted by path.
    pub(crate) files: Vec<(String, FileStamp)>,
    /// The folders that were visited. The root is the empty path.
    pub(crate) folders: Vec<String>,
    /// ProjectFiles that were left out because their names are not text.
    pub(crate) unnamed: u32,
    /// Whether a limit cut the listing.
    pub(crate) is_cut: bool,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// All bytes.
    Bytes(Vec<u8>),
    /// It is longer than asked for.
    TooLong,
}

/// The files of a project. Paths are relative to its root, with `/` between names.
pub(crate) trait ProjectFiles: Send + Sync {
    /// The files of the project, or only those at or below some paths. Ignored files are left out.
    fn list(&self, only: Option<&[String]>, stop: &AtomicBool) -> io::Result<Listing>;

    /// The stamp of a file. Nothing for anything else than a regular file.
    fn stamp(&self, path: &str) -> Option<FileStamp>;

    /// The content of a file and the stamp that it had before the read.
    fn read(&self, path: &str, bytes_max: u64) -> io::Result<(FileStamp, Content)>;

    /// The folder on disk, if there is one to watch.
    fn folder(&self) -> Option<&Path> {
        None
    }
}

/// The files below a folder on disk.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    directory: Dir,
}

impl Folder {
    /// Opens a folder.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Ok(Self { directory: Dir::open_ambient_dir(&path, ambient_authority())?, path })
    }
}

impl ProjectFiles for Folder {
    fn list(&self, only: Option<&[String]>, stop: &AtomicBool) -> io::Result<Listing> {
        scan::list(&self.path, only, stop)
    }

    fn stamp(&self, path: &str) -> Option<FileStamp> {
        let metadata = self.directory.symlink_metadata(path).ok()?;
        metadata.is_file().then(|| FileStamp::of(&metadata))
    }

    fn read(&self, path: &str, bytes_max: u64) -> io::Result<(FileStamp, Content)> {
        let mut options = OpenOptions::new();
        // A pipe in the place of a file must not make the reader wait.
        let flags = i32::try_from((rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits()).unwrap_or_default();
        options.read(true).custom_flags(flags);
        let file = self.directory.open_with(path, &options)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let stamp = FileStamp::of(&metadata);
        if stamp.size > bytes_max {
            return Ok((stamp, Content::TooLong));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default());
        file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        // It grew while it was read.
        let is_longer = u64::try_from(bytes.len()).is_ok_and(|length| length > bytes_max);
        Ok((stamp, if is_longer { Content::TooLong } else { Content::Bytes(bytes) }))
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_inside_are_read() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(home.path().join("secret"), "s").unwrap();
        std::fs::write(root.join("a"), "abc").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("out")).unwrap();
        std::os::unix::fs::symlink("a", root.join("in")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let folder = Folder::open(&root).unwrap();
        assert_eq!(folder.read("a", 3).unwrap().1, Content::Bytes(b"abc".to_vec()));
        assert_eq!(folder.read("a", 2).unwrap().1, Content::TooLong);
        assert_eq!(folder.stamp("a").unwrap(), folder.read("a", 3).unwrap().0);
        for path in ["out", "in", "pipe", "../secret", "missing", ""] {
            assert!(folder.read(path, 9).is_err(), "{path}");
            assert_eq!(folder.stamp(path), None, "{path}");
        }
    }
}
