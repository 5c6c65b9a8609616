//! The cheapest path of a bounded length, searched from both ends at once.
//!
//! Because the number of edges is limited, the cheapest path to a node on the way may be too long to continue. So a node can be
//! settled more than once, each time with fewer edges at a higher cost. The queue holds *labels*: a label is a path to a node.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::adjacency::Entry;
use crate::numbering::Numbering;
use crate::shortest::{Ball, Balls};
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

const NONE: u32 = u32::MAX;

/// A cheapest path from any node of `from` to any node of `to` with at most `depth_max` edges, and its cost. The path is empty
/// if they share a node. An edge whose cost is not positive and finite is not crossed.
pub fn lightest_path<E>(
    graph: &Graph<E>,
    from: &[Node],
    to: &[Node],
    depth_max: u32,
    direction: Direction,
    allow: impl Fn(&E) -> bool,
    cost: impl Fn(&E) -> f64,
) -> Option<(Vec<EdgeIndex>, f64)> {
    // The path with the fewest edges is found quickly. Without one there is nothing to search for, and its cost is an upper
    // bound for the rest of the search.
    let balls = Balls::grow(graph, from, to, depth_max, direction, &|payload: &E| allow(payload) && is_price(cost(payload)))?;
    let mut path = balls.path();
    let total =
        |path: &[EdgeIndex]| path.iter().filter_map(|edge| graph.payload(*edge)).map(&cost).fold(0.0, |sum, cost| sum + cost);
    let mut search = Search { graph, depth_max, allow: &allow, cost: &cost, bound: total(&path), joint: None, steps: Vec::new() };
    let mut ahead = Side::new(graph, from, direction);
    let mut back = Side::new(graph, to, direction.reversed());
    // Every path cheaper than the two cheapest queued labels together is already known: both halves are settled, and they were
    // joined when the second one was.
    while let Some((ahead_least, back_least)) = ahead.least().zip(back.least())
        && ahead_least + back_least < search.bound
    {
        if ahead.queue.len() <= back.queue.len() {
            search.settle(&mut ahead, &back, back_least, &balls.back, true);
        } else {
            search.settle(&mut back, &ahead, ahead_least, &balls.ahead, false);
        }
    }
    if let Some(joint) = search.joint {
        path = ahead.edges_to(joint.ahead);
        path.reverse();
        path.push(joint.edge);
        path.extend(back.edges_to(joint.back));
    }
    let total = total(&path);
    Some((path, total))
}

fn is_price(cost: f64) -> bool {
    cost > 0.0 && cost.is_finite()
}

/// Two paths joined by an edge.
struct Joint {
    ahead: u32,
    edge: EdgeIndex,
    back: u32,
}

/// A path to a node.
struct Label {
    cost: f64,
    hops: u32,
    /// The number of the node.
    number: u32,
    /// The last edge, and the label of the path before it.
    edge: EdgeIndex,
    before: u32,
    /// The previous label of the node: cheaper but longer.
    cheaper: u32,
}

/// What the search knows about a node.
struct Known {
    /// The label that it was last settled with: the shortest so far.
    settled: u32,
    settled_hops: u32,
    /// The cheapest label that is queued for it.
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
                // The starts are settled from the beginning, so that the other side can join them.
                side.known.push(Known { settled: number, settled_hops: 0, cost: 0.0, hops: 0 });
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

    /// The cost of the cheapest queued label.
    fn least(&self) -> Option<f64> {
        self.queue.peek().map(|queued| queued.cost)
    }

    fn label(&self, label: u32) -> Option<&Label> {
        self.labels.get(label as usize)
    }

    /// Whether a node was settled with at most this many edges. Costs only rise, so its cost then was not higher than the
    /// current one.
    fn is_settled_within(&self, number: u32, hops: u32) -> bool {
        self.known.get(number as usize).is_some_and(|known| known.settled_hops <= hops)
    }

    /// Settles a node with a label, unless it is settled with a better one, and returns the node's number.
    fn settle(&mut self, queued: &Queued) -> Option<u32> {
        let number = self.label(queued.label)?.number;
        // The starts are settled from the beginning.
        if queued.hops > 0 {
            if self.is_settled_within(number, queued.hops) {
                return None;
            }
            let known = self.known.get_mut(number as usize)?;
            known.settled_hops = queued.hops;
            let cheaper = std::mem::replace(&mut known.settled, queued.label);
            self.labels.get_mut(queued.label as usize)?.cheaper = cheaper;
        }
        Some(number)
    }

    /// Queues a label for a node, unless a better one is queued.
    fn reach(&mut self, node: Node, cost: f64, hops: u32, edge: EdgeIndex, before: u32) {
        let (number, is_new) = self.met.insert(node);
        if is_new {
            self.known.push(Known { settled: NONE, settled_hops: NONE, cost, hops });
        } else if let Some(known) = self.known.get_mut(number as usize) {
            if known.cost <= cost && known.hops <= hops {
                return;
            }
            if cost < known.cost {
                (known.cost, known.hops) = (cost, hops);
            }
        }
        self.queue(Label { cost, hops, number, edge, before, cheaper: NONE });
    }

