//! The files of a project: below its root on disk, or in rows if it has none.
//!
//! [`Root`] reads and writes below a folder and never outside it. A project without a root keeps the current content of its files
//! in rows. Every change goes through [`History`](crate::History), which records it.

mod failure;
mod hash;
mod locks;
mod packed;
mod root;
mod rows;
mod sql;
mod steps;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use base::{Error, ProjectId, Result};
use store::OrgStore;

use crate::path::CodePath;

pub use hash::Sha256;
pub(crate) use locks::{Locked, lock};
pub(crate) use packed::{pack, unpack};
pub use root::{Read, Root, Seen, Stamp, Stat};
pub(crate) use rows::{Stored, forget_stored, keep_stored};
pub use rows::{StoredFile, stored_files};
#[cfg(test)]
pub(crate) use steps::{Step, Steps};
pub use write::Replaced;

/// The largest file whose content history keeps, and that a project without a root can have.
pub const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Where the files of a project are.
#[derive(Clone)]
pub enum Files {
    /// Below a folder.
    Disk(Arc<Root>),
    /// In rows.
    Rows,
}

impl Files {
    /// Reads a file of at most `bytes_max` bytes.
    pub async fn read(&self, rows: &OrgStore, project: &ProjectId, path: &CodePath, bytes_max: usize) -> Result<Read> {
        match self {
            Self::Disk(root) => {
                let (root, path) = (Arc::clone(root), path.clone());
                on_disk(move || root.check().and_then(|()| root.read(&path, bytes_max))).await
            }
            Self::Rows => rows::read(rows, project, path, bytes_max).await,
        }
    }

    /// Reads a file for a change: what is there, and what to compare it with later.
    pub(crate) async fn look(&self, rows: &OrgStore, project: &ProjectId, path: &CodePath) -> Result<(Read, Seen)> {
        let path = path.clone();
        if let Self::Disk(root) = self {
            let root = Arc::clone(root);
            return on_disk(move || {
                let read = root.read(&path, FILE_BYTES_MAX)?;
                Seen::of(&path, &read).map(|seen| (read, seen))
            })
            .await;
        }
        let read = rows::read(rows, project, &path, FILE_BYTES_MAX).await?;
        on_disk(move || Seen::of(&path, &read).map(|seen| (read, seen))).await
    }

    /// The path of the file that `path` leads to. History is kept under this path.
    pub async fn real(&self, path: &CodePath) -> Result<CodePath> {
        match self {
            Self::Disk(root) => {
                let (root, path) = (Arc::clone(root), path.clone());
                on_disk(move || root.real(&path)).await
            }
            Self::Rows => Ok(path.clone()),
        }
    }

    /// The right to write the file at the real path `path`.
    pub(crate) async fn lock(&self, project: &ProjectId, path: &CodePath) -> Locked {
        match self {
            Self::Disk(root) => lock(format!("{}/{path}", root.path().display())).await,
            Self::Rows => lock(format!("{project}/{path}")).await,
        }
    }
}

/// Runs work on the disk on a thread that may block.
pub(crate) async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}
