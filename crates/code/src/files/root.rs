//! The folder of a project. Every file is opened relative to a handle of it.
//!
//! A path is walked name by name, and no step follows a symbolic link. Where there is a link, cap-std says where it leads inside the
//! root, the result is checked like any path, and the walk starts again. So a folder that is swapped for a link between a check
//! and its use leads nowhere, and no link leads into `.git`.
//!
//! All functions block: run them on a thread that may.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base::{Error, Result};
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::failure::{Doing, failure, misled, vanished};
use super::hash::Sha256;
use super::steps::Steps;
use crate::path::CodePath;

/// How often a walk starts again, because of links or because someone moves folders meanwhile.
const WALKS_MAX: usize = 16;

/// The root of a project.
pub struct Root {
    pub(super) dir: Dir,
    path: PathBuf,
    pub(super) steps: Steps,
}

/// What identifies the state of a file without reading it. A file with another stamp may have another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The device.
    pub device: u64,
    /// The number of the file on its device.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds.
    pub modified_ns: i64,
    /// When its content or attributes changed, in nanoseconds.
    pub changed_ns: i64,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stat {
    /// Nothing.
    Missing,
    /// A folder.
    Folder,
    /// Neither a file nor a folder, such as a pipe.
    Special,
    /// A file.
    File(Stamp),
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// There is nothing.
    Missing,
    /// It is a folder.
    Folder,
    /// It is neither a file nor a folder, such as a pipe.
    Special,
    /// The file is larger than the caller wanted.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Its state.
        stamp: Stamp,
    },
    /// The file.
    File {
        /// Its content.
        bytes: Vec<u8>,
        /// Its state before it was read.
        stamp: Stamp,
    },
}

/// What a writer has seen at a path. A write that finds something else there changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    Missing,
    /// A file with this content.
    File(Sha256),
    /// A file that is too large to compare.
    Large(Stamp),
}

/// The place of a file: a handle of its folder, and its name there.
pub(super) struct Place {
    pub(super) folder: Dir,
    pub(super) name: String,
    pub(super) real: CodePath,
    pub(super) found: Option<Metadata>,
}

impl Root {
    /// Opens a project's root.
    ///
    /// # Errors
    /// `unavailable` if there is no such folder, or the server may not read it.
    pub fn open(path: &Path) -> Result<Self> {
        let real = path.canonicalize().map_err(|error| vanished().logged(error))?;
        // cap-std would open a handle that cannot be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| vanished().logged(error))?;
        Ok(Self { dir: Dir::from_std_file(dir.into()), path: real, steps: Steps::default() })
    }

    /// Its absolute path when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the root's path still names the folder that was opened.
    ///
    /// # Errors
    /// `unavailable` if it does not.
    pub fn check(&self) -> Result<()> {
        let named = std::fs::metadata(&self.path).map_err(|error| vanished().logged(error))?;
        let opened = self.dir.dir_metadata().map_err(|error| vanished().logged(error))?;
        let (device, inode) = (std::os::unix::fs::MetadataExt::dev(&named), std::os::unix::fs::MetadataExt::ino(&named));
        if (device, inode) == (opened.dev(), opened.ino()) { Ok(()) } else { Err(vanished()) }
    }

    /// The path of the file that `path` leads to when every symbolic link is followed.
    pub fn real(&self, path: &CodePath) -> Result<CodePath> {
        Ok(self.place(path, Doing::Reading)?.map_or_else(|| path.clone(), |place| place.real))
    }

    /// What is at `path`.
    pub fn stat(&self, path: &CodePath) -> Result<Stat> {
        match self.place(path, Doing::Reading)?.and_then(|place| place.found) {
            Some(found) => Ok(stat_of(&found)),
            None => self.check().map(|()| Stat::Missing),
        }
    }

    /// Reads a file of at most `bytes_max` bytes. It never waits for a pipe or a device.
    pub fn read(&self, path: &CodePath, bytes_max: usize) -> Result<Read> {
        for _ in 0..WALKS_MAX {
            let Some(place) = self.place(path, Doing::Reading)? else { break };
            match place.read(bytes_max) {
                // Someone replaced the file by a link since.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => (),
                Ok(Read::Missing) => break,
                read => return read.map_err(|error| failure(path, Doing::Reading, &error)),
            }
        }
        self.check().map(|()| Read::Missing)
    }

