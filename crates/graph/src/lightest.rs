//! The way that costs least among those of a bounded length, sought from both ends at once.
//!
//! With a bound on the number of edges, the cheapest way to a node in between may be too long to go on from. So a node can be settled more than once, each
//! time with fewer edges at a higher cost: what is queued is a *label*, a way to a node.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::numbering::Numbering;
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

const NONE: u32 = u32::MAX;

/// A path of the least total cost from any of `from` to any of `to` among those of at most `depth_max` edges, and its cost. Empty if they share
/// a node. An edge whose cost is not positive and finite is not crossed.
pub fn lightest_path<E>(
    graph: &Graph<E>,
    from: &[Node],
    to: &[Node],
    depth_max: u32,
    direction: Direction,
    allow: impl Fn(&E) -> bool,
    cost: impl Fn(&E) -> f64,
) -> Option<(Vec<EdgeIndex>, f64)> {
    let mut ahead = Side::new(graph, from, direction);
    let mut back = Side::new(graph, to, direction.reversed());
    if ahead.met.nodes().iter().any(|node| back.met.get(*node).is_some()) {
        return Some((Vec::new(), 0.0));
    }
    let price =
        |edge| graph.payload(edge).filter(|payload| allow(payload)).map(&cost).filter(|cost| *cost > 0.0 && cost.is_finite());
    let mut best: Option<Joint> = None;
    // Whatever is cheaper than the two cheapest queued labels together has been seen: its two halves are settled, and they were joined when the later of them was.
    while let Some((ahead_least, back_least)) = ahead.least().zip(back.least()) {
        if best.as_ref().is_some_and(|best| ahead_least + back_least >= best.cost) {
            break;
        }
        let is_ahead = ahead.queue.len() <= back.queue.len();
        let (side, other) = if is_ahead { (&mut ahead, &back) } else { (&mut back, &ahead) };
        side.settle(graph, other, depth_max, &price, &mut best, is_ahead);
    }
    let best = best?;
    let mut path = ahead.edges_to(best.ahead);
    path.reverse();
    path.push(best.edge);
    path.extend(back.edges_to(best.back));
    let total = path.iter().filter_map(|edge| price(*edge)).sum();
    Some((path, total))
}

/// Two ways that an edge joins.
struct Joint {
    cost: f64,
    ahead: u32,
    edge: EdgeIndex,
    back: u32,
}

/// A way to a node.
struct Label {
    cost: f64,
    hops: u32,
    /// The number of the node.
    number: u32,
    /// The last edge, and the label it goes on from.
    edge: EdgeIndex,
    before: u32,
    /// The label that the node was settled with before: cheaper and longer.
    cheaper: u32,
}

/// What is known of a node.
struct Known {
    /// The label that it was settled with last: the shortest so far.
    settled: u32,
    /// The cheapest label that was queued for it.
    cost: f64,
    hops: u32,
}

#[derive(PartialEq)]
struct Queued {
    cost: f64,
    hops: u32,
    label: u32,
}

struct Side {
    direction: Direction,
    met: Numbering,
    known: Vec<Known>,
    labels: Vec<Label>,
    queue: BinaryHeap<Queued>,
}

impl Side {
    fn new<E>(graph: &Graph<E>, starts: &[Node], direction: Direction) -> Self {
        let (met, known, labels) = (Numbering::new(), Vec::new(), Vec::new());
        let mut side = Self { direction, met, known, labels, queue: BinaryHeap::new() };
        for start in starts.iter().filter_map(|start| graph.start(*start)) {
            let (number, is_new) = side.met.insert(start);
            if is_new {
                // Settled from the beginning, so that the other side can join it.
                side.known.push(Known { settled: number, cost: 0.0, hops: 0 });
                side.queue(Label { cost: 0.0, hops: 0, number, edge: NONE, before: NONE, cheaper: NONE });
            }
        }
        side
    }

