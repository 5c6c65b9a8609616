//! Strongly connected components: groups of nodes in which every node reaches every other.
//!
//! This is Tarjan's algorithm with a stack of its own, so the length of a path is limited by memory only.

use crate::storage::Graph;
use crate::{Direction, Node};

const NONE: u32 = u32::MAX;

/// The components of a graph, numbered so that **every edge between two components leads to a lower number**. Going through them
/// in order, a caller knows all about the components that one leads to. Going backwards, it knows all about those that lead to it.
///
/// A component's height is the length of the longest way from it to a component without edges to others. Components are sorted by
/// height, then by their first node. So the answer does not depend on the order of the edges.
#[derive(Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    of: Vec<u32>,
    members: Lists,
    next: Lists,
}

/// Lists of numbers, one after the other.
#[derive(Debug, Default, PartialEq, Eq)]
struct Lists {
    /// The end of each list.
    ends: Vec<usize>,
    values: Vec<u32>,
}

impl Lists {
    fn get(&self, list: u32) -> &[u32] {
        let list = list as usize;
        let start = list.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(list).and_then(|end| self.values.get(start..*end)).unwrap_or_default()
    }

    /// Ends the list that the last values belong to.
    fn end(&mut self) {
        self.ends.push(self.values.len());
    }

    fn start(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl Components {
    /// The number of components.
    pub fn count(&self) -> u32 {
        u32::try_from(self.members.ends.len()).unwrap_or(NONE)
    }

    /// The component of a node. A merged node is in the component of the node that represents it.
    pub fn of(&self, node: Node) -> Option<u32> {
        self.of.get(node as usize).copied().filter(|component| *component != NONE)
    }

    /// The nodes of a component in ascending order, without merged ones.
    pub fn members(&self, component: u32) -> &[Node] {
        self.members.get(component)
    }

    /// The other components that edges of a component lead to, in ascending order.
    pub fn next(&self, component: u32) -> &[u32] {
        self.next.get(component)
    }

    /// The components with more than one node, sorted by their nodes. A node with a loop is not among them.
    pub fn cycles(&self) -> Vec<&[Node]> {
        let mut cycles: Vec<_> =
            (0..self.count()).map(|component| self.members(component)).filter(|nodes| nodes.len() > 1).collect();
        cycles.sort_unstable();
        cycles
    }
}

/// The strongly connected components of the graph that the allowed edges form.
pub fn components<E>(graph: &Graph<E>, allow: impl Fn(&E) -> bool) -> Components {
    let nodes = Node::try_from(graph.node_count()).unwrap_or(NONE);
    let mut edges = Lists::default();
    let mut found = Vec::new();
    for node in 0..nodes {
        // A merged node has no edges.
        graph.allowed(node, Direction::Out, &allow, &|_| (), &mut found);
        edges.values.extend(found.drain(..).map(|(entry, ())| entry.other));
        edges.end();
    }
    let mut search = Search::new(nodes as usize);
    for node in (0..nodes).filter(|node| graph.representative(*node) == *node) {
        search.visit(node, &edges);
    }
    let mut components = sorted(search.of, &search.members, &edges);
    for node in 0..nodes {
        let representative = graph.representative(node);
        let component = components.of.get(representative as usize).copied().unwrap_or(NONE);
        if let Some(slot) = components.of.get_mut(node as usize) {
            *slot = component;
        }
    }
    components
}

struct Search {
    /// When a node was first seen, and the earliest node on the stack that it reaches as far as is known.
    low: Vec<u32>,
    time: u32,
    /// The nodes whose component is not complete.
    stack: Vec<Node>,
    of: Vec<u32>,
    members: Lists,
}

/// A node on the current path.
struct Frame {
    node: Node,
    seen: u32,
    /// How many of its edges are done.
    edges: usize,
}

impl Search {
    fn new(nodes: usize) -> Self {
        let (low, of) = (vec![NONE; nodes], vec![NONE; nodes]);
        Self { low, time: 0, stack: Vec::new(), of, members: Lists::default() }
    }

    fn visit(&mut self, start: Node, edges: &Lists) {
        let mut path: Vec<Frame> = self.enter(start).into_iter().collect();
        while let Some(frame) = path.last_mut() {
            let node = frame.node;
            if let Some(next) = edges.get(node).get(frame.edges).copied() {
                frame.edges += 1;
                match self.enter(next) {
                    Some(entered) => path.push(entered),
                    // A node that has a component is not on the stack.
                    None if at(&self.of, next) == NONE => self.lower(node, at(&self.low, next)),
                    None => {}
                }
                continue;
            }
            let low = at(&self.low, node);
            if low == frame.seen {
                self.complete(node);
            }
            path.pop();
            if let Some(before) = path.last() {
                self.lower(before.node, low);
            }
        }
    }

    /// Begins with a node, unless it was seen before.
    fn enter(&mut self, node: Node) -> Option<Frame> {
        let low = self.low.get_mut(node as usize).filter(|low| **low == NONE)?;
        *low = self.time;
        self.time += 1;
        self.stack.push(node);
        Some(Frame { node, seen: *low, edges: 0 })
    }

    fn lower(&mut self, node: Node, to: u32) {
        if let Some(low) = self.low.get_mut(node as usize) {
            *low = to.min(*low);
        }
    }

    /// Takes the component of a node from the stack.
    fn complete(&mut self, first: Node) {
        let component = u32::try_from(self.members.ends.len()).unwrap_or(NONE);
        while let Some(node) = self.stack.pop() {
            if let Some(of) = self.of.get_mut(node as usize) {
                *of = component;
            }
            self.members.values.push(node);
            if node == first {
                break;
            }
        }
        self.members.end();
    }
}

/// Numbers the components by height and first node, and sorts their members.
fn sorted(of: Vec<u32>, members: &Lists, edges: &Lists) -> Components {
    // Edges lead to components that were completed earlier, so their heights are known.
    let count = u32::try_from(members.ends.len()).unwrap_or(NONE);
    let mut heights: Vec<u32> = Vec::with_capacity(count as usize);
    let mut order = Vec::with_capacity(count as usize);
    for component in 0..count {
        let nodes = members.get(component);
        let ends = nodes.iter().flat_map(|node| edges.get(*node)).map(|end| at(&of, *end)).filter(|other| *other != component);
        let height = ends.map(|other| at(&heights, other) + 1).max().unwrap_or(0);
        heights.push(height);
        order.push((height, nodes.iter().min().copied(), component));
    }
    order.sort_unstable();
    let mut numbers = vec![NONE; count as usize];
    for (number, (_, _, component)) in (0..).zip(&order) {
        if let Some(slot) = numbers.get_mut(*component as usize) {
            *slot = number;
        }
    }
    let of: Vec<u32> = of.into_iter().map(|component| at(&numbers, component)).collect();
    let mut sorted = Components { of, members: Lists::default(), next: Lists::default() };
    for (number, (_, _, component)) in (0..).zip(order) {
        let nodes = members.get(component);
        let start = sorted.members.start();
        sorted.members.values.extend_from_slice(nodes);
        sorted.members.values.get_mut(start..).unwrap_or_default().sort_unstable();
        sorted.members.end();
        let ends = nodes.iter().flat_map(|node| edges.get(*node)).map(|end| at(&sorted.of, *end));
        let mut next: Vec<_> = ends.filter(|other| *other != number).collect();
        next.sort_unstable();
        next.dedup();
        sorted.next.values.extend(next);
        sorted.next.end();
    }
    sorted
}

fn at(numbers: &[u32], place: u32) -> u32 {
    numbers.get(place as usize).copied().unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(Node, Node)]) -> Graph<()> {
        let mut graph = Graph::new();
        for (source, target) in edges {
            graph.add_edge(*source, *target, ());
        }
        graph
    }

