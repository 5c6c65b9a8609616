//! The commits that touched one file, also under its former names.
//!
//! Each commit is asked for the ids along the path only. Where the path is not in a parent, the renames of that commit are looked for, and
//! the parent is asked for the former name. A name belongs to a line of the history, so that a rename on one branch does not hide edits of
//! the old name on another. Names do not end with the commit that created the file: an earlier file of that name is listed too, as in
//! `git log --follow`. Unlike there, a copy is a new file.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use base::Result;
use gix::ObjectId;
use gix::bstr::BString;

use super::changes;
use super::content::full_path;
use super::log::{self, Place};
use super::model::{Bounds, CommitPage};
use super::reader::{Failure, Node, Read, Reader, Side};
use super::renames::Changed;
use super::trees::Lookup;

/// The most names that are followed on one line of the history.
const MAX_NAMES: usize = 8;
/// The most commits of a page.
const MAX_PAGE: usize = 500;
/// Trails that wait for their next page.
const KEPT: usize = 16;

/// The names that the file has in commits whose turn is still to come.
type Names = HashMap<ObjectId, Vec<BString>>;

/// A trail that waits for its next page.
struct Trail {
    head: ObjectId,
    position: usize,
    path: BString,
    names: Names,
}

/// The trails that wait for their next page. One that was dropped is walked again from its start.
#[derive(Default)]
pub(super) struct Trails(Mutex<VecDeque<Trail>>);

impl Trails {
    /// The names at `place`. They stay for a caller that asks for the same page again.
    fn find(&self, place: &Place, path: &[u8]) -> Option<Names> {
        let trails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |trail: &Trail| trail.head == place.walk.head() && trail.position == place.position && trail.path == path;
        trails.iter().find(|trail| is_it(trail)).map(|trail| trail.names.clone())
    }

    fn keep(&self, place: &Place, path: &[u8], names: Names) {
        let mut trails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        trails.push_back(Trail { head: place.walk.head(), position: place.position, path: path.into(), names });
        if trails.len() > KEPT {
            trails.pop_front();
        }
    }

    /// Drops all trails.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// One page of the history of `path`, which is relative to the project's root.
pub(super) fn page(
    reader: &mut Reader<'_>,
    trails: &Trails,
    target: Place,
    prefix: &[u8],
    path: &[u8],
    bounds: &Bounds,
) -> Result<CommitPage> {
    let start = Names::from([(target.walk.head(), vec![BString::from(path)])]);
    let (mut place, names) = match trails.find(&target, path) {
        Some(names) => (Place { walk: target.walk.clone(), position: target.position }, names),
        None => (Place { walk: target.walk.clone(), position: 0 }, start),
    };
    let mut follower = Follower { prefix, lookup: Lookup::default(), names };
    let mut page = CommitPage::default();
    let done = follower.fill(reader, &mut place, target.position, bounds.commits.clamp(1, MAX_PAGE), &mut page);
    match done {
        Ok(is_complete) if is_complete => return Ok(page),
        Ok(_) => page.next = Some(place.cursor()),
        Err(Failure::OverBudget) => page = log::stopped(page, &place),
        Err(Failure::Damaged(log)) => return Err(log::unreadable(log)),
    }
    trails.keep(&place, path, follower.names);
    Ok(page)
}

struct Follower<'p> {
    prefix: &'p [u8],
    lookup: Lookup,
    names: Names,
}

/// What a commit did to the file: the change, if the commit is listed, and the names in its parents.
struct Step {
    changes: Vec<Changed>,
    parents: Vec<(ObjectId, BString)>,
    is_partial: bool,
}

