//! What a search for distances knows: the best path to each node so far, and the order of these paths.
//!
//! No two nodes are equal in this order, and a node always comes after the node before it, also across an edge of weight zero:
//! paths are ordered by length, then by the number of edges, then by the node they lead to. Of two paths to one node that are
//! equal in both, the one from the lower node, over the lower edge, is better.

use std::cmp::Ordering;

use crate::adjacency::Entry;
use crate::distances::{Counters, Distances, Found, Within};
use crate::numbering::Numbering;
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

const NONE: u32 = u32::MAX;

/// A node's place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The bits of the length. They are ordered like the lengths, which are never negative.
    length: u64,
    hops: u32,
    node: Node,
    pub(crate) number: u32,
}

impl Key {
    /// Comes after every node.
    pub(crate) const LAST: Self = Self { length: u64::MAX, hops: NONE, node: NONE, number: NONE };

    pub(crate) fn new(length: f64, hops: u32, node: Node, number: u32) -> Self {
        Self { length: length.to_bits(), hops, node, number }
    }
}

/// An edge from a node to the node with the number `to`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) to: u32,
    edge: EdgeIndex,
    weight: f64,
}

/// The best path to a node so far.
#[derive(Clone, Copy, Debug)]
struct Label {
    /// Infinite until there is a path.
    length: f64,
    hops: u32,
    node: Node,
    /// The number of the node before it, and the edge from there.
    before: u32,
    edge: EdgeIndex,
    /// The path is known to be a shortest one.
    is_done: bool,
}

/// The labels of all nodes that a search has met.
pub(crate) struct Labels<'a, E, A, W> {
    graph: &'a Graph<E>,
    direction: Direction,
    length_max: f64,
    allow: A,
    weight: W,
    met: Numbering,
    labels: Vec<Label>,
    steps: Vec<(Entry, f64)>,
    pub(crate) counters: Counters,
}