    #[test]
    fn components_come_after_those_they_lead_to() {
        let graph = graph(&[(5, 4), (4, 5), (4, 1), (1, 2), (2, 1), (2, 2), (0, 5), (0, 1), (0, 1), (3, 3)]);
        let found = components(&graph, |()| true);
        let members: Vec<_> = (0..found.count()).map(|component| found.members(component)).collect();
        assert_eq!(members, [vec![1, 2], vec![3], vec![4, 5], vec![0]]);
        let next: Vec<_> = (0..found.count()).map(|component| found.next(component)).collect();
        assert_eq!(next, [vec![], vec![], vec![0], vec![0, 2]]);
        assert_eq!([0, 1, 5, 6].map(|node| found.of(node)), [Some(3), Some(0), Some(2), None]);
        assert_eq!(found.cycles(), [[1, 2], [4, 5]]);
    }

    #[test]
    fn an_empty_graph_has_no_components() {
        let found = components(&graph(&[]), |()| true);
        assert_eq!((found.count(), found.members(0), found.next(0), found.of(0)), (0, &[][..], &[][..], None));
    }

    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (4, 3), (5, 6), (6, 5), (6, 3), (4, 6)];
        let expected = components(&graph(&edges), |()| true);
        for _ in 0..edges.len() {
            edges.rotate_left(1);
            assert_eq!(components(&graph(&edges), |()| true), expected);
        }
    }

    #[test]
    fn a_merged_node_is_where_its_representative_is() {
        let mut graph = graph(&[(0, 1), (2, 0)]);
        graph.redirect(2, 1);
        let found = components(&graph, |()| true);
        assert_eq!((found.count(), found.members(0)), (1, &[0, 1][..]));
        assert_eq!(found.of(2), Some(0));
    }

    #[test]
    fn a_path_and_a_ring_of_a_million_nodes_do_not_overflow_the_stack() {
        let last = 1_000_000;
        let mut graph = graph(&(0..last).map(|node| (node, node + 1)).collect::<Vec<_>>());
        let found = components(&graph, |()| true);
        assert_eq!((found.count(), found.members(0), found.next(7)), (last + 1, &[last][..], &[6][..]));
        graph.add_edge(last, 0, ());
        assert_eq!(components(&graph, |()| true).count(), 1);
    }
}
