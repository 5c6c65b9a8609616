//! The path with the fewest edges, searched from both ends at once.

use std::ops::Range;

use crate::numbering::Numbering;
use crate::storage::Graph;
use crate::{Direction, EdgeIndex, Node};

/// The search starts here: no edge leads to this node.
const START: u32 = u32::MAX;

/// A path with the fewest edges from any node of `from` to any node of `to`, with at most `depth_max` edges, in walking order.
/// It is empty if they share a node. If there are several such paths, the result is always the same one.
pub fn shortest_path<E>(
    graph: &Graph<E>,
    from: &[Node],
    to: &[Node],
    depth_max: u32,
    direction: Direction,
    allow: impl Fn(&E) -> bool,
) -> Option<Vec<EdgeIndex>> {
    let balls = Balls::grow(graph, from, to, depth_max, direction, &allow)?;
    Some(balls.path())
}

/// The nodes found around both ends until the searches met.
pub(crate) struct Balls {
    pub(crate) ahead: Ball,
    pub(crate) back: Ball,
    meeting: Node,
}

impl Balls {
    pub(crate) fn grow<E>(
        graph: &Graph<E>,
        from: &[Node],
        to: &[Node],
        depth_max: u32,
        direction: Direction,
        allow: &impl Fn(&E) -> bool,
    ) -> Option<Self> {
        let mut ahead = Ball::new(graph, from, direction);
        let mut back = Ball::new(graph, to, direction.reversed());
        let mut meeting = ahead.met.nodes().iter().find(|node| back.met.get(**node).is_some()).copied();
        for _ in 0..depth_max {
            // The balls hold all nodes within this many steps of their ends, and no node is in both. So the first node of one
            // ball that a step of the other finds is on a shortest path. The ball with fewer edges to check takes the step.
            let (ball, other) = if ahead.edges <= back.edges { (&mut ahead, &back) } else { (&mut back, &ahead) };
            if meeting.is_some() || ball.level.is_empty() {
                break;
            }
            meeting = ball.step(graph, other, allow);
        }
        Some(Self { ahead, back, meeting: meeting? })
    }

    pub(crate) fn path(&self) -> Vec<EdgeIndex> {
        let mut path = self.ahead.edges_to(self.meeting);
        path.reverse();
        path.extend(self.back.edges_to(self.meeting));
        path
    }
}

/// The nodes around one end.
pub(crate) struct Ball {
    direction: Direction,
    met: Numbering,
    /// For each node found, the edge that led to it and the node before it.
    steps: Vec<(EdgeIndex, u32)>,
    /// The start of each distance's nodes, from distance one on.
    distances: Vec<u32>,
    /// The number of complete steps, which did not end with a meeting.
    steps_whole: usize,
    /// The nodes that were found last. Their edges are next.
    level: Range<u32>,
    /// The number of their edges.
    edges: usize,
}

impl Ball {
    fn new<E>(graph: &Graph<E>, starts: &[Node], direction: Direction) -> Self {
        let mut ball = Self {
            direction,
            met: Numbering::new(),
            steps: Vec::new(),
            distances: Vec::new(),
            steps_whole: 0,
            level: 0..0,
            edges: 0,
        };
        for start in starts.iter().filter_map(|start| graph.start(*start)) {
            ball.meet(graph, start, START, START);
        }
        ball.level = 0..ball.met.len();
        ball
    }

    fn meet<E>(&mut self, graph: &Graph<E>, node: Node, edge: EdgeIndex, before: u32) {
        if self.met.insert(node).1 {
            self.steps.push((edge, before));
            self.edges += graph.entries(node, self.direction).len_at_most();
        }
    }

    /// Goes one edge further from every node at the border. If it meets the other side, it returns the node where they met.
    fn step<E>(&mut self, graph: &Graph<E>, other: &Self, allow: &impl Fn(&E) -> bool) -> Option<Node> {
        self.edges = 0;
        self.distances.push(self.level.end);
        for number in self.level.clone() {
            let node = self.met.node(number)?;
            for entry in graph.entries(node, self.direction) {
                // Looking up an edge's payload costs more than checking whether its end is known, and most ends are.
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
        self.steps_whole += 1;
        None
    }

    /// The number of edges between the end and a node in the ball. For other nodes, a lower bound.
    pub(crate) fn distance_min(&self, node: Node) -> u32 {
        let within = |number: u32| self.distances.partition_point(|start| *start <= number);
        u32::try_from(self.met.get(node).map_or(self.steps_whole + 1, within)).unwrap_or(u32::MAX)
    }

    /// The edges between a node and the end, starting at the node.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of three edges from 0 to 3, and one of two edges with the payload `false`.
    fn ways() -> Graph<bool> {
        let mut graph = Graph::new();
        for (source, target, payload) in [(0, 1, true), (1, 2, true), (2, 3, true), (0, 4, false), (4, 3, false)] {
            graph.add_edge(source, target, payload);
        }
        graph
    }

    fn path(from: &[Node], to: &[Node], depth_max: u32, direction: Direction) -> Option<Vec<EdgeIndex>> {
        shortest_path(&ways(), from, to, depth_max, direction, |_| true)
    }

    #[test]
    fn the_shortest_path_is_in_walking_order() {
        assert_eq!(path(&[0], &[3], 9, Direction::Out), Some(vec![3, 4]));
        assert_eq!(path(&[3], &[0], 9, Direction::In), Some(vec![4, 3]));
        assert_eq!(path(&[3], &[0], 9, Direction::Out), None);
        assert_eq!(path(&[3], &[1], 9, Direction::Both), Some(vec![2, 1]));
    }

    #[test]
    fn disallowed_edges_are_not_crossed() {
        assert_eq!(shortest_path(&ways(), &[0], &[3], 9, Direction::Out, |there| *there), Some(vec![0, 1, 2]));
        assert_eq!(shortest_path(&ways(), &[0], &[3], 2, Direction::Out, |there| *there), None);
    }

    #[test]
    fn the_nearest_of_several_ends_is_taken() {
        assert_eq!(path(&[0, 1], &[3], 9, Direction::Out), Some(vec![1, 2]), "of two equally short paths, always the same");
        assert_eq!(path(&[0, 2], &[4, 3], 9, Direction::Out).map(|path| path.len()), Some(1));
        assert_eq!(path(&[0, 3], &[3, 4], 0, Direction::Out), Some(Vec::new()));
    }

    #[test]
    fn unknown_nodes_have_no_path() {
        assert_eq!(path(&[], &[3], 9, Direction::Both), None);
        assert_eq!(path(&[0], &[], 9, Direction::Both), None);
        assert_eq!(path(&[99], &[99], 9, Direction::Both), None, "an unknown node");
        assert_eq!(path(&[0], &[3], 1, Direction::Out), None);
    }

    #[test]
    fn a_ball_knows_the_distances_of_its_nodes() {
        let balls = Balls::grow(&ways(), &[0], &[3], 9, Direction::Out, &|there: &bool| *there).unwrap();
        for (node, distance) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
            assert!(balls.ahead.distance_min(node) <= distance);
            assert!(balls.back.distance_min(node) <= 3 - distance);
        }
        assert_eq!((balls.ahead.distance_min(0), balls.ahead.distance_min(1)), (0, 1));
    }
}
