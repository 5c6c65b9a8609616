//! Who is near: all nodes within a few edges, the nearest first, with the edges between them.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::numbering::{NodeHash, Numbering};
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Which way edges are crossed.
    pub direction: Direction,
    /// How many edges lie between a start and what is reached, at most.
    pub depth: u32,
    /// How many edges of one node are crossed, at most: its heaviest ones.
    pub fan_out_max: usize,
    /// How many nodes are reached beyond the starts, at most.
    pub nodes_max: usize,
}

/// What a walk came by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Each node with its distance: first the starts, then the nearest first, and of two as near the one with the heavier edge that leads to it.
    pub nodes: Vec<(Node, u32)>,
    /// Each edge between two reached nodes that was seen from one of them, with the step at which it was: one for the edges of the starts. The
    /// nodes that are reached last are not looked from.
    pub edges: Vec<(EdgeIndex, u32)>,
    /// Whether something was left out because of a limit other than the depth.
    pub truncated: bool,
}

/// Whether a node has been looked from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    NotYet,
    AtAll,
    /// Only along its heaviest edges.
    AtSome,
}

/// An edge that may be crossed.
#[derive(Clone, Copy)]
struct Crossing {
    weight: f32,
    edge: EdgeIndex,
    node: Node,
}

impl Crossing {
    /// Heavier edges come first, then older ones.
    fn order(&self, other: &Self) -> Ordering {
        other.weight.total_cmp(&self.weight).then(self.edge.cmp(&other.edge))
    }
}

/// The nodes within `hop.depth` edges of `starts`, and the edges between them. If a limit leaves nodes out, the walk goes no further than to the distance
/// where it did.
pub fn neighbours<E>(
    graph: &Graph<E>,
    starts: &[Node],
    hop: &Hop,
    allow: impl Fn(&E) -> bool,
    weight: impl Fn(&E) -> f32,
) -> Reached {
    let mut walk =
        Walk { graph, hop, met: Numbering::new(), looked: Vec::new(), from_some: HashSet::default(), seen: Vec::new() };
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
        // For each node that this step meets, the heaviest edge that leads there.
        let mut fresh: Vec<Crossing> = Vec::new();
        for (node, _) in reached.nodes.get(level.clone()).unwrap_or_default() {
            reached.truncated |= walk.look_from(*node, known, &mut fresh, &allow, &weight);
        }
        let full = fresh.len() > left;
        if full {
            reached.truncated = true;
            keep_first(&mut fresh, left);
        }
        fresh.sort_unstable_by(Crossing::order);
        let kept: Option<HashSet<Node, NodeHash>> = full.then(|| fresh.iter().map(|crossing| crossing.node).collect());
        let is_kept = |number, node| number < known || kept.as_ref().is_none_or(|kept| kept.contains(&node));
        let between = walk.seen.drain(..).filter(|(_, number, node)| is_kept(*number, *node));
        reached.edges.extend(between.map(|(edge, ..)| (edge, hops)));
        level = reached.nodes.len()..reached.nodes.len() + fresh.len();
        left -= fresh.len();
        reached.nodes.extend(fresh.iter().map(|crossing| (crossing.node, hops)));
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
    /// The edges that were crossed from nodes of which only some were: their other ends see them too.
    from_some: HashSet<EdgeIndex, NodeHash>,
    /// The edges of this step, each with the number and the name of the node it leads to.
    seen: Vec<(EdgeIndex, u32, Node)>,
}

impl<E> Walk<'_, E> {
    /// Looks along the edges of a node, and says whether there were too many. `known` nodes were met before this step.
    fn look_from(
        &mut self,
        node: Node,
        known: u32,
        fresh: &mut Vec<Crossing>,
        allow: &impl Fn(&E) -> bool,
        weight: &impl Fn(&E) -> f32,
    ) -> bool {
        // Payloads first, in a loop of its own: the processor fetches several at a time then.
        let crossings = self.graph.entries(node, self.hop.direction).filter_map(|entry| {
            let payload = self.graph.payload(entry.edge).filter(|payload| allow(payload))?;
            Some(Crossing { weight: weight(payload), edge: entry.edge, node: entry.other })
        });
        let mut crossings: Vec<_> = crossings.collect();
        let too_many = crossings.len() > self.hop.fan_out_max;
        if too_many {
            keep_first(&mut crossings, self.hop.fan_out_max);
            crossings.sort_unstable_by_key(|crossing| crossing.edge);
        }
        for crossing in crossings {
            let (number, is_new) = self.met.insert(crossing.node);
            if is_new {
                self.looked.push(Looked::NotYet);
                fresh.push(crossing);
            } else if let Some(best) = number.checked_sub(known).and_then(|place| fresh.get_mut(place as usize))
                && crossing.order(best).is_lt()
            {
                *best = crossing;
            }
            // With edges that are crossed both ways, each is seen from both ends.
            let already = self.hop.direction == Direction::Both
                && match self.looked.get(number as usize) {
                    None | Some(Looked::NotYet) => false,
                    Some(Looked::AtAll) => true,
                    Some(Looked::AtSome) => self.from_some.contains(&crossing.edge),
                };
            if !already {
                self.seen.push((crossing.edge, number, crossing.node));
                if too_many {
                    self.from_some.insert(crossing.edge);
                }
            }
        }
        let own = self.met.get(node).and_then(|number| self.looked.get_mut(number as usize));
        if let Some(looked) = own {
            *looked = if too_many { Looked::AtSome } else { Looked::AtAll };
        }
        too_many
    }
}

/// Keeps the first `count`, in no order.
fn keep_first(crossings: &mut Vec<Crossing>, count: usize) {
    if count > 0 && count < crossings.len() {
        crossings.select_nth_unstable_by(count - 1, Crossing::order);
    }
    crossings.truncate(count);
}
