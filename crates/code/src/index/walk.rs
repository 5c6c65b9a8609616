//! Walks over the graphs. Every engine gives the same nodes and the same distances: the nearest nodes, and among equally near ones those
//! with the lowest numbers.
//!
//! All edges count one, so the frontier search that `fre` names is a search by levels, and the answer says so.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Instant;

use graph::{Direction, Graph, Node, Within, dijkstra};

use super::graph::Tie;

/// How to walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The frontier search. On edges that all count one, it is [`Algorithm::Bfs`].
    #[default]
    Fre,
    /// Dijkstra's algorithm.
    Dijkstra,
    /// Level by level.
    Bfs,
    /// Depth first. A node that is reached on a shorter way is walked again, so distances are those of the others.
    Dfs,
}

impl Algorithm {
    /// The name of what runs.
    pub fn engine(self) -> &'static str {
        match self {
            Self::Fre | Self::Bfs => "bfs",
            Self::Dijkstra => "dijkstra",
            Self::Dfs => "dfs",
        }
    }
}

/// The work of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkCounters {
    /// Nodes that were reached.
    pub nodes: u64,
    /// Edges that were looked at.
    pub edges: u64,
    /// Operations on an ordered queue. Only Dijkstra's algorithm has one.
    pub queue_operations: u64,
    /// The time of the walk itself in microseconds.
    pub engine_us: u64,
}

/// The limits of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) direction: Direction,
    pub(crate) depth: u32,
    /// The number of nodes besides the starts.
    pub(crate) nodes_max: usize,
}

/// The distance of each reached node. Nodes are dense and ours, so nobody can choose them to collide.
pub(crate) type Depths = HashMap<Node, u32, BuildHasherDefault<NodeHasher>>;

/// Hashes nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeHasher(u64);

impl Hasher for NodeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        // The table uses the lower bits for the slot and the upper bits for the tag.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

/// What a walk reached.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// Each node with its distance, sorted by distance and number.
    pub(crate) nodes: Vec<(Node, u32)>,
    pub(crate) depths: Depths,
    pub(crate) is_cut: bool,
    pub(crate) counters: WalkCounters,
}

/// Walks from the starts over the allowed edges.
pub(crate) fn walk(
    graph: &Graph<Tie>,
    starts: &[Node],
    limits: &Limits,
    algorithm: Algorithm,
    allow: impl Fn(&Tie) -> bool,
) -> Reached {
    let began = Instant::now();
    let mut starts: Vec<Node> = starts.iter().copied().filter(|start| (*start as usize) < graph.node_count()).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut reached = match algorithm {
        Algorithm::Fre | Algorithm::Bfs => by_levels(graph, &starts, limits, &allow),
        Algorithm::Dijkstra => by_dijkstra(graph, &starts, limits, &allow),
        Algorithm::Dfs => by_depth(graph, &starts, limits, &allow),
    };
    reached.counters.nodes = u64::try_from(reached.nodes.len()).unwrap_or(u64::MAX);
    reached.counters.engine_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    reached
}

/// The allowed edges of a node, each with its other end.
fn crossed<'a>(
    graph: &'a Graph<Tie>,
    node: Node,
    direction: Direction,
    allow: &'a impl Fn(&Tie) -> bool,
) -> impl Iterator<Item = Node> + 'a {
    let edges = graph.edges_of(node, direction);
    edges.filter(move |(edge, _)| graph.edge(*edge).is_some_and(|edge| allow(edge.payload))).map(|(_, other)| other)
}

fn by_levels(graph: &Graph<Tie>, starts: &[Node], limits: &Limits, allow: &impl Fn(&Tie) -> bool) -> Reached {
    let mut reached = Reached::default();
    for start in starts {
        reached.nodes.push((*start, 0));
        reached.depths.insert(*start, 0);
    }
    let (mut level, mut left) = (starts.to_vec(), limits.nodes_max);
    for depth in 1..=limits.depth {
        let mut next = Vec::new();
        for node in &level {
            for other in crossed(graph, *node, limits.direction, allow) {
                reached.counters.edges += 1;
                if let Entry::Vacant(free) = reached.depths.entry(other) {
                    free.insert(depth);
                    next.push(other);
                }
            }
        }
        next.sort_unstable();
        for beyond in next.drain(left.min(next.len())..) {
            reached.depths.remove(&beyond);
            reached.is_cut = true;
        }
        left -= next.len();
        reached.nodes.extend(next.iter().map(|node| (*node, depth)));
        if next.is_empty() || reached.is_cut {
            break;
        }
        level = next;
    }
    reached
}

