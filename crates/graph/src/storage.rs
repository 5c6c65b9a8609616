//! The graph itself: its edges as they were added, and the lists that walks read.

use std::fmt;

use crate::adjacency::{Adjacency, Edges, Entry};
use crate::redirects::Redirects;
use crate::{Direction, EdgeIndex, Node};

/// Changes beside the packed lists before packing anew is thought of.
const RECENT_MIN: usize = 4_096;
/// Packing goes through all nodes and edges: done when the changes are this part of them, it costs each edge a constant.
const RECENT_PART: usize = 8;
/// How much room arrays get when they are full: a part of what they hold, since doubling them would waste up to half of it.
const ROOM_PART: usize = 4;
const ROOM_MIN: usize = 16;

/// A directed graph whose edges carry something. Many edges may lead from one node to another, and from a node to itself.
pub struct Graph<E> {
    /// The ends of each edge as it was added; merged nodes keep their edges.
    pub(crate) ends: Vec<(Node, Node)>,
    payloads: Vec<E>,
    nodes: usize,
    pub(crate) redirects: Redirects,
    /// Lists by source and by target, in which merged nodes are one.
    pub(crate) outward: Adjacency,
    pub(crate) inward: Adjacency,
}

/// An edge as it is walked.
#[derive(Debug)]
pub struct EdgeRef<'a, E> {
    /// Where it begins: a node that is not merged into another.
    pub source: Node,
    /// Where it ends: a node that is not merged into another.
    pub target: Node,
    /// What it carries.
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

    /// Adds an edge, which the next walk sees. An end that is not there yet is added, with all nodes before it.
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

    /// What an edge carries, to be changed. The edge stays where it is.
    pub fn payload_mut(&mut self, edge: EdgeIndex) -> Option<&mut E> {
        self.payloads.get_mut(edge as usize)
    }

    /// The edges of a node, each with its other end: those that go out in their order, then those that come in. With
    /// [`Direction::Both`], an edge from the node to itself is listed once.
    pub fn edges_of(&self, node: Node, direction: Direction) -> impl Iterator<Item = (EdgeIndex, Node)> + '_ {
        self.entries(self.representative(node), direction).map(|entry| (entry.edge, entry.other))
    }

    /// Packs all lists anew: walks are a little faster then, and memory is least. This happens by itself as the graph grows.
    pub fn compact(&mut self) {
        let (ends, redirects) = (&self.ends, &self.redirects);
        let resolved = ends.iter().map(|(source, target)| (redirects.resolve(*source), redirects.resolve(*target)));
        let inward = Adjacency::pack(self.nodes, resolved.clone().map(|(source, target)| (target, source)));
        self.outward = Adjacency::pack(self.nodes, resolved);
        self.inward = inward;
    }

    /// How many nodes there are, merged ones among them.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.ends.len()
    }

    /// The memory that the graph holds, without what payloads point to.
    pub fn bytes(&self) -> usize {
        let edges = self.ends.capacity() * size_of::<(Node, Node)>() + self.payloads.capacity() * size_of::<E>();
        size_of::<Self>() + edges + self.redirects.bytes() + self.outward.bytes() + self.inward.bytes()
    }

    /// The node that a walk begins at when it is asked to begin at `node`, if there is such a node.
    pub(crate) fn start(&self, node: Node) -> Option<Node> {
        ((node as usize) < self.nodes).then(|| self.representative(node))
    }

    #[inline]
    pub(crate) fn payload(&self, edge: EdgeIndex) -> Option<&E> {
        self.payloads.get(edge as usize)
    }

    /// The edges of a node that is not merged into another.
    #[inline]
    pub(crate) fn entries(&self, node: Node, direction: Direction) -> Edges<'_> {
        let none: [&[Entry]; 2] = [&[], &[]];
        let [out, recent_out] = if direction == Direction::In { none } else { self.outward.lists(node) };
        let [inward, recent_in] = if direction == Direction::Out { none } else { self.inward.lists(node) };
        Edges::new([out, recent_out, inward, recent_in], (direction == Direction::Both).then_some(node))
    }

    pub(crate) fn compact_if_due(&mut self) {
        let recent = self.outward.recent_entries().max(self.inward.recent_entries());
        if recent > RECENT_MIN.max((self.ends.len() + self.nodes) / RECENT_PART) {
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