impl Follower<'_> {
    /// Adds commits to `page`. Those before `first` belong to an earlier page. Returns whether the list ended.
    fn fill(
        &mut self,
        reader: &mut Reader<'_>,
        place: &mut Place,
        first: usize,
        rows: usize,
        page: &mut CommitPage,
    ) -> Read<bool> {
        let begun = place.position;
        loop {
            let chunk = place.walk.chunk(reader, place.position)?;
            page.is_partial |= chunk.is_partial;
            if chunk.nodes.is_empty() {
                return Ok(true);
            }
            for node in chunk.nodes {
                if page.commits.len() >= rows {
                    return Ok(false);
                }
                let (parents, is_over) = match self.visit(reader, &node, place.position >= first, page) {
                    Ok(parents) => (parents, false),
                    Err(Failure::OverBudget) if place.position > begun => return Err(Failure::OverBudget),
                    // The budget does not suffice for this one commit: pass it, so that the next page gets on.
                    Err(Failure::OverBudget) => (self.unchanged(&node, page), true),
                    Err(Failure::Damaged(log)) => {
                        tracing::debug!(log, "a commit cannot be followed");
                        (self.unchanged(&node, page), false)
                    }
                };
                self.pass_on(&node, parents);
                place.position += 1;
                if is_over {
                    return Err(Failure::OverBudget);
                }
            }
        }
    }

    /// Lists the commit if it touched the file. Returns the names in its parents.
    fn visit(
        &mut self,
        reader: &mut Reader<'_>,
        node: &Node,
        is_listed: bool,
        page: &mut CommitPage,
    ) -> Read<Vec<(ObjectId, BString)>> {
        let step = self.step(reader, node)?;
        if !step.changes.is_empty() && is_listed {
            let (described, is_partial) = changes::described(reader, &step.changes)?;
            page.commits.push(log::headed(reader, node, described, step.is_partial || is_partial)?);
        }
        Ok(step.parents)
    }

    fn pass_on(&mut self, node: &Node, parents: Vec<(ObjectId, BString)>) {
        self.names.remove(&node.id);
        for (parent, name) in parents {
            let names = self.names.entry(parent).or_default();
            if names.len() < MAX_NAMES && !names.contains(&name) {
                names.push(name);
            }
        }
    }

    fn names_at(&self, node: &Node) -> Vec<BString> {
        self.names.get(&node.id).cloned().unwrap_or_default()
    }

    /// A commit that cannot be read is not listed and passes its names on.
    fn unchanged(&self, node: &Node, page: &mut CommitPage) -> Vec<(ObjectId, BString)> {
        page.is_partial = true;
        let names = self.names_at(node);
        node.parents.iter().flat_map(|parent| names.iter().map(|name| (*parent, name.clone()))).collect()
    }

    fn step(&mut self, reader: &mut Reader<'_>, node: &Node) -> Read<Step> {
        let mut step = Step { changes: Vec::new(), parents: Vec::new(), is_partial: false };
        if node.is_boundary {
            return Ok(step);
        }
        for name in self.names_at(node) {
            let here = self.side(reader, node.tree, &name)?;
            if node.parents.is_empty() {
                // The first commit: what is here is new.
                step.changes.extend(here.map(|new| Changed { path: name.clone(), from: None, old: None, new: Some(new) }));
            }
            for parent in &node.parents {
                let tree = reader.node(parent)?.tree;
                let there = self.side(reader, tree, &name)?;
                let change = self.change(reader, (tree, node.tree), &name, (there, here), &mut step.is_partial)?;
                let former = change.as_ref().filter(|change| change.path == name).and_then(|change| change.from.clone());
                step.parents.push((*parent, former.unwrap_or_else(|| name.clone())));
                // Merges are not listed, only followed.
                let is_new = |change: &Changed| step.changes.iter().all(|listed| listed.path != change.path);
                if let Some(change) = change.filter(|change| node.parents.len() == 1 && is_new(change)) {
                    step.changes.push(change);
                }
            }
        }
        Ok(step)
    }

    fn side(&mut self, reader: &mut Reader<'_>, tree: ObjectId, name: &[u8]) -> Read<Option<Side>> {
        self.lookup.file(reader, tree, &full_path(self.prefix, name))
    }

    /// What happened to `name` between the trees. Renames are looked for only where it is in just one of them.
    fn change(
        &mut self,
        reader: &mut Reader<'_>,
        (old_tree, new_tree): (ObjectId, ObjectId),
        name: &BString,
        (old, new): (Option<Side>, Option<Side>),
        is_partial: &mut bool,
    ) -> Read<Option<Changed>> {
        let plain = Changed { path: name.clone(), from: None, old, new };
        match (old, new) {
            (None, None) => return Ok(None),
            (Some(old), Some(new)) => return Ok((!old.is_same(&new)).then_some(plain)),
            (Some(_), None) | (None, Some(_)) => {}
        }
        let (all, are_partial) = changes::between(reader, &mut self.lookup, self.prefix, Some(old_tree), new_tree)?;
        *is_partial |= are_partial;
        let is_it = |change: &Changed| if new.is_some() { change.path == *name } else { change.from.as_ref() == Some(name) };
        Ok(Some(all.into_iter().find(is_it).unwrap_or(plain)))
    }
}
