//! Neighbourhood search: all nodes within a few edges, nearest first, with the edges between them.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::adjacency::Entry;
use crate::numbering::{NodeHash, Numbering};
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

/// The limits of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The direction in which edges are crossed.
    pub direction: Direction,
    /// The maximum number of edges between a start and a reached node.
    pub depth: u32,
    /// The maximum number of edges crossed from one node: the heaviest ones.
    pub fan_out_max: usize,
    /// The maximum number of reached nodes besides the starts.
    pub nodes_max: usize,
}

/// The result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Each node with its distance: first the starts, then the nearest first. Nodes at the same distance are ordered by the
    /// weight of the heaviest edge that leads to them.
    pub nodes: Vec<(Node, u32)>,
    /// Each edge between two reached nodes that was seen from one of them, with its step: one for the edges of the starts. The
    /// walk does not follow edges of the nodes that it reaches last.
    pub edges: Vec<(EdgeIndex, u32)>,
    /// Whether a limit other than the depth left something out.
    pub truncated: bool,
}

/// Whether a node's edges were followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    NotYet,
    AtAll,
    /// Only its heaviest edges.
    AtSome,
}

/// An edge that can be crossed, and its weight.
type Crossing = (Entry, f32);

/// Heavier edges come first, then older ones.
fn order((left, left_weight): &Crossing, (right, right_weight): &Crossing) -> Ordering {
    right_weight.total_cmp(left_weight).then(left.edge.cmp(&right.edge))
}

/// The nodes within `hop.depth` edges of `starts`, and the edges between them. If a limit leaves nodes out, the walk ends at
/// the distance where that happened.
pub fn neighbours<E>(
    graph: &Graph<E>,
    starts: &[Node],
    hop: &Hop,
    allow: impl Fn(&E) -> bool,
    weight: impl Fn(&E) -> f32,
) -> Reached {
    let mut walk = Walk {
        graph,
        hop,
        met: Numbering::new(),
        looked: Vec::new(),
        from_some: HashSet::default(),
        seen: Vec::new(),
        crossings: Vec::new(),
    };
    let mut reached = Reached::default();
    for start in starts.iter().filter_map(|start| graph.start(*start)) {
        if walk.met.insert(start).1 {
            walk.looked.push(Looked::NotYet);
            reached.nodes.push((start, 0));
        }
    }
    let (mut level, mut left) = (0..reached.nodes.len(), hop.nodes_max);
    for hops in 1..=hop.depth {
        let known = walk.met.len();
        // The heaviest edge that leads to each node of this step.
        let mut fresh: Vec<Crossing> = Vec::new();
        for (node, _) in reached.nodes.get(level.clone()).unwrap_or_default() {
            reached.truncated |= walk.look_from(*node, known, &mut fresh, &allow, &weight);
        }
        let full = fresh.len() > left;
        if full {
            reached.truncated = true;
            keep_first(&mut fresh, left);
        }
        fresh.sort_unstable_by(order);
        let kept: Option<HashSet<Node, NodeHash>> = full.then(|| fresh.iter().map(|crossing| crossing.0.other).collect());
        let is_kept = |number, node| number < known || kept.as_ref().is_none_or(|kept| kept.contains(&node));
        let between = walk.seen.drain(..).filter(|(_, number, node)| is_kept(*number, *node));
        reached.edges.extend(between.map(|(edge, ..)| (edge, hops)));
        level = reached.nodes.len()..reached.nodes.len() + fresh.len();
        left -= fresh.len();
        reached.nodes.extend(fresh.iter().map(|crossing| (crossing.0.other, hops)));
        if full || level.is_empty() {
            break;
        }
    }
    reached
}

struct Walk<'a, E> {
    graph: &'a Graph<E>,
    hop: &'a Hop,
    met: Numbering,
    looked: Vec<Looked>,
    /// The edges crossed from nodes with too many edges. Their other ends see them too.
    from_some: HashSet<EdgeIndex, NodeHash>,
    /// The edges of this step, each with the number and the id of the node it leads to.
    seen: Vec<(EdgeIndex, u32, Node)>,
    /// A buffer for the edges of a node.
    crossings: Vec<Crossing>,
}

impl<E> Walk<'_, E> {
    /// Follows the edges of a node, and returns whether there were too many. `known` nodes were found before this step.
    fn look_from(
        &mut self,
        node: Node,
        known: u32,
        fresh: &mut Vec<Crossing>,
        allow: &impl Fn(&E) -> bool,
        weight: &impl Fn(&E) -> f32,
    ) -> bool {
        let mut crossings = std::mem::take(&mut self.crossings);
        self.graph.allowed(node, self.hop.direction, allow, weight, &mut crossings);
        let too_many = crossings.len() > self.hop.fan_out_max;
        if too_many {
            keep_first(&mut crossings, self.hop.fan_out_max);
            crossings.sort_unstable_by_key(|crossing| crossing.0.edge);
        }
        for crossing in crossings.drain(..) {
            let (number, is_new) = self.met.insert(crossing.0.other);
            if is_new {
                self.looked.push(Looked::NotYet);
                fresh.push(crossing);
            } else if let Some(best) = number.checked_sub(known).and_then(|place| fresh.get_mut(place as usize))
                && order(&crossing, best).is_lt()
            {
                *best = crossing;
            }
            // If edges are crossed both ways, each is seen from both ends.
            let already = self.hop.direction == Direction::Both
                && match self.looked.get(number as usize) {
                    None | Some(Looked::NotYet) => false,
                    Some(Looked::AtAll) => true,
                    Some(Looked::AtSome) => self.from_some.contains(&crossing.0.edge),
                };
            if !already {
                self.seen.push((crossing.0.edge, number, crossing.0.other));
                if too_many {
                    self.from_some.insert(crossing.0.edge);
                }
            }
        }
        self.crossings = crossings;
        let own = self.met.get(node).and_then(|number| self.looked.get_mut(number as usize));
        if let Some(looked) = own {
            *looked = if too_many { Looked::AtSome } else { Looked::AtAll };
        }
        too_many
    }
}

