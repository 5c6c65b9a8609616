//! Who is next to whom, one way: a packed list for each node, and what has changed since it was packed.
//!
//! The packed part is three arrays' worth of numbers and no pointer. Changes lie beside it in small lists, until they are so many that
//! packing anew pays. Every list is in the order of its edges, packed or not, so that no walk can tell the difference.

use std::collections::HashMap;

use crate::numbering::NodeHash;
use crate::{EdgeIndex, Node};

/// An edge as one of its ends sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) edge: EdgeIndex,
    pub(crate) other: Node,
}

/// What has changed for a node.
#[derive(Debug, Default)]
struct Recent {
    entries: Vec<Entry>,
    /// The node's packed list no longer counts: all that is left of it is in `entries`.
    replaces: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Adjacency {
    /// Where each node's packed list begins, and where the last one ends.
    offsets: Vec<u32>,
    packed: Vec<Entry>,
    recent: HashMap<Node, Recent, NodeHash>,
    recent_entries: usize,
}

impl Adjacency {
    /// Packs `ends`, which gives for each edge, in order, the node that has it in its list and the node at the other end.
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
        self.recent_entries += 1;
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

    /// How many changes lie beside the packed lists.
    pub(crate) fn recent_entries(&self) -> usize {
        self.recent_entries
    }

    /// Moves those entries of `from` to `to` which now belong there, and says which these are.
    pub(crate) fn move_entries(&mut self, from: Node, to: Node, belongs_to: impl Fn(EdgeIndex) -> Node) -> Vec<EdgeIndex> {
        let all = self.lists(from).concat();
        let (going, staying): (Vec<_>, Vec<_>) = all.into_iter().partition(|entry| belongs_to(entry.edge) == to);
        if going.is_empty() {
            return Vec::new();
        }
        let mut joined = self.lists(to).concat();
        joined.extend_from_slice(&going);
        joined.sort_unstable_by_key(|entry| entry.edge);
        self.replace(from, staying);
        self.replace(to, joined);
        going.into_iter().map(|entry| entry.edge).collect()
    }

    /// Says that an edge in a node's list leads to another node than before.
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

    /// The memory that the lists hold.
    pub(crate) fn bytes(&self) -> usize {
        let lists: usize = self.recent.values().map(|recent| recent.entries.capacity() * size_of::<Entry>()).sum();
        // A hash table keeps one place in eight free, and a byte for each place.
        let table = self.recent.capacity() * 8 / 7 * (size_of::<(Node, Recent)>() + 1);
        self.offsets.capacity() * size_of::<u32>() + self.packed.capacity() * size_of::<Entry>() + lists + table
    }

    fn replace(&mut self, node: Node, entries: Vec<Entry>) {
        self.recent_entries += entries.len();
        if let Some(old) = self.recent.insert(node, Recent { entries, replaces: true }) {
            self.recent_entries -= old.entries.len();
        }
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
            // Added since the lists were packed.
            _ => (0, 0),
        }
    }
}

/// The edges of a node, as [`crate::Graph::edges_of`] lists them.
#[derive(Debug)]
pub(crate) struct Edges<'a> {
    pub(crate) lists: [&'a [Entry]; 4],
    pub(crate) current: std::slice::Iter<'a, Entry>,
    pub(crate) next_list: usize,
    /// The node, if its loops were listed among what goes out and must not be listed again among what comes in.
    pub(crate) loops_of: Option<Node>,
}

impl<'a> Edges<'a> {
    #[inline]
    pub(crate) fn new(lists: [&'a [Entry]; 4], loops_of: Option<Node>) -> Self {
        let [first, ..] = lists;
        Self { lists, current: first.iter(), next_list: 1, loops_of }
    }

    /// How many entries there are, counting loops once for each list they are in.
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
                // The first two lists are what goes out.
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
