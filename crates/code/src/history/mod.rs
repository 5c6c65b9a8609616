//! The history of a project's files: every write through this server, and what others changed on disk, with its author and reason.
//!
//! A version is stored as a delta of the one before. Every twentieth is whole, so any version is rebuilt in at most twenty steps, and
//! its digest is checked. A content over [`FILE_BYTES_MAX`](crate::FILE_BYTES_MAX) is not kept, only that it changed.
//!
//! A write to disk has three parts: its version is recorded as in progress, together with the audit entry; the file is renamed into
//! place; the version is marked as done. Whoever finds a version in progress without a living writer looks at the disk: if the file has
//! its content, the version is done, else it was not done. So after a crash at any point the file has the old or the new content, and
//! history says which. If the file was changed by others between the crash and that look, the version counts as not done.
//!
//! This module never decides who may do what, and never touches a file except through [`Files`].

mod blame;
mod content;
mod delta;
mod merge;
mod noticed;
mod plan;
mod query;
mod restore;
mod settle;
mod sql;
#[cfg(test)]
mod tests;
mod version;
mod write;

use base::{Clock, ProjectId};
use store::OrgStore;

use crate::files::Files;

pub use blame::{Blame, BlameSpan};
pub use noticed::{Before, Noticed};
pub use query::{At, Diff, HistoryFilter, Past, Within};
pub use restore::{RollbackOutcome, RolledBack, Writer};
pub use settle::Settled;
pub use version::{ChangeSource, ChangeType, Version};
pub use write::{NewContent, Written};

/// The history of one project's files. It is kept under the real paths of files: ask [`Files::real`] first where a path may lead
/// through a symbolic link.
#[derive(Clone)]
pub struct History<R = OrgStore> {
    rows: R,
    project: ProjectId,
    files: Files,
    clock: Clock,
}

impl<R: AsRef<OrgStore>> History<R> {
    /// The history of a project, for reading or, with a [`Change`](store::Change), for changing files.
    pub fn new(rows: R, project: ProjectId, files: Files, clock: Clock) -> Self {
        Self { rows, project, files, clock }
    }

    fn rows(&self) -> &OrgStore {
        self.rows.as_ref()
    }
}
