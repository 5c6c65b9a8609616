//! The commits of a repository, newest first, in the order of `git log`.
//!
//! The list is made as far as it is asked for and kept in memory, bounded, for as long as `HEAD` stays. A commit that cannot be read ends
//! its line of the history; the others go on.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;

use super::reader::{Failure, Node, Read, Reader};

/// The most commits of a list. Older ones are left out.
pub(super) const MAX_COMMITS: usize = 200_000;
/// Commits that are handed out at once.
const CHUNK: usize = 256;
/// Lists that are kept: that of `HEAD`, and one of a page that began before `HEAD` moved.
const KEPT: usize = 2;

/// A commit that waits for its turn.
struct Waiting {
    /// Newer ones first; of the same time, what came first.
    rank: (i64, Reverse<u64>),
    node: Node,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// The commits that can be reached from one commit.
pub(super) struct Walk {
    head: ObjectId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    nodes: Vec<Node>,
    waiting: BinaryHeap<Waiting>,
    seen: HashSet<ObjectId>,
    has_started: bool,
    is_partial: bool,
}

/// Some commits of the list.
pub(super) struct Chunk {
    pub(super) nodes: Vec<Node>,
    /// Whether the list misses commits, as far as is known by now.
    pub(super) is_partial: bool,
}

impl Walk {
    fn new(head: ObjectId) -> Self {
        Self { head, state: Mutex::default() }
    }

    pub(super) fn head(&self) -> ObjectId {
        self.head
    }

    /// The commits from `position` on: at least one, unless the list ends there.
    pub(super) fn chunk(&self, reader: &mut Reader<'_>, position: usize) -> Read<Chunk> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let end = position.saturating_add(CHUNK);
        let extended = state.extend(reader, &self.head, end);
        let nodes = state.nodes.get(position..end.min(state.nodes.len())).unwrap_or_default().to_vec();
        let is_partial = state.is_partial;
        drop(state);
        reader.remember(&nodes);
        match extended {
            Err(failure) if nodes.is_empty() => Err(failure),
            _ => Ok(Chunk { nodes, is_partial }),
        }
    }
}

impl State {
    /// Makes the list `end` long, or complete.
    fn extend(&mut self, reader: &mut Reader<'_>, head: &gix::oid, end: usize) -> Read<()> {
        if !self.has_started {
            let node = reader.node(head)?;
            self.seen.insert(node.id);
            self.wait(node);
            self.has_started = true;
        }
        while self.nodes.len() < end {
            // Check before a commit is taken, so that none gets lost when the budget ends.
            reader.check()?;
            let Some(next) = self.waiting.pop() else { return Ok(()) };
            if self.nodes.len() >= MAX_COMMITS {
                self.is_partial = true;
                self.waiting.clear();
                return Ok(());
            }
            if let Err(failure) = self.parents(reader, &next.node) {
                self.waiting.push(next);
                return Err(failure);
            }
            self.is_partial |= next.node.is_boundary;
            self.nodes.push(next.node);
        }
        Ok(())
    }

    fn parents(&mut self, reader: &mut Reader<'_>, node: &Node) -> Read<()> {
        for parent in &node.parents {
            if self.seen.contains(parent) {
                continue;
            }
            match reader.node(parent) {
                Ok(parent) => self.wait(parent),
                Err(Failure::Damaged(log)) => {
                    tracing::debug!(log, "a commit cannot be read");
                    self.is_partial = true;
                }
                Err(Failure::OverBudget) => return Err(Failure::OverBudget),
            }
            self.seen.insert(*parent);
        }
        Ok(())
    }

    fn wait(&mut self, node: Node) {
        let order = self.seen.len() as u64;
        self.waiting.push(Waiting { rank: (node.time, Reverse(order)), node });
    }
}

/// The lists that are kept.
#[derive(Default)]
pub(super) struct Walks(Mutex<Vec<Arc<Walk>>>);

impl Walks {
    /// The list that starts at `head`.
    pub(super) fn from(&self, head: ObjectId) -> Arc<Walk> {
        let mut walks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = walks.iter().position(|walk| walk.head == head) {
            let walk = walks.remove(at);
            walks.push(Arc::clone(&walk));
            return walk;
        }
        let walk = Arc::new(Walk::new(head));
        walks.push(Arc::clone(&walk));
        if walks.len() > KEPT {
            walks.remove(0);
        }
        walk
    }

    /// Drops all lists.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
