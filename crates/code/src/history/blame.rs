//! Who wrote each line of a file, as far as history reaches.
//!
//! Versions are compared one after the other. A line belongs to the version that brought it. Lines that were there when history begins
//! belong to the first version that was looked at.

use std::sync::Arc;

use base::{Error, Result};
use similar::DiffOp;
use store::{OrgStore, Row, params};

use super::delta::{apply, compare, deadline, is_comparable, lines};
use super::{History, Version, sql};
use crate::files::{FILE_BYTES_MAX, unpack};
use crate::path::CodePath;

/// Versions that are compared. Older ones count as one.
const VERSIONS_MAX: i64 = 400;
/// Bytes that are compared. A long file has fewer versions for it.
const BYTES_MAX: usize = 256 * 1024 * 1024;
/// Versions that are read at once.
const AT_ONCE: i64 = 40;

/// Who wrote the lines of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The version whose lines these are.
    pub version: Version,
    /// The lines, from the first to the last. None if they are too many to compare.
    pub spans: Vec<BlameSpan>,
}

/// Lines next to each other that one version brought.
#[derive(Clone, Debug, PartialEq)]
pub struct BlameSpan {
    /// The first line, counted from 1.
    pub start_line: u32,
    /// How many lines.
    pub lines: u32,
    /// The version that brought them.
    pub version: Arc<Version>,
}

/// A content on the way, and the version of each of its lines.
#[derive(Default)]
struct Walk {
    content: Vec<u8>,
    owners: Vec<i64>,
}

/// A stored version.
struct Link {
    number: i64,
    steps: Option<i64>,
    content: Option<Vec<u8>>,
}

impl<R: AsRef<OrgStore>> History<R> {
    /// Who wrote each line of the newest version of a file. `None` if history does not have its content.
    pub async fn blame(&self, path: &CodePath) -> Result<Option<Blame>> {
        let Some(newest) = self.newest_version(path).await?.filter(Version::is_kept) else { return Ok(None) };
        let size = usize::try_from(newest.size.unwrap_or_default()).unwrap_or(FILE_BYTES_MAX).max(1);
        let most = i64::try_from(BYTES_MAX / size).unwrap_or(VERSIONS_MAX).clamp(1, VERSIONS_MAX);
        let since = (newest.number - most + 1).max(1);
        let version = |row: &Row<'_>| Version::from_row(row).map(Arc::new);
        let versions = self.rows().query(sql::SINCE, &params![self.project, path, since, VERSIONS_MAX], version).await?;
        // The walk starts at a whole content, or after the last version without one.
        let first = versions.iter().rposition(|version| !version.is_kept()).map_or(0, |place| place + 1);
        let Some(oldest) = versions.get(first) else { return Ok(None) };
        let mut walk = Walk::default();
        let mut next = oldest.number - oldest.steps.unwrap_or_default();
        while next <= newest.number {
            let end = (next + AT_ONCE - 1).min(newest.number);
            let link =
                |row: &Row<'_>| Ok(Link { number: row.get("version")?, steps: row.get("steps")?, content: row.get("content")? });
            let links = self.rows().query(sql::CHAIN, &params![self.project, path, next, end], link).await?;
            let (oldest, moved) = (oldest.number, std::mem::take(&mut walk));
            walk = store::compute(self.rows().org(), move || moved.along(links, oldest)).await??;
            next = end + 1;
        }
        Ok(Some(Blame { version: newest, spans: spans(&walk.owners, &versions) }))
    }
}

impl Walk {
    /// Goes on through some versions. Everything up to `oldest` belongs to it.
    fn along(mut self, links: Vec<Link>, oldest: i64) -> Result<Self> {
        for link in links {
            let packed = link.content.ok_or_else(|| Error::internal("a version cannot be rebuilt"))?;
            let content = match link.steps {
                Some(0) => unpack(&packed, FILE_BYTES_MAX)?,
                _ => apply(&self.content, &packed)?,
            };
            self.owners = if link.number <= oldest {
                vec![oldest; if is_comparable(&content) { lines(&content).len() } else { 0 }]
            } else {
                owners(&self, &content, link.number)
            };
            self.content = content;
        }
        Ok(self)
    }
}

/// The versions of the lines of `content`, which `number` made of the last one.
fn owners(last: &Walk, content: &[u8], number: i64) -> Vec<i64> {
    if !is_comparable(&last.content) || !is_comparable(content) {
        return if is_comparable(content) { vec![number; lines(content).len()] } else { Vec::new() };
    }
    let mut owners = Vec::new();
    for op in compare(&lines(&last.content), &lines(content), deadline()) {
        if matches!(op, DiffOp::Equal { .. }) {
            owners.extend(last.owners.get(op.old_range()).unwrap_or_default());
        } else {
            owners.extend(op.new_range().map(|_| number));
        }
    }
    owners
}

fn spans(owners: &[i64], versions: &[Arc<Version>]) -> Vec<BlameSpan> {
    let mut spans = Vec::new();
    let mut start_line = 1;
    for run in owners.chunk_by(|one, other| one == other) {
        let lines = u32::try_from(run.len()).unwrap_or(u32::MAX);
        let owner = run.first().and_then(|number| versions.iter().find(|version| version.number == *number));
        spans.extend(owner.map(|version| BlameSpan { start_line, lines, version: Arc::clone(version) }));
        start_line = start_line.saturating_add(lines);
    }
    spans
}
