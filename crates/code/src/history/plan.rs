//! What a change writes to history. A plan is made outside a transaction, because comparing takes time, and is carried out only if
//! history is still as the plan found it.

use base::{Author, FileVersionId, ProjectId, Result, Timestamp};
use store::{OrgTx, params};

use super::content::WHOLE_EVERY;
use super::version::State;
use super::{ChangeSource, ChangeType, Version, delta, sql};
use crate::files::{Read, Seen, Sha256, pack};
use crate::path::CodePath;

/// What is known about a change besides the contents.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) source: ChangeSource,
    pub(super) author: Author,
    pub(super) label: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) moved_from: Option<CodePath>,
    /// Whether the content is kept.
    pub(super) keeps: bool,
}

impl About {
    /// A change that someone made on disk.
    pub(super) fn on_disk(keeps: bool) -> Self {
        let author = Author { agent: "disk".to_owned(), session: "disk".to_owned() };
        Self { source: ChangeSource::Disk, author, label: None, reason: None, moved_from: None, keeps }
    }
}

/// A file at one time, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side<'a> {
    exists: bool,
    bytes: Option<&'a [u8]>,
    digest: Option<Sha256>,
    size: Option<i64>,
}

impl<'a> Side<'a> {
    pub(super) const MISSING: Self = Side { exists: false, bytes: Some(&[]), digest: None, size: None };

    /// A file whose content is not known.
    pub(super) const UNKNOWN: Self = Side { exists: true, bytes: None, digest: None, size: None };

    pub(super) fn content(bytes: &'a [u8]) -> Self {
        let size = i64::try_from(bytes.len()).ok();
        Side { exists: true, bytes: Some(bytes), digest: Some(Sha256::of(bytes)), size }
    }

    pub(super) fn of_read(read: &'a Read, seen: &Seen) -> Self {
        match (read, seen) {
            (Read::File { bytes, .. }, Seen::File(digest)) => {
                Side { exists: true, bytes: Some(bytes), digest: Some(*digest), size: i64::try_from(bytes.len()).ok() }
            }
            (Read::TooLarge { size, .. }, _) => Side { exists: true, bytes: None, digest: None, size: i64::try_from(*size).ok() },
            _ => Self::MISSING,
        }
    }

    /// The file after `version`. `content` is its content, if it was rebuilt.
    pub(super) fn of_version(version: Option<&Version>, content: Option<&'a [u8]>) -> Self {
        match version.filter(|version| version.exists()) {
            Some(version) => Side { exists: true, bytes: content, digest: version.sha256_after, size: version.size },
            None => Self::MISSING,
        }
    }

    /// Whether the file is as `version` says. What is too large is compared by its size.
    pub(super) fn is(&self, version: Option<&Version>) -> bool {
        match version.filter(|version| version.exists()) {
            Some(version) if self.digest.is_none() => self.exists && version.sha256_after.is_none() && version.size == self.size,
            Some(version) => version.sha256_after == self.digest,
            None => !self.exists,
        }
    }
}

/// The newest version of a file that is done, and what to do with one that is not.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) tip: Option<Version>,
    pub(super) settles: Option<(FileVersionId, bool)>,
    basis: Vec<(FileVersionId, State)>,
}

impl Known {
    /// Reads the two newest versions of a file that now is as `current` says. The caller holds the file's lock.
    pub(super) fn new(newest: Vec<Version>, current: &Side<'_>) -> Self {
        let basis = basis(&newest);
        let mut newest = newest.into_iter();
        let first = newest.next();
        match first {
            Some(first) if first.state == State::InProgress => {
                let is_done = current.is(Some(&first));
                let settles = Some((first.id, is_done));
                let tip = if is_done { Some(Version { state: State::Done, ..first }) } else { newest.next() };
                Self { tip, settles, basis }
            }
            tip => Self { tip, settles: None, basis },
        }
    }
}

fn basis(newest: &[Version]) -> Vec<(FileVersionId, State)> {
    newest.iter().map(|version| (version.id, version.state)).collect()
}

/// A version that is not stored yet.
#[derive(Clone, Debug)]
pub(super) struct NewVersion {
    pub(super) version: Version,
    content: Option<Vec<u8>>,
}

/// The changes of one file's history.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) known: Known,
    pub(super) fills: Option<Vec<u8>>,
    pub(super) versions: Vec<NewVersion>,
}

impl Plan {
    pub(super) fn new(known: Known) -> Self {
        Self { known, fills: None, versions: Vec::new() }
    }

    /// The newest version after this plan.
    pub(super) fn tip(&self) -> Option<&Version> {
        self.versions.last().map(|new| &new.version).or(self.known.tip.as_ref())
    }