    /// Where `path` is, or would be. `None` if a folder on the way is missing.
    pub(super) fn place(&self, path: &CodePath, doing: Doing) -> Result<Option<Place>> {
        let failed = |error: &io::Error| failure(path, doing, error);
        let mut real = path.clone();
        for _ in 0..WALKS_MAX {
            let (folder, name) = real.split();
            let walked = match self.walk(folder) {
                Ok(walked) => walked,
                Err(Errno::NOENT) => return Ok(None),
                // Linux reports a link where a folder is required as not a folder.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                    let led = self.led(path, folder.unwrap_or_default(), doing)?;
                    match led.map(|led| if led.is_empty() { name.to_owned() } else { format!("{led}/{name}") }) {
                        Some(led) if led != real.as_str() => real = CodePath::parse(&led).map_err(|_| misled(path))?,
                        _ if doing == Doing::Reading => return Ok(None),
                        _ => return Err(failed(&Errno::NOTDIR.into())),
                    }
                    continue;
                }
                Err(error) => return Err(failed(&error.into())),
            };
            let found = match walked.symlink_metadata(name) {
                Ok(found) => Some(found),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(failed(&error)),
            };
            if !found.as_ref().is_some_and(|found| found.file_type().is_symlink()) {
                return Ok(Some(Place { folder: walked, name: name.to_owned(), real, found }));
            }
            match self.led(path, real.as_str(), doing)? {
                Some(led) => real = CodePath::parse(&led).map_err(|_| misled(path))?,
                None if doing == Doing::Reading => return Ok(None),
                None => return Err(misled(path)),
            }
        }
        Err(failed(&Errno::LOOP.into()))
    }

    /// The folder at `path`. No step follows a link.
    pub(super) fn walk(&self, path: Option<&str>) -> std::result::Result<Dir, Errno> {
        let mut dir = self.dir.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        for name in path.into_iter().flat_map(|path| path.split('/')) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            dir = Dir::from_std_file(rustix::fs::openat(&dir, name, flags, Mode::empty())?.into());
        }
        Ok(dir)
    }

    /// Where links lead from `at`, relative to the root. Names at its end that do not exist are kept. `None` if the link itself
    /// leads to nothing.
    fn led(&self, path: &CodePath, at: &str, doing: Doing) -> Result<Option<String>> {
        let (mut there, mut rest) = (at, String::new());
        loop {
            match self.dir.canonicalize(there) {
                Ok(real) => {
                    let real = real.to_str().ok_or_else(|| misled(path))?;
                    // A link to the root itself.
                    let led = if real == "." { rest.trim_start_matches('/').to_owned() } else { format!("{real}{rest}") };
                    return Ok((led != at).then_some(led));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => match there.rsplit_once('/') {
                    Some((above, name)) => {
                        rest = format!("/{name}{rest}");
                        there = above;
                    }
                    None => return Ok(None),
                },
                Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTDIR) => return Ok(None),
                Err(error) => return Err(failure(path, doing, &error)),
            }
        }
    }

    /// The same root for a test that watches the steps of a write.
    #[cfg(test)]
    pub(crate) fn with_steps(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }
}

impl Place {
    /// Reads the file at this place.
    pub(super) fn read(&self, bytes_max: usize) -> io::Result<Read> {
        // Opening some devices has effects, so only what looked like a file is opened.
        match self.folder.symlink_metadata(&self.name).map(|found| stat_of(&found)) {
            Ok(Stat::Folder) => return Ok(Read::Folder),
            Ok(Stat::Special) => return Ok(Read::Special),
            Ok(Stat::File(_)) => (),
            Ok(Stat::Missing) => return Err(Errno::LOOP.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::Missing),
            Err(error) => return Err(error),
        }
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
        let options = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).clone();
        let file = match self.folder.open_with(&self.name, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::Missing),
            Err(error) => return Err(error),
        };
        let stamp = match stat_of(&file.metadata()?) {
            Stat::File(stamp) => stamp,
            Stat::Folder => return Ok(Read::Folder),
            Stat::Special | Stat::Missing => return Ok(Read::Special),
        };
        let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        if stamp.size > limit {
            return Ok(Read::TooLarge { size: stamp.size, stamp });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default());
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() > bytes_max {
            return Ok(Read::TooLarge { size: bytes.len() as u64, stamp });
        }
        Ok(Read::File { bytes, stamp })
    }
}

/// What metadata says. A link counts as missing, because nothing here follows one.
pub(super) fn stat_of(found: &Metadata) -> Stat {
    let kind = found.file_type();
    if kind.is_symlink() {
        return Stat::Missing;
    }
    if kind.is_dir() {
        return Stat::Folder;
    }
    if !kind.is_file() {
        return Stat::Special;
    }
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stat::File(Stamp {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
    })
}

impl Seen {
    /// What a read has seen.
    ///
    /// # Errors
    /// `invalid_params` if no file can be there.
    pub(crate) fn of(path: &CodePath, read: &Read) -> Result<Self, Error> {
        match read {
            Read::Missing => Ok(Self::Missing),
            Read::File { bytes, .. } => Ok(Self::File(Sha256::of(bytes))),
            Read::TooLarge { stamp, .. } => Ok(Self::Large(*stamp)),
            Read::Folder | Read::Special => Err(super::failure::not_a_file(path)),
        }
    }
}