    fn queue(&mut self, label: Label) {
        let place = u32::try_from(self.labels.len()).unwrap_or(NONE);
        self.queue.push(Queued { cost: label.cost, hops: label.hops, label: place });
        self.labels.push(label);
    }

    /// What the cheapest queued label costs.
    fn least(&self) -> Option<f64> {
        self.queue.peek().map(|queued| queued.cost)
    }

    fn label(&self, label: u32) -> Option<&Label> {
        self.labels.get(label as usize)
    }

    /// Whether a node was settled with at most so many edges: since costs only rise, at no higher cost than whatever comes now.
    fn is_settled_within(&self, number: u32, hops: u32) -> bool {
        let settled = self.known.get(number as usize).and_then(|known| self.label(known.settled));
        settled.is_some_and(|settled| settled.hops <= hops)
    }

    /// Settles the cheapest queued label, and looks along the edges of its node.
    fn settle<E>(
        &mut self,
        graph: &Graph<E>,
        other: &Self,
        depth_max: u32,
        price: &impl Fn(EdgeIndex) -> Option<f64>,
        best: &mut Option<Joint>,
        is_ahead: bool,
    ) -> Option<()> {
        let Queued { cost, hops, label } = self.queue.pop()?;
        let number = self.label(label)?.number;
        if hops > 0 {
            if self.is_settled_within(number, hops) {
                return None;
            }
            let cheaper = std::mem::replace(&mut self.known.get_mut(number as usize)?.settled, label);
            self.labels.get_mut(label as usize)?.cheaper = cheaper;
        }
        if hops >= depth_max {
            return None;
        }
        let hops = hops + 1;
        for entry in graph.entries(self.met.node(number)?, self.direction) {
            if self.met.get(entry.other).is_some_and(|number| self.is_settled_within(number, hops)) {
                continue;
            }
            let Some(cost) = price(entry.edge).map(|price| cost + price) else { continue };
            if best.as_ref().is_some_and(|best| cost >= best.cost) {
                continue;
            }
            if let Some(joined) = other.join(entry.other, cost, depth_max - hops) {
                let (sum, further) = joined;
                if best.as_ref().is_none_or(|best| sum < best.cost) {
                    let (ahead, back) = if is_ahead { (label, further) } else { (further, label) };
                    *best = Some(Joint { cost: sum, ahead, edge: entry.edge, back });
                }
            }
            self.reach(entry.other, Label { cost, hops, number: NONE, edge: entry.edge, before: label, cheaper: NONE });
        }
        Some(())
    }

    /// Queues a label, unless a better one is queued.
    fn reach(&mut self, node: Node, label: Label) {
        let (number, is_new) = self.met.insert(node);
        if is_new {
            self.known.push(Known { settled: NONE, cost: label.cost, hops: label.hops });
        } else if let Some(known) = self.known.get_mut(number as usize) {
            if known.cost <= label.cost && known.hops <= label.hops {
                return;
            }
            if label.cost < known.cost {
                (known.cost, known.hops) = (label.cost, label.hops);
            }
        }
        self.queue(Label { number, ..label });
    }

    /// The cheapest way to go on from a node that was reached at a cost, in at most so many edges: the whole cost, and the label.
    fn join(&self, node: Node, cost: f64, hops_max: u32) -> Option<(f64, u32)> {
        let number = self.met.get(node)?;
        let mut place = self.known.get(number as usize)?.settled;
        let mut found = None;
        while let Some(label) = self.label(place).filter(|label| label.hops <= hops_max) {
            found = Some((cost + label.cost, place));
            place = label.cheaper;
        }
        found
    }

    /// The edges of a label, last one first.
    fn edges_to(&self, label: u32) -> Vec<EdgeIndex> {
        let labels = std::iter::successors(self.label(label), |label| self.label(label.before));
        labels.map(|label| label.edge).filter(|edge| *edge != NONE).collect()
    }
}

impl Ord for Queued {
    /// The greatest is what is cheapest, then shortest, then oldest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.hops.cmp(&self.hops)).then(other.label.cmp(&self.label))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Queued {}
