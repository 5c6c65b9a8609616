//! The neighbours of each node in one direction: a packed list per node, and the changes since it was packed.
//!
//! The packed part is two arrays of numbers without pointers. Changes are in small lists next to it until repacking pays off.
//! Every list is in edge order, packed or not, so a walk cannot see the difference.

use std::collections::HashMap;

use crate::numbering::NodeHash;
use crate::{EdgeIndex, Node};

/// Up to this many entries are inserted into another list one by one, because a node with few edges is often merged into one
/// with many.
const INSERTED_MAX: usize = 8;

/// An edge as seen from one of its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) edge: EdgeIndex,
    pub(crate) other: Node,
}

/// The changes of a node since its list was packed.
#[derive(Debug, Default)]
struct Recent {
    entries: Vec<Entry>,
    /// The packed list is no longer valid: `entries` has everything that is left of it.
    replaces: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Adjacency {
    /// The start of each node's packed list, and the end of the last one.
    offsets: Vec<u32>,
    packed: Vec<Entry>,
    recent: HashMap<Node, Recent, NodeHash>,
    changes: usize,
}

impl Adjacency {
    /// Packs `ends`, which has for each edge, in order, the node whose list it is in and the node at its other end.
    pub(crate) fn pack(nodes: usize, ends: impl Iterator<Item = (Node, Node)> + Clone) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for (node, _) in ends.clone() {
            if let Some(count) = offsets.get_mut(node as usize + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for offset in &mut offsets {
            total += *offset;
            *offset = total;
        }
        let mut free = offsets.clone();
        let mut packed = vec![Entry::default(); total as usize];
        for (edge, (node, other)) in (0..).zip(ends) {
            let Some(place) = free.get_mut(node as usize) else { continue };
            if let Some(entry) = packed.get_mut(*place as usize) {
                *entry = Entry { edge, other };
            }
            *place += 1;
        }
        Self { offsets, packed, ..Self::default() }
    }

    /// Appends to a node's list. Edges must come in order.
    pub(crate) fn push(&mut self, node: Node, entry: Entry) {
        self.recent.entry(node).or_default().entries.push(entry);
        self.changes += 1;
    }

    /// A node's list, in two pieces.
    #[inline]
    pub(crate) fn lists(&self, node: Node) -> [&[Entry]; 2] {
        let packed = self.packed_list(node);
        if self.recent.is_empty() {
            return [packed, &[]];
        }
        match self.recent.get(&node) {
            None => [packed, &[]],
            Some(recent) if recent.replaces => [&[], &recent.entries],
            Some(recent) => [packed, &recent.entries],
        }
    }

    /// The number of entries that were added or moved since the lists were packed.
    pub(crate) fn changes(&self) -> usize {
        self.changes
    }

    /// Moves the entries of `from` that now belong to `to`, and returns them.
    pub(crate) fn move_entries(&mut self, from: Node, to: Node, belongs_to: impl Fn(EdgeIndex) -> Node) -> Vec<EdgeIndex> {
        let all = self.lists(from).concat();
        let (going, staying): (Vec<_>, Vec<_>) = all.into_iter().partition(|entry| belongs_to(entry.edge) == to);
        if going.is_empty() {
            return Vec::new();
        }
        self.changes += going.len();
        self.recent.insert(from, Recent { entries: staying, replaces: true });
        let joined = self.list_mut(to);
        if going.len() <= INSERTED_MAX {
            for entry in &going {
                joined.insert(joined.partition_point(|other| other.edge < entry.edge), *entry);
            }
        } else {
            joined.extend_from_slice(&going);
            // Two sorted lists in a row: the sort merges them in one pass.
            joined.sort_by_key(|entry| entry.edge);
        }
        going.into_iter().map(|entry| entry.edge).collect()
    }

    /// Changes the other end of an edge in a node's list.
    pub(crate) fn set_other(&mut self, node: Node, edge: EdgeIndex, other: Node) {
        let within = |entries: &[Entry]| entries.binary_search_by_key(&edge, |entry| entry.edge).ok();
        let recent = self.recent.get_mut(&node);
        let replaced = recent.as_ref().is_some_and(|recent| recent.replaces);
        let found = recent.and_then(|recent| within(&recent.entries).and_then(|place| recent.entries.get_mut(place)));
        if let Some(entry) = found {
            entry.other = other;
        } else if !replaced {
            let (start, end) = self.bounds(node);
            let list = self.packed.get_mut(start..end).unwrap_or_default();
            if let Some(entry) = within(list).and_then(|place| list.get_mut(place)) {
                entry.other = other;
            }
        }
    }

    /// The memory of the lists in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lists: usize = self.recent.values().map(|recent| recent.entries.capacity() * size_of::<Entry>()).sum();
        // A hash table keeps one slot in eight free and uses one extra byte per slot.
        let table = self.recent.capacity() * 8 / 7 * (size_of::<(Node, Recent)>() + 1);
        self.offsets.capacity() * size_of::<u32>() + self.packed.capacity() * size_of::<Entry>() + lists + table
    }

    /// A node's list as a separate copy that replaces the packed one.
    fn list_mut(&mut self, node: Node) -> &mut Vec<Entry> {
        let (start, end) = self.bounds(node);
        let recent = self.recent.entry(node).or_default();
        if !std::mem::replace(&mut recent.replaces, true) {
            let packed = self.packed.get(start..end).unwrap_or_default();
            recent.entries.splice(0..0, packed.iter().copied());
        }
        &mut recent.entries
    }

