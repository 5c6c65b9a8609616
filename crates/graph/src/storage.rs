//! The graph: its edges as they were added, and the lists that walks read.

use std::fmt;

use crate::adjacency::{Adjacency, Edges, Entry};
use crate::redirects::Redirects;
use crate::{Direction, EdgeIndex, Node};

/// The minimum number of changes before the lists are repacked.
const CHANGES_MIN: usize = 4_096;
/// Packing visits all nodes and edges. If it runs when the changes are this fraction of them, its cost per edge is constant.
const CHANGES_PART: usize = 8;
/// How much full arrays grow, as a fraction of their length. Doubling them would waste up to half of the memory.
const ROOM_PART: usize = 4;
const ROOM_MIN: usize = 16;
/// The number of payloads that are looked up together.
const BLOCK: usize = 32;

/// A directed graph with a payload on every edge. It allows parallel edges and loops.
pub struct Graph<E> {
    /// The ends of each edge as it was added. Merged nodes keep their edges.
    pub(crate) ends: Vec<(Node, Node)>,
    payloads: Vec<E>,
    nodes: usize,
    pub(crate) redirects: Redirects,
    /// Lists by source and by target. They treat merged nodes as one.
    pub(crate) outward: Adjacency,
    pub(crate) inward: Adjacency,
}

/// An edge as walks see it.
#[derive(Debug)]
pub struct EdgeRef<'a, E> {
    /// The source, which is never a merged node.
    pub source: Node,
    /// The target, which is never a merged node.
    pub target: Node,
    /// The payload.
    pub payload: &'a E,
}