/// Keeps the first `count` in any order.
fn keep_first(crossings: &mut Vec<Crossing>, count: usize) {
    if count > 0 && count < crossings.len() {
        crossings.select_nth_unstable_by(count - 1, order);
    }
    crossings.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hub with five spokes of rising weight. Each leads on to another node.
    fn wheel() -> Graph<f32> {
        let mut graph = Graph::new();
        for spoke in 1..=5_u8 {
            graph.add_edge(0, spoke.into(), spoke.into());
        }
        for spoke in 1..=5_u8 {
            graph.add_edge(spoke.into(), u32::from(spoke) + 5, 1.0);
        }
        graph
    }

    fn hop(depth: u32, fan_out_max: usize, nodes_max: usize) -> Hop {
        Hop { direction: Direction::Both, depth, fan_out_max, nodes_max }
    }

    fn walk(graph: &Graph<f32>, starts: &[Node], hop: &Hop) -> Reached {
        neighbours(graph, starts, hop, |_| true, |weight| *weight)
    }

    #[test]
    fn nodes_are_ordered_by_distance_then_weight() {
        let reached = walk(&wheel(), &[0], &hop(2, 10, 100));
        let nodes = [(0, 0), (5, 1), (4, 1), (3, 1), (2, 1), (1, 1), (6, 2), (7, 2), (8, 2), (9, 2), (10, 2)];
        assert_eq!(reached.nodes, nodes);
        assert_eq!(reached.edges.len(), 10);
        assert!(!reached.truncated);
    }

    #[test]
    fn only_the_heaviest_edges_of_a_hub_are_followed() {
        let reached = walk(&wheel(), &[0], &hop(1, 2, 100));
        assert_eq!(reached.nodes, [(0, 0), (5, 1), (4, 1)]);
        assert_eq!(reached.edges, [(3, 1), (4, 1)]);
        assert!(reached.truncated);
        assert!(!walk(&wheel(), &[0], &hop(1, 5, 100)).truncated, "exactly the limit is not too many");
    }

    #[test]
    fn an_edge_skipped_at_a_hub_is_seen_from_its_other_end() {
        let reached = walk(&wheel(), &[1, 0], &hop(1, 2, 100));
        assert_eq!(reached.edges.iter().filter(|(edge, _)| *edge == 0).count(), 1);
        let reached = walk(&wheel(), &[0, 1], &hop(1, 2, 100));
        assert_eq!(reached.edges.iter().filter(|(edge, _)| *edge == 0).count(), 1);
    }

    #[test]
    fn the_walk_ends_at_the_node_limit() {
        let reached = walk(&wheel(), &[0], &hop(5, 10, 3));
        assert_eq!(reached.nodes, [(0, 0), (5, 1), (4, 1), (3, 1)]);
        assert_eq!(reached.edges, [(2, 1), (3, 1), (4, 1)]);
        assert!(reached.truncated);
        assert!(!walk(&wheel(), &[0], &hop(1, 10, 5)).truncated, "all of them fit");
        assert_eq!(walk(&wheel(), &[0], &hop(1, 10, 0)).nodes, [(0, 0)]);
    }

    #[test]
    fn walks_follow_the_given_direction() {
        let there = |direction| {
            let hop = Hop { direction, ..hop(3, 10, 100) };
            let mut nodes: Vec<_> = walk(&wheel(), &[1], &hop).nodes.into_iter().map(|(node, _)| node).collect();
            nodes.sort_unstable();
            nodes
        };
        assert_eq!(there(Direction::Out), [1, 6]);
        assert_eq!(there(Direction::In), [0, 1]);
        assert_eq!(there(Direction::Both).len(), 11);
    }

    #[test]
    fn walks_ignore_disallowed_edges() {
        let hop = hop(3, 2, 100);
        let reached = neighbours(&wheel(), &[0], &hop, |weight| *weight <= 2.0, |weight| *weight);
        let mut nodes: Vec<_> = reached.nodes.iter().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, [0, 1, 2, 6, 7]);
        assert!(!reached.truncated, "two edges are left");
    }

    #[test]
    fn unknown_and_repeated_starts_are_ignored() {
        let mut graph = wheel();
        graph.redirect(6, 7);
        assert_eq!(walk(&graph, &[7, 6, 7, 99], &hop(0, 10, 10)).nodes, [(7, 0)]);
        assert_eq!(walk(&graph, &[], &hop(3, 10, 10)), Reached::default());
    }
}