    /// Keeps the content of the newest version, which was not kept when it was written.
    pub(super) fn fill(&mut self, content: &[u8]) -> Result<()> {
        self.fills = Some(pack(content)?);
        if let Some(tip) = &mut self.known.tip {
            tip.steps = Some(0);
        }
        Ok(())
    }

    /// Adds the change from `before`, which is the newest version so far, to `after`.
    pub(super) fn add(
        &mut self,
        path: &CodePath,
        before: &Side<'_>,
        after: &Side<'_>,
        about: &About,
        now: Timestamp,
        state: State,
    ) -> Result<()> {
        let difference = before.bytes.zip(after.bytes).and_then(|(old, new)| delta::difference(old, new));
        let tip = self.tip();
        let steps =
            tip.filter(|tip| tip.exists()).and_then(|tip| tip.steps).map(|steps| steps + 1).filter(|steps| *steps < WHOLE_EVERY);
        let mut kept = None;
        if let Some(new) = after.bytes.filter(|_| about.keeps && after.exists) {
            if let (Some(steps), Some(old), Some(difference)) = (steps, before.bytes, &difference) {
                kept = delta::delta(old, new, difference)?.map(|packed| (steps, packed));
            }
            if kept.is_none() {
                kept = Some((0, pack(new)?));
            }
        }
        let (steps, content) = kept.map_or((None, None), |(steps, content)| (Some(steps), Some(content)));
        let version = Version {
            id: FileVersionId::new(now),
            path: path.clone(),
            number: tip.map_or(0, |tip| tip.number) + 1,
            change: change_of(path, before, after, about),
            source: about.source,
            author: about.author.clone(),
            label: about.label.clone(),
            reason: about.reason.clone(),
            moved_from: about.moved_from.clone(),
            parent: tip.map(|tip| tip.id),
            sha256_before: before.digest,
            sha256_after: after.digest,
            size: after.size.filter(|_| after.exists),
            lines_added: difference.as_ref().map(|difference| difference.added),
            lines_removed: difference.as_ref().map(|difference| difference.removed),
            created_at: now,
            state,
            steps,
        };
        self.versions.push(NewVersion { version, content });
        Ok(())
    }

    /// Writes the plan. `false` if history has changed since.
    pub(super) fn commit(&self, tx: &mut OrgTx<'_, '_>, project: &ProjectId, path: &CodePath) -> Result<bool> {
        let newest = tx.query(sql::NEWEST, &params![project, path], Version::from_row)?;
        if basis(&newest) != self.known.basis {
            return Ok(false);
        }
        if let Some((id, is_done)) = &self.known.settles {
            settle(tx, project, path, id, *is_done)?;
        }
        if let (Some(content), Some(tip)) = (&self.fills, &self.known.tip) {
            tx.execute(sql::FILL, &params![project, path, tip.id, content.as_slice()])?;
        }
        for NewVersion { version, content } in &self.versions {
            insert(tx, project, version, content.as_deref())?;
        }
        Ok(true)
    }
}

fn change_of(path: &CodePath, before: &Side<'_>, after: &Side<'_>, about: &About) -> ChangeType {
    match (&about.moved_from, before.exists, after.exists) {
        (_, _, false) => ChangeType::Delete,
        (Some(from), _, true) if from.split().0 == path.split().0 => ChangeType::Rename,
        (Some(_), _, true) => ChangeType::Move,
        (None, false, true) => ChangeType::Create,
        (None, true, true) => ChangeType::Update,
    }
}

/// Marks a version in progress as done or as not done.
pub(super) fn settle(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    path: &CodePath,
    id: &FileVersionId,
    is_done: bool,
) -> Result<bool> {
    let sql = if is_done { sql::COMPLETE } else { sql::UNDO };
    Ok(tx.execute(sql, &params![project, path, id])? > 0)
}

fn insert(tx: &mut OrgTx<'_, '_>, project: &ProjectId, version: &Version, content: Option<&[u8]>) -> Result<()> {
    let (before, after) = (version.sha256_before.map(|digest| digest.hex()), version.sha256_after.map(|digest| digest.hex()));
    let Version { path, number, id, author, label, reason, moved_from, parent, created_at, steps, .. } = version;
    let (state, change, source) = (version.state.number(), version.change.word(), version.source.word());
    let Version { size, lines_added, lines_removed, .. } = version;
    let values = params![
        project,
        path,
        number,
        id,
        state,
        change,
        source,
        author.agent,
        author.session,
        label,
        reason,
        moved_from,
        parent,
        before,
        after,
        size,
        lines_added,
        lines_removed,
        created_at,
        steps,
        content
    ];
    tx.execute(sql::INSERT, &values).map(drop)
}