impl<E> Graph<E> {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self {
            ends: Vec::new(),
            payloads: Vec::new(),
            nodes: 0,
            redirects: Redirects::default(),
            outward: Adjacency::default(),
            inward: Adjacency::default(),
        }
    }

    /// Adds a node.
    pub fn add_node(&mut self) -> Node {
        let node = Node::try_from(self.nodes).unwrap_or(Node::MAX);
        self.nodes += 1;
        node
    }

    /// Adds an edge, which the next walk sees. Missing nodes up to its ends are added too.
    pub fn add_edge(&mut self, source: Node, target: Node, payload: E) -> EdgeIndex {
        let edge = EdgeIndex::try_from(self.ends.len()).unwrap_or(EdgeIndex::MAX);
        self.nodes = self.nodes.max(source.max(target) as usize + 1);
        push(&mut self.ends, (source, target));
        push(&mut self.payloads, payload);
        let (source, target) = (self.representative(source), self.representative(target));
        self.outward.push(source, Entry { edge, other: target });
        self.inward.push(target, Entry { edge, other: source });
        self.compact_if_due();
        edge
    }

    /// An edge.
    pub fn edge(&self, edge: EdgeIndex) -> Option<EdgeRef<'_, E>> {
        let (source, target) = *self.ends.get(edge as usize)?;
        let payload = self.payload(edge)?;
        Some(EdgeRef { source: self.representative(source), target: self.representative(target), payload })
    }

    /// The payload of an edge, for changing it. The edge itself does not change.
    pub fn payload_mut(&mut self, edge: EdgeIndex) -> Option<&mut E> {
        self.payloads.get_mut(edge as usize)
    }

    /// The edges of a node, each with its other end: outgoing edges in order, then incoming ones. With [`Direction::Both`], a
    /// loop is listed once.
    pub fn edges_of(&self, node: Node, direction: Direction) -> impl Iterator<Item = (EdgeIndex, Node)> + '_ {
        self.entries(self.representative(node), direction).map(|entry| (entry.edge, entry.other))
    }

    /// Repacks all lists. Walks are then a little faster, and the graph uses the least memory. This also happens automatically
    /// as the graph grows.
    pub fn compact(&mut self) {
        let (ends, redirects) = (&self.ends, &self.redirects);
        let resolved = ends.iter().map(|(source, target)| (redirects.resolve(*source), redirects.resolve(*target)));
        let inward = Adjacency::pack(self.nodes, resolved.clone().map(|(source, target)| (target, source)));
        self.outward = Adjacency::pack(self.nodes, resolved);
        self.inward = inward;
    }

    /// The number of nodes, including merged ones.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.ends.len()
    }

    /// The memory of the graph in bytes, without data that payloads point to.
    pub fn bytes(&self) -> usize {
        let edges = self.ends.capacity() * size_of::<(Node, Node)>() + self.payloads.capacity() * size_of::<E>();
        size_of::<Self>() + edges + self.redirects.bytes() + self.outward.bytes() + self.inward.bytes()
    }

    /// The node where a walk from `node` starts, if the node exists.
    pub(crate) fn start(&self, node: Node) -> Option<Node> {
        ((node as usize) < self.nodes).then(|| self.representative(node))
    }

    #[inline]
    pub(crate) fn payload(&self, edge: EdgeIndex) -> Option<&E> {
        self.payloads.get(edge as usize)
    }

    /// The edges of an unmerged node.
    #[inline]
    pub(crate) fn entries(&self, node: Node, direction: Direction) -> Edges<'_> {
        let none: [&[Entry]; 2] = [&[], &[]];
        let [out, recent_out] = if direction == Direction::In { none } else { self.outward.lists(node) };
        let [inward, recent_in] = if direction == Direction::Out { none } else { self.inward.lists(node) };
        Edges::new([out, recent_out, inward, recent_in], (direction == Direction::Both).then_some(node))
    }

    /// Appends the allowed edges of an unmerged node, each with its `value`.
    ///
    /// Payloads are scattered over memory. Looking up a whole block of them before using any result lets the processor fetch
    /// several at a time.
    #[inline]
    pub(crate) fn allowed<T>(
        &self,
        node: Node,
        direction: Direction,
        allow: &impl Fn(&E) -> bool,
        value: &impl Fn(&E) -> T,
        found: &mut Vec<(Entry, T)>,
    ) {
        for (list, skipped) in self.entries(node, direction).lists() {
            for block in list.chunks(BLOCK) {
                let mut allowed = [false; BLOCK];
                for (entry, allowed) in block.iter().zip(&mut allowed) {
                    *allowed = self.payload(entry.edge).is_some_and(allow);
                }
                for (entry, allowed) in block.iter().zip(allowed) {
                    if allowed
                        && Some(entry.other) != skipped
                        && let Some(payload) = self.payload(entry.edge)
                    {
                        found.push((*entry, value(payload)));
                    }
                }
            }
        }
    }

    pub(crate) fn compact_if_due(&mut self) {
        let changes = self.outward.changes().max(self.inward.changes());
        if changes > CHANGES_MIN.max((self.ends.len() + self.nodes) / CHANGES_PART) {
            self.compact();
        }
    }
}

impl<E> Default for Graph<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for Graph<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("nodes", &self.node_count()).field("edges", &self.edge_count()).finish_non_exhaustive()
    }
}

