//! What a search for distances is asked, and what it answers: the same for [`crate::fre()`] and [`crate::dijkstra()`].

use crate::numbering::Numbering;
use crate::{Direction, EdgeIndex, Node};

/// How far a search for distances goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Within {
    /// The direction in which it crosses edges.
    pub direction: Direction,
    /// The greatest distance that it answers, inclusive.
    pub distance_max: Option<f64>,
    /// The maximum number of nodes that it answers: the nearest ones. Of nodes at the same distance, those with fewer edges on
    /// their path come first, then those with lower numbers.
    pub nodes_max: usize,
}

impl Within {
    /// A search without limits.
    pub fn all(direction: Direction) -> Self {
        Self { direction, distance_max: None, nodes_max: usize::MAX }
    }
}

/// A node with its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The node, which is never a merged one.
    pub node: Node,
    /// The sum of the weights on a shortest path, plus the start distance of its source.
    pub distance: f64,
    /// The number of edges of that path. Of all shortest paths, it has the fewest edges, except where adding weights rounds two
    /// sums to the same number.
    pub hops: u32,
    /// The last edge of the path and the node before it, or nothing for a source.
    pub before: Option<(EdgeIndex, Node)>,
}

/// The work of a search. Operations of the ordered queues are what the two searches differ in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Edges that were tried. [`crate::fre()`] tries an edge once for each level of its recursion, and more.
    pub edges: u64,
    /// Nodes that were added to a heap. [`crate::fre()`] uses one for the smallest parts of its work.
    pub heap_pushes: u64,
    /// Nodes that were taken from a heap.
    pub heap_pops: u64,
    /// Nodes that moved up in a heap because a shorter path to them was found.
    pub heap_decreases: u64,
    /// Nodes that were inserted one by one into a queue of blocks.
    pub inserts: u64,
    /// Batches that were put in front of a queue of blocks.
    pub prepends: u64,
    /// The nodes in these batches.
    pub prepended: u64,
    /// Batches of nearest nodes that were taken from a queue of blocks.
    pub pulls: u64,
    /// The nodes in these batches.
    pub pulled: u64,
    /// Times that a block was divided at its median, or that the nearest nodes were selected for a pull.
    pub selections: u64,
    /// Comparisons of two distances in all queues. Finding a block counts as the binary logarithm of the number of blocks.
    pub comparisons: u64,
}

impl Counters {
    /// The operations on ordered queues: each push, pop, decrease, insert, batch and pull counts as one.
    pub fn queue_operations(&self) -> u64 {
        self.heap_pushes + self.heap_pops + self.heap_decreases + self.inserts + self.prepends + self.pulls
    }
}

/// The answer of a search for distances.
#[derive(Debug)]
pub struct Distances {
    found: Vec<Found>,
    /// The places of the nodes in `found`.
    places: Numbering,
    /// Whether there are more nodes within the greatest distance than were allowed.
    pub truncated: bool,
    /// The work that was done.
    pub counters: Counters,
}

impl Distances {
    pub(crate) fn new(found: Vec<Found>, truncated: bool, counters: Counters) -> Self {
        let mut places = Numbering::new();
        for found in &found {
            places.insert(found.node);
        }
        Self { found, places, truncated, counters }
    }

    /// The nodes in the order in which the search was done with them. The two searches have different orders.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// The nodes by distance, then by the number of edges, then by number. Both searches give the same list.
    pub fn sorted(&self) -> Vec<Found> {
        let mut sorted = self.found.clone();
        let order = |one: &Found, other: &Found| {
            one.distance.total_cmp(&other.distance).then(one.hops.cmp(&other.hops)).then(one.node.cmp(&other.node))
        };
        sorted.sort_unstable_by(order);
        sorted
    }

    /// A node's distance, if the node was found. For a merged node, ask for the node that represents it.
    pub fn get(&self, node: Node) -> Option<&Found> {
        self.found.get(self.places.get(node)? as usize)
    }

    /// The edges of a shortest path to a node in walking order, and the source that it begins at.
    pub fn path_to(&self, node: Node) -> Option<(Node, Vec<EdgeIndex>)> {
        let mut at = self.get(node)?;
        let mut edges = Vec::with_capacity(at.hops as usize);
        while let Some((edge, before)) = at.before {
            edges.push(edge);
            at = self.get(before)?;
        }
        edges.reverse();
        Some((at.node, edges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distances() -> Distances {
        let found = |node, distance, hops, before| Found { node, distance, hops, before };
        let found = vec![
            found(7, 1.0, 0, None),
            found(3, 2.0, 2, Some((5, 9))),
            found(9, 2.0, 1, Some((4, 7))),
            found(2, 2.0, 2, Some((6, 9))),
        ];
        Distances::new(found, false, Counters { heap_pops: 4, inserts: 2, prepended: 9, ..Counters::default() })
    }

    #[test]
    fn nodes_are_sorted_by_distance_then_edges_then_number() {
        assert_eq!(distances().sorted().iter().map(|found| found.node).collect::<Vec<_>>(), [7, 9, 2, 3]);
    }

    #[test]
    fn a_path_begins_at_its_source() {
        let distances = distances();
        assert_eq!(distances.path_to(3), Some((7, vec![4, 5])));
        assert_eq!(distances.path_to(7), Some((7, Vec::new())));
        assert_eq!(distances.path_to(1), None);
        assert_eq!(distances.get(9).map(|found| found.distance), Some(2.0));
    }

    #[test]
    fn nodes_in_a_batch_are_not_operations() {
        assert_eq!(distances().counters.queue_operations(), 6);
    }
}
