//! The commits of the project, newest first.
//!
//! Merge commits list no changes, as in `git log`. Where the root is a subfolder, only commits that changed something in it are listed, and
//! a file that comes from outside of it is a new file.

use std::sync::Arc;

use base::{Error, Result, Timestamp};
use gix::ObjectId;

use super::changes;
use super::model::{Commit, CommitPage, FileChange, LogFilter};
use super::reader::{Failure, Node, Read, Reader};
use super::trees::Lookup;
use super::walk::{Walk, Walks};

/// The most commits of a page.
const MAX_PAGE: usize = 500;
/// Clocks differ: so many commits in a row must be too old before the rest is taken for too old.
const TOO_OLD: usize = 32;

/// A place in a list of commits.
pub(super) struct Place {
    pub(super) walk: Arc<Walk>,
    pub(super) position: usize,
}

impl Place {
    /// The place that `cursor` names, or the start. `None` in a repository without a commit.
    pub(super) fn find(walks: &Walks, repository: &gix::Repository, cursor: Option<&str>) -> Result<Option<Self>> {
        if let Some(cursor) = cursor {
            let unknown = || Error::invalid("cursor", format!("`{cursor}` is not a cursor of this list; start without one"));
            let (head, position) = cursor.split_once('-').ok_or_else(unknown)?;
            let head = ObjectId::from_hex(head.as_bytes()).map_err(|_| unknown())?;
            let position = position.parse().map_err(|_| unknown())?;
            let header = repository.try_find_header(head).ok().flatten();
            if header.is_none_or(|header| header.kind() != gix::objs::Kind::Commit) {
                return Err(unknown());
            }
            return Ok(Some(Self { walk: walks.from(head), position }));
        }
        let head = repository.head().map_err(unreadable)?;
        Ok(head.id().map(|head| Self { walk: walks.from(head.detach()), position: 0 }))
    }

    pub(super) fn cursor(&self) -> String {
        format!("{}-{}", self.walk.head(), self.position)
    }
}

/// The error for a history that cannot be read at all.
pub(super) fn unreadable(log: impl std::fmt::Display) -> Error {
    let message = "the repository's history cannot be read; check the repository with `git fsck`";
    Error::new(base::Kind::Unavailable, message).logged(log)
}

/// One page of the log.
pub(super) fn page(reader: &mut Reader<'_>, mut place: Place, prefix: &[u8], filter: &LogFilter) -> Result<CommitPage> {
    let rows = filter.bounds.commits.clamp(1, MAX_PAGE);
    let (since, until) = (seconds(filter.since, i64::MIN), seconds(filter.until, i64::MAX));
    let mut lookup = Lookup::default();
    let mut page = CommitPage::default();
    let mut too_old = 0;
    loop {
        let chunk = match place.walk.chunk(reader, place.position) {
            Ok(chunk) => chunk,
            Err(Failure::OverBudget) => return Ok(stopped(page, &place)),
            Err(Failure::Damaged(log)) => return Err(unreadable(log)),
        };
        page.is_partial |= chunk.is_partial;
        if chunk.nodes.is_empty() {
            return Ok(page);
        }
        for node in chunk.nodes {
            too_old = if node.time < since { too_old + 1 } else { 0 };
            if too_old > TOO_OLD {
                return Ok(page);
            }
            if page.commits.len() >= rows {
                page.next = Some(place.cursor());
                return Ok(page);
            }
            if (since..=until).contains(&node.time) {
                match commit(reader, &mut lookup, prefix, &node) {
                    Ok(commit) => page.commits.extend(commit),
                    Err(Failure::Damaged(log)) => {
                        tracing::debug!(log, "a commit cannot be shown");
                        page.is_partial = true;
                    }
                    Err(Failure::OverBudget) if !page.commits.is_empty() => return Ok(stopped(page, &place)),
                    // The budget does not suffice for this one commit: show what can be shown, so that the next page gets on.
                    Err(Failure::OverBudget) => {
                        page.commits.push(bare(&node));
                        place.position += 1;
                        return Ok(stopped(page, &place));
                    }
                }
            }
            place.position += 1;
        }
    }
}

/// A page that ends because the budget ran out.
pub(super) fn stopped(page: CommitPage, place: &Place) -> CommitPage {
    CommitPage { next: Some(place.cursor()), is_partial: true, ..page }
}

/// The commit with its changes. `None` if it changed nothing in the project's subfolder.
fn commit(reader: &mut Reader<'_>, lookup: &mut Lookup, prefix: &[u8], node: &Node) -> Read<Option<Commit>> {
    let (mut changes, mut is_partial) = (Vec::new(), false);
    if node.parents.len() <= 1 {
        match files(reader, lookup, prefix, node) {
            Ok(found) => (changes, is_partial) = found,
            Err(Failure::Damaged(log)) => {
                tracing::debug!(log, "the changes of a commit cannot be read");
                is_partial = true;
            }
            Err(Failure::OverBudget) => return Err(Failure::OverBudget),
        }
    }
    if changes.is_empty() && !is_partial && !prefix.is_empty() {
        return Ok(None);
    }
    headed(reader, node, changes, is_partial).map(Some)
}

fn files(reader: &mut Reader<'_>, lookup: &mut Lookup, prefix: &[u8], node: &Node) -> Read<(Vec<FileChange>, bool)> {
    let (changed, are_partial) = changes::of_commit(reader, lookup, prefix, node)?;
    let (described, is_partial) = changes::described(reader, &changed)?;
    Ok((described, is_partial || are_partial))
}

/// The commit with these changes.
pub(super) fn headed(reader: &mut Reader<'_>, node: &Node, changes: Vec<FileChange>, is_partial: bool) -> Read<Commit> {
    let heading = reader.heading(&node.id)?;
    Ok(Commit {
        author: heading.author,
        authored_at: timestamp(heading.authored_at),
        subject: heading.subject,
        changes,
        is_partial,
        ..bare(node)
    })
}

/// The commit as far as the list knows it.
fn bare(node: &Node) -> Commit {
    Commit {
        id: node.id.to_string(),
        time: timestamp(node.time),
        authored_at: timestamp(node.time),
        author: String::new(),
        subject: String::new(),
        is_merge: node.parents.len() > 1,
        changes: Vec::new(),
        is_partial: true,
    }
}

/// A time of git as ours.
pub(super) fn timestamp(seconds: i64) -> Timestamp {
    Timestamp::from_ms(seconds.saturating_mul(1_000))
}

/// The bound of a time range in whole seconds. git's times have no fraction, so that a lower bound is rounded up.
fn seconds(time: Option<Timestamp>, open: i64) -> i64 {
    let round_up = i64::from(open == i64::MIN) * 999;
    time.map_or(open, |time| time.ms().saturating_add(round_up).div_euclid(1_000))
}
