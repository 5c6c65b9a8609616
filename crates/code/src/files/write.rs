//! Writes and removals of files: the old content or the new one, never a part of either.
//!
//! A write fills a temporary file in the same folder, syncs it, compares what it is about to replace, renames and syncs the folder.
//! The permission bits of a file stay. Its hard links, its owner and its extended attributes do not, as with most editors.

use std::io::{self, Write as _};

use base::{FileVersionId, Result};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use rustix::io::Errno;

use super::FILE_BYTES_MAX;
use super::failure::{Doing, failure, not_a_file};
use super::root::{Place, Root, Seen, Stat, stat_of};
use super::steps::{Step, Steps};
use crate::path::{CodePath, temporary_name};

/// How a write or a removal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The file has its new content, or is gone.
    Done,
    /// Nothing was changed, because the file is not as it was seen.
    Changed,
}

impl Root {
    /// Gives the file at `path` this content, and creates missing folders. If `seen` is given, it must still be there. `write` names
    /// the temporary file, so that the next start finds what a killed process left.
    pub fn write(&self, path: &CodePath, bytes: &[u8], seen: Option<&Seen>, write: &FileVersionId) -> Result<Replaced> {
        self.check()?;
        let failed = |error: io::Error| failure(path, Doing::Writing, &error);
        let place = match self.place(path, Doing::Writing)? {
            Some(place) => place,
            None if matches!(seen, Some(Seen::File(_) | Seen::Large(_))) => return Ok(Replaced::Changed),
            None => self.place_with_folders(path)?,
        };
        let mode = match place.found.as_ref().map(|found| (stat_of(found), found.permissions().mode())) {
            Some((Stat::File(_), mode)) => Some(mode & 0o777),
            Some(_) => return Err(not_a_file(path)),
            None => None,
        };
        let mut temporary = Temporary::create(&place.folder, temporary_name(write), mode, &self.steps).map_err(failed)?;
        temporary.fill(bytes).map_err(failed)?;
        if !self.is_still(&place, path, seen)? {
            return Ok(Replaced::Changed);
        }
        self.steps.done(Step::Compared).map_err(failed)?;
        match temporary.rename_to(&place.name, matches!(seen, Some(Seen::Missing))) {
            Ok(()) => (),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Replaced::Changed),
            Err(error) => return Err(failed(error)),
        }
        self.steps.done(Step::Renamed).map_err(failed)?;
        sync(&place.folder).map_err(failed)?;
        Ok(Replaced::Done)
    }

    /// Removes the file at `path`. If `seen` is given, it must still be there. Folders stay, even empty ones.
    pub fn remove(&self, path: &CodePath, seen: Option<&Seen>) -> Result<Replaced> {
        self.check()?;
        let failed = |error: io::Error| failure(path, Doing::Writing, &error);
        let Some(place) = self.place(path, Doing::Writing)? else { return Ok(Replaced::Done) };
        match place.found.as_ref().map(stat_of) {
            Some(Stat::File(_)) => (),
            Some(_) => return Err(not_a_file(path)),
            None => return Ok(Replaced::Done),
        }
        if !self.is_still(&place, path, seen)? {
            return Ok(Replaced::Changed);
        }
        self.steps.done(Step::Compared).map_err(failed)?;
        match place.folder.remove_file(&place.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => (),
        }
        self.steps.done(Step::Renamed).map_err(failed)?;
        sync(&place.folder).map_err(failed)?;
        Ok(Replaced::Done)
    }

    /// Removes the temporary file that a killed write left, if it did.
    pub(crate) fn clean_up(&self, path: &CodePath, write: &FileVersionId) {
        if let Ok(Some(place)) = self.place(path, Doing::Writing) {
            let _ = place.folder.remove_file(temporary_name(write));
        }
    }

    fn is_still(&self, place: &Place, path: &CodePath, seen: Option<&Seen>) -> Result<bool> {
        let Some(seen) = seen else { return Ok(true) };
        let read = place.read(FILE_BYTES_MAX).map_err(|error| failure(path, Doing::Writing, &error))?;
        Ok(Seen::of(path, &read)? == *seen)
    }

    /// Where `path` is or will be, after its missing folders are created.
    fn place_with_folders(&self, path: &CodePath) -> Result<Place> {
        let failed = |error: io::Error| failure(path, Doing::Writing, &error);
        let folders = path.split().0.unwrap_or_default();
        for end in folders.match_indices('/').map(|(at, _)| at).chain([folders.len()]) {
            let folder = CodePath::parse(folders.get(..end).unwrap_or_default())?;
            let Some(place) = self.place(&folder, Doing::Writing)? else { continue };
            if place.found.is_some() {
                continue;
            }
            match place.folder.create_dir(&place.name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => sync(&place.folder).map_err(failed)?,
            }
        }
        self.place(path, Doing::Writing)?.ok_or_else(|| failed(Errno::NOENT.into()))
    }
}

/// A file on its way. It is removed unless it was renamed.
struct Temporary<'f> {
    folder: &'f Dir,
    name: String,
    file: cap_std::fs::File,
    is_renamed: bool,
    steps: &'f Steps,
}

impl<'f> Temporary<'f> {
    /// A new file. It gets the permission bits `mode`, or those of any new file.
    fn create(folder: &'f Dir, name: String, mode: Option<u32>, steps: &'f Steps) -> io::Result<Self> {
        let options = OpenOptions::new().write(true).create_new(true).mode(if mode.is_some() { 0o600 } else { 0o666 }).clone();
        let file = folder.open_with(&name, &options)?;
        let temporary = Self { folder, name, file, is_renamed: false, steps };
        if let Some(mode) = mode {
            temporary.file.set_permissions(Permissions::from_mode(mode))?;
        }
        steps.done(Step::Created)?;
        Ok(temporary)
    }

    fn fill(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.steps.done(Step::Filled)?;
        self.file.sync_all()?;
        self.steps.done(Step::Synced)
    }

    /// Gives the file its name. Where nothing was seen, nothing is replaced, if the file system can promise that.
    fn rename_to(&mut self, name: &str, is_new: bool) -> io::Result<()> {
        self.is_renamed = true;
        let renamed =
            if is_new { rename_new(self.folder, &self.name, name) } else { self.folder.rename(&self.name, self.folder, name) };
        self.is_renamed = renamed.is_ok();
        renamed
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed && !self.steps.kills {
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_new(folder: &Dir, from: &str, to: &str) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => folder.rename(from, folder, to),
        renamed => renamed.map_err(io::Error::from),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_new(folder: &Dir, from: &str, to: &str) -> io::Result<()> {
    folder.rename(from, folder, to)
}

/// Makes the names of a folder durable.
fn sync(folder: &Dir) -> io::Result<()> {
    match rustix::fs::fsync(folder) {
        // Some file systems cannot sync a folder.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        synced => synced.map_err(io::Error::from),
    }
}
