//! Which commit each line of a file comes from.
//!
//! Like `git blame`: a commit is suspected of the lines that none of its parents has. Whole files with the same id pass to the parent
//! without being read. Renames are followed, copies are not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::BString;
use gix::diff::blob::Hunk;

use super::changes;
use super::content::full_path;
use super::lines;
use super::log::timestamp;
use super::model::{Blame, BlameLines};
use super::reader::{Failure, Heading, Node, Read, Reader, Side};
use super::trees::Lookup;

/// The bytes of file versions that are kept for the next comparison.
const MAX_KEPT: usize = 32 << 20;

/// Consecutive lines whose origin is searched for.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The first line in the file that was asked for, counted from 0.
    line: u32,
    /// The first line in the suspect's version.
    at: u32,
    lines: u32,
}

/// A version of the file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    commit: ObjectId,
    path: BString,
}

/// Searches the origin of the lines of one file.
pub(super) struct Search<'p> {
    prefix: &'p [u8],
    lookup: Lookup,
    /// Newer commits first.
    queue: BinaryHeap<(i64, Reverse<u64>, Version)>,
    suspects: BTreeMap<Version, (Side, Vec<Piece>)>,
    contents: HashMap<ObjectId, Option<Rc<Vec<u8>>>>,
    kept: usize,
    found: Vec<(Piece, ObjectId)>,
    counter: u64,
    is_partial: bool,
}

impl<'p> Search<'p> {
    pub(super) fn new(prefix: &'p [u8]) -> Self {
        Self {
            prefix,
            lookup: Lookup::default(),
            queue: BinaryHeap::new(),
            suspects: BTreeMap::new(),
            contents: HashMap::new(),
            kept: 0,
            found: Vec::new(),
            counter: 0,
            is_partial: false,
        }
    }

    /// Searches the origin of all `lines` lines of the file at `path` in `head`.
    pub(super) fn run(mut self, reader: &mut Reader<'_>, head: &Node, path: &[u8], side: Side, lines: u32) -> Blame {
        let version = Version { commit: head.id, path: path.into() };
        let whole = Piece { line: 0, at: 0, lines };
        self.suspect(head.time, version, side, (lines > 0).then_some(whole).into_iter().collect());
        while let Some((_, _, version)) = self.queue.pop() {
            let Some((side, pieces)) = self.suspects.remove(&version) else { continue };
            match self.examine(reader, &version, side, pieces) {
                Ok(()) => {}
                Err(Failure::OverBudget) => {
                    self.is_partial = true;
                    break;
                }
                Err(Failure::Damaged(log)) => {
                    tracing::debug!(log, "a commit cannot be examined");
                    self.is_partial = true;
                }
            }
        }
        self.report(reader)
    }

    fn suspect(&mut self, time: i64, version: Version, side: Side, pieces: Vec<Piece>) {
        if pieces.is_empty() {
            return;
        }
        let known = self.suspects.entry(version.clone()).or_insert_with(|| (side, Vec::new()));
        known.1.extend(pieces);
        self.counter += 1;
        self.queue.push((time, Reverse(self.counter), version));
    }

    /// Passes the pieces to the parents that have them. The rest comes from this commit.
    fn examine(&mut self, reader: &mut Reader<'_>, version: &Version, side: Side, mut pieces: Vec<Piece>) -> Read<()> {
        let node = reader.node(&version.commit)?;
        self.is_partial |= node.is_boundary;
        let mut parents = Vec::new();
        for parent in &node.parents {
            match reader.node(parent) {
                Ok(parent) => parents.push((parent, None)),
                Err(Failure::OverBudget) => return Err(Failure::OverBudget),
                Err(Failure::Damaged(_)) => self.is_partial = true,
            }
        }
        for is_renamed in [false, true] {
            for (parent, origin) in &mut parents {
                if origin.is_some() {
                    continue;
                }
                *origin = if is_renamed {
                    self.renamed(reader, &node, parent, &version.path)?
                } else {
                    self.same_path(reader, parent, &version.path)?
                };
                if let Some((path, old)) = origin.as_ref().filter(|(_, old)| old.id == side.id) {
                    let older = Version { commit: parent.id, path: path.clone() };
                    self.suspect(parent.time, older, *old, pieces);
                    return Ok(());
                }
            }
        }
        for (parent, origin) in parents {
            let Some((path, old)) = origin else { continue };
            let (passed, rest) = self.split(reader, old, side, pieces)?;
            pieces = rest;
            self.suspect(parent.time, Version { commit: parent.id, path }, old, passed);
        }
        self.found.extend(pieces.into_iter().map(|piece| (piece, node.id)));
        Ok(())
    }