impl<'a, E, A: Fn(&E) -> bool, W: Fn(&E) -> f64> Labels<'a, E, A, W> {
    pub(crate) fn new(graph: &'a Graph<E>, within: &Within, allow: A, weight: W) -> Self {
        Self {
            graph,
            direction: within.direction,
            // A sum beyond the greatest number is no distance.
            length_max: within.distance_max.unwrap_or(f64::MAX).min(f64::MAX),
            allow,
            weight,
            met: Numbering::new(),
            labels: Vec::new(),
            steps: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Labels the sources, and returns their numbers. Unknown nodes and invalid start distances are left out.
    pub(crate) fn start(&mut self, sources: &[(Node, f64)]) -> Vec<u32> {
        let mut starts = Vec::new();
        for (node, length) in sources {
            let is_length = *length >= 0.0 && *length <= self.length_max;
            let Some(node) = self.graph.start(*node).filter(|_| is_length) else { continue };
            let number = self.meet(node);
            let Some(label) = self.labels.get_mut(number as usize) else { continue };
            if label.length.is_infinite() {
                starts.push(number);
            }
            // Adding zero turns a negative zero into a positive one.
            label.length = label.length.min(*length + 0.0);
            label.hops = 0;
        }
        starts
    }

    /// Appends the edges of a node that have a valid weight. Loops are left out because they are on no shortest path.
    pub(crate) fn arcs(&mut self, number: u32, arcs: &mut Vec<Arc>) {
        let Some(node) = self.met.node(number) else { return };
        let mut steps = std::mem::take(&mut self.steps);
        self.graph.allowed(node, self.direction, &self.allow, &self.weight, &mut steps);
        for (entry, weight) in steps.drain(..) {
            if weight >= 0.0 && weight.is_finite() && entry.other != node {
                arcs.push(Arc { to: self.meet(entry.other), edge: entry.edge, weight });
            }
        }
        self.steps = steps;
    }

    /// Tries an edge. If it is the last edge of the best path to its end, now or already before, returns the end's key.
    #[inline]
    pub(crate) fn relax(&mut self, from: u32, arc: &Arc) -> Option<Key> {
        self.counters.edges += 1;
        let source = *self.labels.get(from as usize)?;
        let target = *self.labels.get(arc.to as usize)?;
        let (length, hops) = (source.length + arc.weight, source.hops + 1);
        if length > target.length || length > self.length_max || target.is_done {
            return None;
        }
        let is_known = target.before == from && target.edge == arc.edge;
        let is_better = match length.total_cmp(&target.length).then(hops.cmp(&target.hops)) {
            Ordering::Less => true,
            Ordering::Equal => is_known || (source.node, arc.edge) < (self.labels.get(target.before as usize)?.node, target.edge),
            // The node before got a shorter path with more edges, but the sum was rounded to the same length. The label stays.
            Ordering::Greater if is_known => return self.key(arc.to),
            Ordering::Greater => false,
        };
        if !is_better {
            return None;
        }
        let label = self.labels.get_mut(arc.to as usize)?;
        *label = Label { length, hops, before: from, edge: arc.edge, ..target };
        Some(Key::new(length, hops, target.node, arc.to))
    }

    #[inline]
    pub(crate) fn key(&self, number: u32) -> Option<Key> {
        self.labels.get(number as usize).map(|label| Key::new(label.length, label.hops, label.node, number))
    }

    /// Whether a key is the current one of its node, and the node is not done.
    #[inline]
    pub(crate) fn is_open(&self, key: &Key) -> bool {
        let label = self.labels.get(key.number as usize);
        label.is_some_and(|label| !label.is_done && label.length.to_bits() == key.length && label.hops == key.hops)
    }

    /// The number of the node before a node.
    pub(crate) fn before(&self, number: u32) -> Option<u32> {
        self.labels.get(number as usize).map(|label| label.before).filter(|before| *before != NONE)
    }

    /// Marks a node as done. Returns whether it was not yet.
    pub(crate) fn finish(&mut self, number: u32) -> bool {
        self.labels.get_mut(number as usize).is_some_and(|label| !std::mem::replace(&mut label.is_done, true))
    }

    /// The answer, with these nodes.
    pub(crate) fn answer(self, numbers: &[u32], truncated: bool) -> Distances {
        let found = numbers.iter().filter_map(|number| {
            let label = self.labels.get(*number as usize)?;
            let before = self.labels.get(label.before as usize).map(|before| (label.edge, before.node));
            Some(Found { node: label.node, distance: label.length, hops: label.hops, before })
        });
        Distances::new(found.collect(), truncated, self.counters)
    }

    fn meet(&mut self, node: Node) -> u32 {
        let (number, is_new) = self.met.insert(node);
        if is_new {
            self.labels.push(Label { length: f64::INFINITY, hops: NONE, node, before: NONE, edge: NONE, is_done: false });
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_by_length_then_edges_then_node() {
        let keys = [
            Key::new(0.0, 0, 9, 3),
            Key::new(0.0, 1, 0, 2),
            Key::new(0.0, 1, 4, 1),
            Key::new(f64::MIN_POSITIVE, 0, 0, 0),
            Key::new(1.5, 0, 0, 0),
            Key::new(f64::MAX, 0, 0, 0),
            Key::LAST,
        ];
        assert!(keys.is_sorted_by(|one, other| one < other));
    }

    #[test]
    fn the_better_of_two_equal_paths_does_not_depend_on_the_order_of_trying() {
        let mut graph = Graph::new();
        for (source, target) in [(2, 3), (1, 3), (1, 3), (0, 1), (0, 2)] {
            graph.add_edge(source, target, 1.0);
        }
        for turned in [false, true] {
            let mut labels = Labels::new(&graph, &Within::all(Direction::Out), |_: &f64| true, |weight: &f64| *weight);
            let mut order = labels.start(&[(1, 0.0), (2, 0.0)]);
            if turned {
                order.reverse();
            }
            for number in &order {
                let mut arcs = Vec::new();
                labels.arcs(*number, &mut arcs);
                for arc in arcs {
                    labels.relax(*number, &arc);
                }
            }
            let three = labels.meet(3);
            let found = labels.answer(&[three], false);
            assert_eq!(found.get(3).and_then(|found| found.before), Some((1, 1)), "{turned}");
        }
    }

    #[test]
    fn a_path_that_rounds_to_the_same_length_is_still_the_known_one() {
        // The path to 1 gets shorter but has more edges. Rounding hides that in the length of the path to 2.
        let mut graph = Graph::new();
        let edges = [(0, 1, 1.0 + f64::EPSILON), (1, 2, 1e30), (0, 3, 0.5), (3, 1, 0.5)];
        for (source, target, weight) in edges {
            graph.add_edge(source, target, weight);
        }
        let mut labels = Labels::new(&graph, &Within::all(Direction::Out), |_: &f64| true, |weight: &f64| *weight);
        labels.start(&[(0, 0.0)]);
        let tried = |labels: &mut Labels<_, _, _>, source, edge| {
            let (number, mut arcs) = (labels.meet(source), Vec::new());
            labels.arcs(number, &mut arcs);
            arcs.iter().find(|arc| arc.edge == edge).and_then(|arc| labels.relax(number, arc))
        };
        assert!(tried(&mut labels, 0, 0).is_some());
        let before = tried(&mut labels, 1, 1);
        assert!(before.is_some());
        assert!(tried(&mut labels, 0, 2).is_some());
        assert!(tried(&mut labels, 3, 3).is_some(), "shorter, with more edges");
        assert_eq!(tried(&mut labels, 1, 1), before, "a search must not lose the node");
    }
}
