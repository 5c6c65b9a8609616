//! Versions that were in progress when a process was killed: the disk says whether they were done.

use std::sync::Arc;

use base::Result;
use store::{Change, params};

use super::plan::{Known, Side, settle};
use super::{History, sql};
use crate::files::Files;
use crate::path::CodePath;

/// Files that one call looks at. Each needs a writer that was killed.
const FILES_MAX: u32 = 10_000;

/// What was found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Versions whose content is on disk.
    pub done: u32,
    /// Versions whose content is not.
    pub not_done: u32,
}

impl History<Change> {
    /// Settles all versions in progress that no writer of this process is working on, and removes temporary files that they left. Run
    /// it when a project is opened.
    pub async fn settle(&self) -> Result<Settled> {
        let path = |row: &store::Row<'_>| Ok(CodePath::from_row(row.text("path")?));
        let mut paths = self.rows().query(sql::IN_PROGRESS, &params![self.project, FILES_MAX], path).await?;
        paths.dedup();
        let mut settled = Settled::default();
        for path in paths {
            let _locked = self.files.lock(&self.project, &path).await;
            match self.settle_locked(&path).await {
                Ok(Some(true)) => settled.done += 1,
                Ok(Some(false)) => settled.not_done += 1,
                Ok(None) => (),
                // A file that cannot be read now is settled later.
                Err(error) => tracing::warn!(%error, "a version stays in progress"),
            }
        }
        Ok(settled)
    }

    /// Settles a file after a write that failed. The caller holds its lock.
    pub(super) async fn settle_one(&self, path: &CodePath) -> Result<()> {
        self.settle_locked(path).await.map(drop)
    }

    async fn settle_locked(&self, path: &CodePath) -> Result<Option<bool>> {
        let newest = self.newest(path).await?;
        let (current, seen) = self.look(path).await?;
        let known = Known::new(newest, &Side::of_read(&current, &seen));
        let Some((id, is_done)) = known.settles else { return Ok(None) };
        let (project, settled) = (self.project, path.clone());
        self.rows.write(move |tx| settle(tx, &project, &settled, &id, is_done)).await?;
        if let Files::Disk(root) = &self.files {
            let (root, path) = (Arc::clone(root), path.clone());
            let clean_up = move || {
                root.clean_up(&path, &id);
                Ok(())
            };
            crate::files::on_disk(clean_up).await?;
        }
        Ok(Some(is_done))
    }
}