fn push<T>(array: &mut Vec<T>, value: T) {
    if array.len() == array.capacity() {
        array.reserve_exact(ROOM_MIN.max(array.len() / ROOM_PART));
    }
    array.push(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough edges for the lists to be packed several times.
    const MANY: u32 = 30_000;

    fn ring(nodes: u32) -> Graph<u32> {
        let mut graph = Graph::new();
        for node in 0..nodes {
            graph.add_edge(node, (node + 1) % nodes, node);
        }
        graph
    }

    #[test]
    fn an_edge_is_visible_as_soon_as_it_is_added() {
        let mut graph = Graph::new();
        let (left, right) = (graph.add_node(), graph.add_node());
        assert_eq!((left, right), (0, 1));
        let edge = graph.add_edge(left, right, "knows");
        assert_eq!(graph.edges_of(left, Direction::Out).collect::<Vec<_>>(), [(edge, right)]);
        assert_eq!(graph.edges_of(right, Direction::In).collect::<Vec<_>>(), [(edge, left)]);
        assert_eq!(graph.edges_of(right, Direction::Out).count(), 0);
        assert_eq!(graph.edge(edge).map(|edge| (edge.source, edge.target, *edge.payload)), Some((0, 1, "knows")));
        assert!(graph.edge(edge + 1).is_none());
    }

    #[test]
    fn edges_keep_their_numbers_while_the_lists_are_packed() {
        let graph = ring(MANY);
        assert!(graph.outward.changes() < MANY as usize / 4, "the lists were packed meanwhile");
        for edge in 0..MANY {
            let found = graph.edge(edge).unwrap();
            assert_eq!((found.source, found.target, *found.payload), (edge, (edge + 1) % MANY, edge));
            assert_eq!(graph.edges_of(edge, Direction::Out).collect::<Vec<_>>(), [(edge, (edge + 1) % MANY)]);
        }
    }

    #[test]
    fn automatic_packing_gets_rarer_as_the_graph_grows() {
        let mut graph = ring(MANY);
        graph.compact();
        let packings = (0..MANY).filter(|edge| {
            graph.add_edge(*edge, 0, 0);
            graph.outward.changes() == 0
        });
        let packings = packings.count();
        assert!((1..10).contains(&packings), "{packings} times");
    }

    #[test]
    fn nodes_below_an_edge_end_are_added() {
        let mut graph = Graph::new();
        graph.add_edge(3, 1, ());
        assert_eq!(graph.node_count(), 4);
        assert_eq!(graph.add_node(), 4);
        graph.compact();
        assert_eq!(graph.edges_of(3, Direction::Both).collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(graph.edges_of(9, Direction::Both).count(), 0, "an unknown node has no edges");
    }

    #[test]
    fn a_loop_is_listed_once_in_both_directions() {
        let mut graph = Graph::new();
        graph.add_edge(0, 0, ());
        for _ in 0..2 {
            for direction in [Direction::Out, Direction::In, Direction::Both] {
                assert_eq!(graph.edges_of(0, direction).collect::<Vec<_>>(), [(0, 0)], "{direction:?}");
            }
            graph.compact();
        }
    }

    #[test]
    fn payloads_change_in_place() {
        let mut graph = ring(3);
        *graph.payload_mut(1).unwrap() = 70;
        assert_eq!(graph.edge(1).map(|edge| *edge.payload), Some(70));
        assert!(graph.payload_mut(3).is_none());
    }

    #[test]
    fn allowed_edges_are_in_order() {
        let mut graph = Graph::new();
        // More than one block, with loops in between.
        for number in 0..100 {
            graph.add_edge(0, number % 10, number);
            graph.add_edge(number % 7, 0, 1_000 + number);
        }
        let mut found = Vec::new();
        graph.allowed(0, Direction::Both, &|payload| payload % 3 != 0, &|payload| *payload, &mut found);
        let expected = graph.entries(0, Direction::Both).map(|entry| (entry, *graph.payload(entry.edge).unwrap()));
        assert_eq!(found, expected.filter(|(_, payload)| payload % 3 != 0).collect::<Vec<_>>());
    }

    #[test]
    fn bytes_counts_the_arrays() {
        let mut graph = Graph::new();
        for node in 0..MANY {
            graph.add_edge(node % 6_000, node % 5_000, [0_u64; 6]);
        }
        graph.compact();
        let least = MANY as usize * (48 + 8 + 16) + 2 * 6_000 * 4;
        assert!((least..least * 4 / 3).contains(&graph.bytes()), "{} bytes, {least} at least", graph.bytes());
        let before = graph.bytes();
        graph.add_edge(0, 1, [0; 6]);
        graph.redirect(2, 3);
        assert!(graph.bytes() > before, "changes beside the packed lists count");
    }
}