fn by_dijkstra(graph: &Graph<Tie>, starts: &[Node], limits: &Limits, allow: &impl Fn(&Tie) -> bool) -> Reached {
    let sources: Vec<(Node, f64)> = starts.iter().map(|start| (*start, 0.0)).collect();
    let within = Within {
        direction: limits.direction,
        distance_max: Some(f64::from(limits.depth)),
        nodes_max: limits.nodes_max.saturating_add(starts.len()),
    };
    let found = dijkstra(graph, &sources, &within, allow, |_| 1.0);
    let mut reached = Reached { is_cut: found.truncated, ..Reached::default() };
    reached.nodes = found.sorted().into_iter().map(|found| (found.node, found.hops)).collect();
    reached.depths = reached.nodes.iter().copied().collect();
    reached.counters.edges = found.counters.edges;
    reached.counters.queue_operations = found.counters.queue_operations();
    reached
}

/// A node's distance only falls, and it is at most the greatest depth. So each node is walked at most that many times.
fn by_depth(graph: &Graph<Tie>, starts: &[Node], limits: &Limits, allow: &impl Fn(&Tie) -> bool) -> Reached {
    let mut reached = Reached { depths: starts.iter().map(|start| (*start, 0)).collect(), ..Reached::default() };
    let mut path: Vec<(u32, Vec<Node>)> = Vec::new();
    for start in starts {
        path.push((1, crossed(graph, *start, limits.direction, allow).collect()));
        while let Some((depth, others)) = path.last_mut() {
            let (depth, Some(other)) = (*depth, others.pop()) else {
                path.pop();
                continue;
            };
            reached.counters.edges += 1;
            let known = reached.depths.entry(other).or_insert(u32::MAX);
            if depth <= limits.depth && depth < *known {
                *known = depth;
                if depth < limits.depth {
                    path.push((depth + 1, crossed(graph, other, limits.direction, allow).collect()));
                }
            }
        }
    }
    reached.depths.retain(|_, depth| *depth <= limits.depth);
    reached.nodes = reached.depths.iter().map(|(node, depth)| (*node, *depth)).collect();
    reached.nodes.sort_unstable_by_key(|(node, depth)| (*depth, *node));
    let most = limits.nodes_max.saturating_add(starts.len());
    for (beyond, _) in reached.nodes.drain(most.min(reached.nodes.len())..) {
        reached.depths.remove(&beyond);
        reached.is_cut = true;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::graph::Relationship;
    use crate::resolve::Resolution;
    use proptest::prelude::*;

    fn tie(relationship: Relationship) -> Tie {
        Tie { relationship, resolution: Resolution::Exact }
    }

    proptest! {
        #[test]
        fn all_engines_agree(
            edges in prop::collection::vec((0u32..30, 0u32..30, any::<bool>()), 0..120),
            starts in prop::collection::vec(0u32..32, 0..4),
            depth in 0u32..6,
            nodes_max in 0usize..40,
            direction in 0usize..3,
        ) {
            let mut graph = Graph::new();
            for _ in 0..30 {
                graph.add_node();
            }
            for (from, to, is_call) in edges {
                graph.add_edge(from, to, tie(if is_call { Relationship::Calls } else { Relationship::Imports }));
            }
            let direction = [Direction::Out, Direction::In, Direction::Both][direction];
            let limits = Limits { direction, depth, nodes_max };
            let allow = |tie: &Tie| tie.relationship == Relationship::Imports;
            let expected = walk(&graph, &starts, &limits, Algorithm::Bfs, allow);
            for algorithm in [Algorithm::Fre, Algorithm::Dijkstra, Algorithm::Dfs] {
                let found = walk(&graph, &starts, &limits, algorithm, allow);
                prop_assert_eq!(&found.nodes, &expected.nodes, "{:?}", algorithm);
                prop_assert_eq!(found.is_cut, expected.is_cut, "{:?}", algorithm);
                prop_assert_eq!(&found.depths, &expected.depths);
            }
        }
    }
}
