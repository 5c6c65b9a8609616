//! What others changed on disk. It is recorded once for each content, with the author `disk`.
//!
//! The content is kept only where history already follows the file's content. Of any other file it is recorded that it changed: a
//! checkout of another branch must not copy a repository into history.

use std::sync::Arc;

use base::Result;
use store::Change;

use super::plan::{About, Known, Plan, Side};
use super::version::State;
use super::{History, Version};
use crate::files::{Read, Seen};
use crate::path::CodePath;

/// Files that are recorded in one transaction.
const FILES_AT_ONCE: usize = 64;
/// How often a record starts again because another node wrote history.
const ATTEMPTS_MAX: usize = 4;

/// What a file was before, as far as the observer knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// It did not exist.
    Missing,
    /// It existed, and its content is not known.
    Unknown,
    /// It had this content.
    Content(Vec<u8>),
}

/// A change that someone made on disk.
#[derive(Clone, Debug)]
pub struct Noticed {
    /// The file.
    pub path: CodePath,
    /// The path before, if it was moved.
    pub moved_from: Option<CodePath>,
    /// What it was.
    pub before: Before,
    /// What it is.
    pub after: Read,
}

impl History<Change> {
    /// Records changes on disk that history does not know, and returns their versions. What a write through this server did is known,
    /// even while it is in progress.
    pub async fn noticed(&self, mut changes: Vec<Noticed>) -> Result<Vec<Version>> {
        // Locks are taken in the order of paths, so that two observers never wait for each other.
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes.dedup_by(|one, other| one.path == other.path);
        let mut recorded = Vec::new();
        let mut changes = changes.into_iter().peekable();
        while changes.peek().is_some() {
            let some: Arc<Vec<Noticed>> = Arc::new(changes.by_ref().take(FILES_AT_ONCE).collect());
            let mut locked = Vec::with_capacity(some.len());
            for change in some.iter() {
                locked.push(self.files.lock(&self.project, &change.path).await);
            }
            for _ in 0..ATTEMPTS_MAX {
                if let Some(versions) = self.record_noticed(&some).await? {
                    recorded.extend(versions);
                    break;
                }
            }
        }
        Ok(recorded)
    }

    /// Records some changes. `None` if another node has changed the history of one of the files meanwhile.
    async fn record_noticed(&self, changes: &Arc<Vec<Noticed>>) -> Result<Option<Vec<Version>>> {
        let mut plans = Vec::new();
        for place in 0..changes.len() {
            if let Some(plan) = self.plan_noticed(changes, place).await? {
                plans.push(plan);
            }
        }
        if plans.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let (plans, project) = (Arc::new(plans), self.project);
        let writes = Arc::clone(&plans);
        let is_committed = self.rows.write(move |tx| {
            for (path, plan) in writes.iter() {
                if !plan.commit(tx, &project, path)? {
                    return Err(lost_race());
                }
            }
            Ok(())
        });
        match is_committed.await {
            Ok(()) => {
                Ok(Some(plans.iter().filter_map(|(_, plan)| plan.versions.last()).map(|new| new.version.clone()).collect()))
            }
            Err(error) if error.carried::<LostRace>().is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn plan_noticed(&self, changes: &Arc<Vec<Noticed>>, place: usize) -> Result<Option<(CodePath, Plan)>> {
        let Some(change) = changes.get(place) else { return Ok(None) };
        let (newest, now) = (self.newest(&change.path).await?, self.clock.now());
        // A folder or a pipe at the place of a file means that the file is gone.
        let seen = Seen::of(&change.path, &change.after).unwrap_or(Seen::Missing);
        let side = Side::of_read(&change.after, &seen);
        let known = Known::new(newest, &side);
        let is_first = known.tip.is_none() && known.settles.is_none();
        if side.is(known.tip.as_ref()) && !(is_first && change.before != Before::Missing) {
            let plan = known.settles.is_some().then(|| (change.path.clone(), Plan::new(known)));
            return Ok(plan);
        }
        let keeps = known.tip.as_ref().is_some_and(Version::is_kept);
        let tip_content = match &known.tip {
            Some(tip) if keeps => self.content_of(tip).await?,
            _ => None,
        };
        let changes = Arc::clone(changes);
        let planned = store::compute(self.rows().org(), move || {
            let Some(change) = changes.get(place) else { return Ok(None) };
            let before = match (&known.tip, &change.before) {
                (None, Before::Content(content)) => Side::content(content),
                (None, Before::Unknown) => Side::UNKNOWN,
                (tip, _) => Side::of_version(tip.as_ref(), tip_content.as_deref()),
            };
            let after = Side::of_read(&change.after, &seen);
            let about = About { moved_from: change.moved_from.clone(), ..About::on_disk(keeps) };
            let mut plan = Plan::new(known);
            plan.add(&change.path, &before, &after, &about, now, State::Done)?;
            Ok(Some((change.path.clone(), plan)))
        });
        planned.await?
    }
}

/// Ends a transaction whose plan is no longer right.
#[derive(Debug, thiserror::Error)]
#[error("history has changed meanwhile")]
struct LostRace;

fn lost_race() -> base::Error {
    base::Error::carrying(base::Kind::Conflict, LostRace)
}