    #[inline]
    fn packed_list(&self, node: Node) -> &[Entry] {
        let (start, end) = self.bounds(node);
        self.packed.get(start..end).unwrap_or_default()
    }

    #[inline]
    fn bounds(&self, node: Node) -> (usize, usize) {
        let node = node as usize;
        match self.offsets.get(node..node.saturating_add(2)) {
            Some([start, end]) => (*start as usize, *end as usize),
            // The node was added after the lists were packed.
            _ => (0, 0),
        }
    }
}

/// The edges of a node, as [`crate::Graph::edges_of`] lists them.
#[derive(Debug)]
pub(crate) struct Edges<'a> {
    lists: [&'a [Entry]; 4],
    current: std::slice::Iter<'a, Entry>,
    next_list: usize,
    /// The node, if its loops were already listed as outgoing edges and must be skipped among the incoming ones.
    loops_of: Option<Node>,
}

impl<'a> Edges<'a> {
    #[inline]
    pub(crate) fn new(lists: [&'a [Entry]; 4], loops_of: Option<Node>) -> Self {
        let [first, ..] = lists;
        Self { lists, current: first.iter(), next_list: 1, loops_of }
    }

    /// The lists, each with the node whose entries must be skipped.
    #[inline]
    pub(crate) fn lists(&self) -> [(&'a [Entry], Option<Node>); 4] {
        let [out, recent_out, inward, recent_in] = self.lists;
        [(out, None), (recent_out, None), (inward, self.loops_of), (recent_in, self.loops_of)]
    }

    /// The number of entries, where a loop counts once for each list it is in.
    #[inline]
    pub(crate) fn len_at_most(&self) -> usize {
        self.lists.iter().map(|list| list.len()).sum()
    }
}

impl Iterator for Edges<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.current.next() {
                // The first two lists are the outgoing edges.
                if self.next_list > 2 && Some(entry.other) == self.loops_of {
                    continue;
                }
                return Some(*entry);
            }
            self.current = self.lists.get(self.next_list)?.iter();
            self.next_list += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(edge: EdgeIndex, other: Node) -> Entry {
        Entry { edge, other }
    }

    #[test]
    fn packed_lists_are_in_the_order_of_their_edges() {
        let lists = Adjacency::pack(3, [(2, 0), (0, 1), (2, 2), (0, 2)].into_iter());
        assert_eq!(lists.lists(0).concat(), [entry(1, 1), entry(3, 2)]);
        assert_eq!(lists.lists(1).concat(), []);
        assert_eq!(lists.lists(2).concat(), [entry(0, 0), entry(2, 2)]);
        assert_eq!(lists.lists(3).concat(), [], "a node that is not packed yet");
        assert_eq!(lists.lists(Node::MAX).concat(), []);
    }

    #[test]
    fn pushed_entries_follow_packed_entries() {
        let mut lists = Adjacency::pack(2, [(0, 1)].into_iter());
        lists.push(0, entry(1, 5));
        lists.push(7, entry(2, 0));
        assert_eq!(lists.lists(0).concat(), [entry(0, 1), entry(1, 5)]);
        assert_eq!(lists.lists(7).concat(), [entry(2, 0)]);
        assert_eq!(lists.changes(), 2);
    }

    #[test]
    fn moved_entries_leave_one_list_and_join_the_other_in_order() {
        let mut lists = Adjacency::pack(2, [(0, 9), (1, 9), (0, 9)].into_iter());
        lists.push(1, entry(3, 9));
        lists.push(0, entry(4, 9));
        let moved = lists.move_entries(0, 1, |edge| if edge == 0 { 0 } else { 1 });
        assert_eq!(moved, [2, 4]);
        assert_eq!(lists.lists(0).concat(), [entry(0, 9)]);
        assert_eq!(lists.lists(1).concat(), [entry(1, 9), entry(2, 9), entry(3, 9), entry(4, 9)]);
        assert_eq!(lists.changes(), 4);
        assert_eq!(lists.move_entries(0, 1, |_| 0), [], "nothing belongs there");
    }

    #[test]
    fn many_moved_entries_are_sorted_in() {
        let mut lists = Adjacency::pack(2, (0..100).map(|edge| (edge % 2, 9)));
        lists.push(1, entry(100, 9));
        let moved = lists.move_entries(0, 1, |_| 1);
        assert_eq!(moved.len(), 50);
        assert_eq!(lists.lists(0).concat(), []);
        assert_eq!(lists.lists(1).concat(), (0..=100).map(|edge| entry(edge, 9)).collect::<Vec<_>>());
    }

    #[test]
    fn the_other_end_changes_in_packed_and_recent_lists() {
        let mut lists = Adjacency::pack(2, [(0, 8), (1, 8)].into_iter());
        lists.push(0, entry(2, 8));
        lists.set_other(0, 0, 3);
        lists.set_other(0, 2, 4);
        lists.set_other(0, 1, 5);
        assert_eq!(lists.lists(0).concat(), [entry(0, 3), entry(2, 4)]);
        assert_eq!(lists.lists(1).concat(), [entry(1, 8)], "an edge of another node is left alone");
    }

    #[test]
    fn loops_are_skipped_among_incoming_edges() {
        let (out, inward) = ([entry(0, 1), entry(1, 7)], [entry(1, 7), entry(2, 1)]);
        let listed = |loops_of| Edges::new([&out, &[], &inward, &[]], loops_of).map(|entry| entry.edge).collect::<Vec<_>>();
        assert_eq!(listed(Some(7)), [0, 1, 2]);
        assert_eq!(listed(None), [0, 1, 1, 2]);
    }
}