    fn same_path(&mut self, reader: &mut Reader<'_>, parent: &Node, path: &BString) -> Read<Option<(BString, Side)>> {
        let full = full_path(self.prefix, path);
        Ok(self.lookup.file(reader, parent.tree, &full)?.map(|side| (path.clone(), side)))
    }

    fn renamed(&mut self, reader: &mut Reader<'_>, node: &Node, parent: &Node, path: &BString) -> Read<Option<(BString, Side)>> {
        let (changes, is_partial) = changes::between(reader, &mut self.lookup, self.prefix, Some(parent.tree), node.tree)?;
        self.is_partial |= is_partial;
        Ok(changes.into_iter().find(|change| change.path == *path).and_then(|change| change.from.zip(change.old)))
    }

    /// The pieces that `old` has too, at their places there, and the pieces that only `new` has.
    fn split(&mut self, reader: &mut Reader<'_>, old: Side, new: Side, pieces: Vec<Piece>) -> Read<(Vec<Piece>, Vec<Piece>)> {
        if pieces.is_empty() {
            return Ok((Vec::new(), pieces));
        }
        let (Some(old), Some(new)) = (self.content(reader, old)?, self.content(reader, new)?) else {
            return Ok((Vec::new(), pieces));
        };
        Ok(split(&lines::hunks(&old, &new), pieces))
    }

    fn content(&mut self, reader: &mut Reader<'_>, side: Side) -> Read<Option<Rc<Vec<u8>>>> {
        if let Some(content) = self.contents.get(&side.id) {
            return Ok(content.clone());
        }
        let content = changes::text(reader, Some(side))?.map(Rc::new);
        self.kept += content.as_ref().map_or(0, |content| content.len());
        if self.kept > MAX_KEPT {
            self.contents.clear();
            self.kept = 0;
        }
        self.contents.insert(side.id, content.clone());
        Ok(content)
    }

    fn report(mut self, reader: &mut Reader<'_>) -> Blame {
        self.found.sort_unstable_by_key(|(piece, _)| piece.line);
        let mut headings: HashMap<ObjectId, Option<(Heading, i64)>> = HashMap::new();
        let mut blame = Blame::default();
        let mut last = None;
        for (piece, commit) in self.found {
            let same = last == Some((commit, piece.line));
            last = Some((commit, piece.line + piece.lines));
            if let Some(before) = blame.lines.last_mut().filter(|_| same) {
                before.lines += piece.lines;
                continue;
            }
            let heading =
                headings.entry(commit).or_insert_with(|| Some((reader.heading(&commit).ok()?, reader.node(&commit).ok()?.time)));
            self.is_partial |= heading.is_none();
            let (author, time) = heading.as_ref().map_or((String::new(), 0), |(heading, time)| (heading.author.clone(), *time));
            let (commit, time) = (commit.to_string(), timestamp(time));
            blame.lines.push(BlameLines { start_line: piece.line + 1, lines: piece.lines, commit, author, time });
        }
        Blame { is_partial: self.is_partial, ..blame }
    }
}

/// Splits the pieces of a new version into those between the hunks, at their places in the old version, and the rest.
fn split(hunks: &[Hunk], pieces: Vec<Piece>) -> (Vec<Piece>, Vec<Piece>) {
    let (mut passed, mut rest) = (Vec::new(), Vec::new());
    for piece in pieces {
        let end = piece.at.saturating_add(piece.lines);
        let cut = |from: u32, to: u32| Piece { line: piece.line + (from - piece.at), at: from, lines: to - from };
        let first = hunks.partition_point(|hunk| hunk.after.end <= piece.at);
        let (mut at, mut next) = (piece.at, first);
        while at < end {
            let hunk = hunks.get(next).filter(|hunk| hunk.after.start < end);
            let common_end = hunk.map_or(end, |hunk| hunk.after.start).max(at);
            if common_end > at {
                let before = next.checked_sub(1).and_then(|before| hunks.get(before));
                let (old_end, new_end) = before.map_or((0, 0), |before| (before.before.end, before.after.end));
                let common = cut(at, common_end);
                passed.push(Piece { at: common.at.saturating_sub(new_end).saturating_add(old_end), ..common });
            }
            let Some(hunk) = hunk else { break };
            let changed_end = hunk.after.end.min(end).max(common_end);
            if changed_end > common_end {
                rest.push(cut(common_end, changed_end));
            }
            (at, next) = (changed_end, next + 1);
        }
    }
    (passed, rest)
}
