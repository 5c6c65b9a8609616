//! Periodic checkpoints of audit trails: one line in `<folder>/<orgId>.jsonl` for each org whose trail has grown. A checkpoint reveals
//! whether the end of a trail was removed. If the folder is on another machine's disk, it does so even if this machine's disks are
//! lost. Existing lines are never changed, except that an incomplete line left by a killed server is removed.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use audit::Checkpoint;
use base::{Error, OrgId, PageRequest, Result, limits};
use tokio::sync::{Mutex, watch};

use crate::config::Config;
use crate::state::Shared;

/// The folder of checkpoints in the data folder.
const IN_DATA: &str = "checkpoints";
/// The delay before the first checkpoints, unless the interval is shorter.
const FIRST: Duration = Duration::from_secs(60);
/// A checkpoint is written only when its entries are on disk. Otherwise a power failure would look like a removed tail.
const SETTLES: Duration = Duration::from_millis(2 * limits::NOTE_SYNC_MS_MAX);
/// Longer than any line.
const LINE_BYTES: u64 = 1_024;

/// The folder for checkpoints.
pub(crate) fn folder(config: &Config, data: &Path) -> PathBuf {
    config.audit_checkpoints.clone().unwrap_or_else(|| data.join(IN_DATA))
}

/// The folder, and the trail size in each org's last checkpoint.
pub(crate) struct Checkpoints {
    folder: PathBuf,
    sizes: Mutex<HashMap<OrgId, u64>>,
}

impl Checkpoints {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, sizes: Mutex::default() }
    }

    /// Writes a checkpoint for each org whose trail has grown since its last one. Returns how many were written.
    pub(crate) async fn write(&self, state: &Shared) -> Result<usize> {
        let (mut page, mut written) = (PageRequest { rows: limits::PAGE_ROWS_MAX, after: None }, 0);
        let mut sizes = self.sizes.lock().await;
        loop {
            let orgs = state.guard.orgs().list(&page).await?;
            let mut moved = Vec::new();
            for org in &orgs.items {
                let size = state.guard.trail_size(&org.id).await?;
                let known = *sizes.entry(org.id).or_insert_with(|| last_size(&self.file_of(org.id.as_str())));
                if size != known {
                    moved.push((org.id, state.guard.checkpoint(&org.id).await?));
                }
            }
            if !moved.is_empty() {
                tokio::time::sleep(SETTLES).await;
            }
            for (org, checkpoint) in moved {
                let (size, file) = (checkpoint.size, self.file_of(org.as_str()));
                tokio::task::spawn_blocking(move || append(&file, &checkpoint)).await.map_err(Error::internal)??;
                sizes.insert(org, size);
                written += 1;
            }
            match orgs.next {
                Some(next) => page.after = Some(next),
                None => return Ok(written),
            }
        }
    }

    fn file_of(&self, org: &str) -> PathBuf {
        self.folder.join(format!("{org}.jsonl"))
    }
}

/// Writes checkpoints at an interval until `stopping` turns true. Failures are logged and retried at the next interval.
pub(crate) async fn write_regularly(state: Shared, every: Duration, mut stopping: watch::Receiver<bool>) {
    let writes = async {
        let mut wait = every.min(FIRST);
        loop {
            tokio::time::sleep(wait).await;
            wait = every;
            match state.checkpoints.write(&state).await {
                Ok(0) => {}
                Ok(written) => tracing::debug!(written, "audit checkpoints written"),
                Err(error) => tracing::error!(%error, "cannot write audit checkpoints"),
            }
        }
    };
    tokio::select! {
        () = writes => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
}

/// The trail size in the last complete line of a file, or 0 without one.
fn last_size(path: &Path) -> u64 {
    let tail = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(2 * LINE_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let tail = tail().unwrap_or_default();
    let whole = tail.iter().rposition(|byte| *byte == b'\n').and_then(|end| tail.get(..end)).unwrap_or_default();
    let line = whole.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    Checkpoint::parse(line).map_or(0, |checkpoint| checkpoint.size)
}

/// Appends a line to a file and syncs it.
fn append(path: &Path, checkpoint: &Checkpoint) -> Result<()> {
    let mut line = serde_json::to_vec(checkpoint).map_err(Error::internal)?;
    line.push(b'\n');
    let failed = |error| Error::unavailable(format!("cannot write {}: {error}", path.display()));
    append_line(path, &line).map_err(failed)
}

fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Only the owner may read ids and times.
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let is_new = !path.exists();
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let length = file.metadata()?.len();
    if let Some(half) = half_line(&mut file, length)? {
        file.set_len(length - half)?;
    }
    file.write_all(line)?;
    file.sync_all()?;
    if is_new {
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The number of bytes after the last line break, if any.
fn half_line(file: &mut File, length: u64) -> io::Result<Option<u64>> {
    let from = length.saturating_sub(LINE_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let half = tail.len() - whole;
    Ok(u64::try_from(half).ok().filter(|half| *half > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit::{EntryHash, SigningKey};
    use base::Timestamp;

    #[test]
    fn incomplete_line_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er").join("org_1.jsonl");
        let checkpoint = |size| {
            let (at, key) = (Timestamp::from_ms(1_800_000_000_000), SigningKey::from_seed(&[1; 32]));
            Checkpoint::sign("org_1", size, &EntryHash::GENESIS, at, &key)
        };
        assert_eq!(last_size(&path), 0);
        append(&path, &checkpoint(3)).unwrap();
        let mut half = OpenOptions::new().append(true).open(&path).unwrap();
        half.write_all(b"{\"workspaceId\":\"org").unwrap();
        assert_eq!(last_size(&path), 3);
        append(&path, &checkpoint(7)).unwrap();
        assert_eq!(last_size(&path), 7);
        let read = Checkpoint::parse_file(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(read, [checkpoint(3), checkpoint(7)]);
    }
}