    /// The cheapest continuation from a node that was reached at this cost, with at most `hops_max` edges: the total cost, and
    /// the label.
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

    /// The edges of a label's path, last one first.
    fn edges_to(&self, label: u32) -> Vec<EdgeIndex> {
        let labels = std::iter::successors(self.label(label), |label| self.label(label.before));
        labels.map(|label| label.edge).filter(|edge| *edge != NONE).collect()
    }
}

struct Search<'a, E, A, C> {
    graph: &'a Graph<E>,
    depth_max: u32,
    allow: &'a A,
    cost: &'a C,
    /// The cost of the best known path.
    bound: f64,
    /// Where its halves meet, if this search found it.
    joint: Option<Joint>,
    /// A buffer for the edges of a node, with the cost at their ends.
    steps: Vec<(Entry, f64)>,
}

impl<E, A: Fn(&E) -> bool, C: Fn(&E) -> f64> Search<'_, E, A, C> {
    /// Settles the cheapest queued label of a side, and follows the edges of its node.
    fn settle(&mut self, side: &mut Side, other: &Side, other_least: f64, goal: &Ball, is_ahead: bool) -> Option<()> {
        let queued = side.queue.pop()?;
        let number = side.settle(&queued)?;
        if queued.hops >= self.depth_max {
            return None;
        }
        let hops = queued.hops + 1;
        let mut steps = std::mem::take(&mut self.steps);
        self.graph.allowed(side.met.node(number)?, side.direction, self.allow, self.cost, &mut steps);
        for (entry, price) in steps.drain(..) {
            let cost = queued.cost + price;
            if !is_price(price) || cost >= self.bound {
                continue;
            }
            if side.met.get(entry.other).is_some_and(|number| side.is_settled_within(number, hops)) {
                continue;
            }
            if goal.distance_min(entry.other) > self.depth_max - hops {
                continue;
            }
            if let Some((sum, further)) = other.join(entry.other, cost, self.depth_max - hops)
                && sum < self.bound
            {
                let (ahead, back) = if is_ahead { (queued.label, further) } else { (further, queued.label) };
                self.bound = sum;
                self.joint = Some(Joint { ahead, edge: entry.edge, back });
            }
            // A node that the other side has not reached costs it at least as much as its next label.
            if cost + other_least < self.bound {
                side.reach(entry.other, cost, hops, entry.edge, queued.label);
            }
        }
        self.steps = steps;
        Some(())
    }
}

impl Ord for Queued {
    /// The greatest is the cheapest, then the shortest, then the oldest.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(Node, Node, f64)]) -> Graph<f64> {
        let mut graph = Graph::new();
        for (source, target, cost) in edges {
            graph.add_edge(*source, *target, *cost);
        }
        graph
    }

    fn path(graph: &Graph<f64>, from: &[Node], to: &[Node], depth_max: u32) -> Option<(Vec<EdgeIndex>, f64)> {
        lightest_path(graph, from, to, depth_max, Direction::Out, |_| true, |cost| *cost)
    }

    #[test]
    fn a_longer_path_can_be_cheaper() {
        let graph = graph(&[(0, 3, 10.0), (0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]);
        assert_eq!(path(&graph, &[0], &[3], 9), Some((vec![1, 2, 3], 3.0)));
        assert_eq!(path(&graph, &[0], &[3], 2), Some((vec![0], 10.0)));
        assert_eq!(path(&graph, &[0], &[3], 0), None);
        assert_eq!(path(&graph, &[3], &[0], 9), None);
        assert_eq!(path(&graph, &[0, 3], &[3], 0), Some((Vec::new(), 0.0)));
    }

    #[test]
    fn a_node_is_settled_again_with_fewer_edges_at_a_higher_cost() {
        // The cheap path to 3 is too long to continue: two edges lead from there to 5.
        let edges = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 5.0), (3, 4, 1.0), (4, 5, 1.0), (0, 5, 50.0)];
        let graph = graph(&edges);
        assert_eq!(path(&graph, &[0], &[5], 5), Some((vec![0, 1, 2, 4, 5], 5.0)));
        assert_eq!(path(&graph, &[0], &[5], 4), Some((vec![3, 4, 5], 7.0)));
        assert_eq!(path(&graph, &[0], &[5], 2), Some((vec![6], 50.0)));
    }

    #[test]
    fn edges_without_a_valid_cost_are_not_crossed() {
        for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let graph = graph(&[(0, 1, cost), (0, 2, 3.0), (2, 1, 4.0)]);
            assert_eq!(path(&graph, &[0], &[1], 9), Some((vec![1, 2], 7.0)), "{cost}");
            assert_eq!(path(&graph, &[0], &[1], 1), None, "{cost}");
        }
    }

    #[test]
    fn the_cheapest_of_parallel_edges_is_taken() {
        let graph = graph(&[(0, 1, 3.0), (0, 1, 2.0), (0, 1, 4.0), (1, 1, 0.5)]);
        assert_eq!(path(&graph, &[0], &[1], 3), Some((vec![1], 2.0)));
        let not_two = lightest_path(&graph, &[1], &[0], 3, Direction::In, |cost| *cost != 2.0, |cost| *cost);
        assert_eq!(not_two, Some((vec![0], 3.0)));
    }
}
