//! The way with the fewest edges, sought from both ends at once.

use std::ops::Range;

use crate::numbering::Numbering;
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

/// No edge led here: the search began here.
const START: u32 = u32::MAX;

/// A path of the fewest edges from any of `from` to any of `to`, of at most `depth_max` edges, in the order in which they are crossed. Empty if
/// they share a node. Of several such paths it is always the same one.
pub fn shortest_path<E>(
    graph: &Graph<E>,
    from: &[Node],
    to: &[Node],
    depth_max: u32,
    direction: Direction,
    allow: impl Fn(&E) -> bool,
) -> Option<Vec<EdgeIndex>> {
    let mut ahead = Side::new(graph, from, direction);
    let mut back = Side::new(graph, to, direction.reversed());
    if ahead.met.nodes().iter().any(|node| back.met.get(*node).is_some()) {
        return Some(Vec::new());
    }
    for _ in 0..depth_max {
        // The two sides have met all nodes within so many steps of their ends, and none of them on both sides: the first node that a further
        // step finds on the other side is on a shortest path. The side with fewer edges to look at takes the step.
        let (side, other) = if ahead.edges <= back.edges { (&mut ahead, &back) } else { (&mut back, &ahead) };
        if side.level.is_empty() {
            return None;
        }
        if let Some(meeting) = side.step(graph, other, &allow) {
            let mut path = ahead.edges_to(meeting);
            path.reverse();
            path.extend(back.edges_to(meeting));
            return Some(path);
        }
    }
    None
}

struct Side {
    direction: Direction,
    met: Numbering,
    /// For each node met, the edge that led to it, and from which node.
    steps: Vec<(EdgeIndex, u32)>,
    /// The nodes that were met last and are still to be looked from.
    level: Range<u32>,
    /// How many edges these have.
    edges: usize,
}

impl Side {
    fn new<E>(graph: &Graph<E>, starts: &[Node], direction: Direction) -> Self {
        let mut side = Self { direction, met: Numbering::new(), steps: Vec::new(), level: 0..0, edges: 0 };
        for start in starts.iter().filter_map(|start| graph.start(*start)) {
            side.meet(graph, start, START, START);
        }
        side.level = 0..side.met.len();
        side
    }

    fn meet<E>(&mut self, graph: &Graph<E>, node: Node, edge: EdgeIndex, before: u32) {
        if self.met.insert(node).1 {
            self.steps.push((edge, before));
            self.edges += graph.entries(node, self.direction).len_at_most();
        }
    }

    /// Goes one edge further everywhere, unless it meets the other side: then it says where.
    fn step<E>(&mut self, graph: &Graph<E>, other: &Self, allow: &impl Fn(&E) -> bool) -> Option<Node> {
        self.edges = 0;
        for number in self.level.clone() {
            let node = self.met.node(number)?;
            for entry in graph.entries(node, self.direction) {
                // Looking an edge's payload up costs more than asking whether its end is known, and most are.
                if self.met.get(entry.other).is_some() || !graph.payload(entry.edge).is_some_and(allow) {
                    continue;
                }
                self.meet(graph, entry.other, entry.edge, number);
                if other.met.get(entry.other).is_some() {
                    return Some(entry.other);
                }
            }
        }
        self.level = self.level.end..self.met.len();
        None
    }

    /// The edges between a node and where this side began, from the node on.
    fn edges_to(&self, node: Node) -> Vec<EdgeIndex> {
        let mut edges = Vec::new();
        let mut number = self.met.get(node);
        while let Some((edge, before)) = number.and_then(|number| self.steps.get(number as usize)).filter(|step| step.0 != START)
        {
            edges.push(*edge);
            number = Some(*before);
        }
        edges
    }
}
