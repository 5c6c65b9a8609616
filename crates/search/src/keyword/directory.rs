//! The folder for tantivy: memory-mapped for reading, and written without waiting for the disk.
//!
//! A commit with tantivy's own directory type syncs about twenty files, which takes seconds on a busy disk. A cache need not
//! survive a power loss: its checksums reveal damage when the folder is opened, and it is rebuilt. A crash of this process must
//! not lose committed data, and for that the kernel's page cache is enough.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback, WatchHandle,
    WritePtr,
};

/// Creates a folder and its missing parents, accessible only to the owner, because it holds text of agents.
pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Options for creating files that only the owner can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

#[derive(Clone, Debug)]
pub(super) struct Unsynced {
    mapped: MmapDirectory,
    folder: PathBuf,
}

impl Unsynced {
    pub(super) fn open(folder: &Path) -> Result<Self, tantivy::TantivyError> {
        Ok(Self { mapped: MmapDirectory::open(folder)?, folder: folder.to_owned() })
    }
}

impl Directory for Unsynced {
    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = private().create_new(true).open(self.folder.join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Unfinished(file))))
    }

    /// Readers see the old content or the new one: the new file is written next to the old one and then renamed.
    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let target = self.folder.join(path);
        let beside = target.with_extension("new");
        private().create(true).truncate(true).open(&beside)?.write_all(data)?;
        fs::rename(beside, target)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // If the file is missing, tantivy would create it readable by everyone.
        private().create(true).truncate(false).open(self.folder.join(&lock.filepath)).map_err(LockError::wrap_io_error)?;
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// A file that tantivy is writing.
struct Unfinished(File);

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Unfinished {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
