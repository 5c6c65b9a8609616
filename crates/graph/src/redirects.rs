//! Nodes that are merged into others, and parted from them again.
//!
//! An edge keeps the ends that it was added with; merging only says which node they are walked as. So nothing is lost, and
//! parting two nodes gives each its edges back, also those that were added while they were one.

use std::collections::HashMap;

use crate::Node;
use crate::numbering::NodeHash;
use crate::storage::Graph;

/// Which node is merged into which. There is no way around in a circle.
#[derive(Debug, Default)]
pub(crate) struct Redirects(HashMap<Node, Node, NodeHash>);

impl Redirects {
    /// The node that a node is walked as.
    #[inline]
    pub(crate) fn resolve(&self, mut node: Node) -> Node {
        if !self.0.is_empty() {
            while let Some(into) = self.0.get(&node) {
                node = *into;
            }
        }
        node
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * 8 / 7 * (size_of::<(Node, Node)>() + 1)
    }

    /// Whether following the redirects from a node meets another.
    fn leads_to(&self, mut node: Node, sought: Node) -> bool {
        while node != sought {
            let Some(into) = self.0.get(&node) else { return false };
            node = *into;
        }
        true
    }
}

impl<E> Graph<E> {
    /// Merges a node into another: its edges are walked as the other's, and walks that begin at it begin at the other. A node
    /// that was merged before is merged elsewhere by this. Does nothing for nodes that are not there, or if `into` is itself
    /// merged into `node`.
    pub fn redirect(&mut self, node: Node, into: Node) {
        let there = |node: Node| (node as usize) < self.node_count();
        if !there(node) || !there(into) || self.redirects.leads_to(into, node) {
            return;
        }
        let before = self.representative(node);
        self.redirects.0.insert(node, into);
        self.follow(before, self.representative(node));
    }

    /// Parts a node from the one it was merged into. What was merged into the node itself stays with it.
    pub fn restore(&mut self, node: Node) {
        let before = self.representative(node);
        if self.redirects.0.remove(&node).is_some() {
            self.follow(before, self.representative(node));
        }
    }

    /// The node that a node is walked as: itself, unless it is merged into another.
    pub fn representative(&self, node: Node) -> Node {
        self.redirects.resolve(node)
    }

    /// Moves edges that were walked as `before`'s and now belong to `after`: the cost is their number, not that of all edges.
    fn follow(&mut self, before: Node, after: Node) {
        if before == after {
            return;
        }
        let (ends, redirects) = (&self.ends, &self.redirects);
        let source = |edge| ends.get(edge as usize).map_or(before, |(source, _)| redirects.resolve(*source));
        let target = |edge| ends.get(edge as usize).map_or(before, |(_, target)| redirects.resolve(*target));
        let gone_out = self.outward.move_entries(before, after, source);
        let come_in = self.inward.move_entries(before, after, target);
        for edge in gone_out {
            self.inward.set_other(target(edge), edge, after);
        }
        for edge in come_in {
            self.outward.set_other(source(edge), edge, after);
        }
        self.compact_if_due();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Direction, Graph, Node};

    /// A line of nodes, each with an edge to the next.
    fn line(nodes: Node) -> Graph<()> {
        let mut graph = Graph::new();
        for node in 1..nodes {
            graph.add_edge(node - 1, node, ());
        }
        graph
    }

    fn both(graph: &Graph<()>, node: Node) -> Vec<(u32, Node)> {
        graph.edges_of(node, Direction::Both).collect()
    }

    #[test]
    fn a_merged_node_is_walked_as_the_other() {
        let mut graph = line(5);
        graph.redirect(1, 3);
        assert_eq!(graph.representative(1), 3);
        assert_eq!(both(&graph, 3), [(1, 2), (3, 4), (0, 0), (2, 2)]);
        assert_eq!(both(&graph, 1), both(&graph, 3), "asking for it asks for the other");
        assert_eq!(both(&graph, 2), [(2, 3), (1, 3)], "neighbours see the other");
        let edge = graph.edge(1).unwrap();
        assert_eq!((edge.source, edge.target), (3, 2));
    }

    #[test]
    fn an_edge_between_merged_nodes_is_a_loop() {
        let mut graph = line(2);
        graph.redirect(0, 1);
        assert_eq!(both(&graph, 1), [(0, 1)]);
        graph.restore(0);
        assert_eq!(both(&graph, 1), [(0, 0)]);
    }

    #[test]
    fn chains_resolve_and_come_apart_link_by_link() {
        let mut graph = line(5);
        graph.redirect(0, 1);
        graph.redirect(1, 2);
        assert_eq!(graph.representative(0), 2);
        graph.restore(1);
        assert_eq!((graph.representative(0), graph.representative(1)), (1, 1));
        graph.restore(0);
        for node in 0..5 {
            assert_eq!(both(&graph, node), both(&line(5), node));
        }
    }

    #[test]
    fn edges_that_were_added_to_a_merged_node_stay_its_own() {
        let mut graph = line(3);
        graph.redirect(0, 2);
        let edge = graph.add_edge(0, 1, ());
        assert_eq!(graph.edge(edge).map(|edge| edge.source), Some(2));
        graph.restore(0);
        assert_eq!(both(&graph, 0), [(0, 1), (edge, 1)]);
    }

    #[test]
    fn merging_again_merges_elsewhere() {
        let mut graph = line(4);
        graph.redirect(0, 2);
        graph.redirect(0, 3);
        assert_eq!(graph.representative(0), 3);
        assert_eq!(both(&graph, 3), [(0, 1), (2, 2)]);
        assert_eq!(both(&graph, 2), both(&line(4), 2));
    }

    #[test]
    fn circles_and_strangers_are_left_out() {
        let mut graph = line(3);
        graph.redirect(0, 1);
        graph.redirect(1, 2);
        graph.redirect(2, 0);
        graph.redirect(2, 2);
        graph.redirect(2, 9);
        graph.redirect(9, 2);
        graph.restore(9);
        assert_eq!([0, 1, 2, 9].map(|node| graph.representative(node)), [2, 2, 2, 9]);
    }

    #[test]
    fn many_merges_are_packed_as_they_are_walked() {
        let mut graph = line(20_000);
        for node in (1..20_000).step_by(2) {
            graph.redirect(node, 0);
        }
        let before: Vec<_> = (0..50).map(|node| both(&graph, node)).collect();
        graph.compact();
        assert_eq!((0..50).map(|node| both(&graph, node)).collect::<Vec<_>>(), before);
        assert_eq!(graph.edges_of(0, Direction::Both).count(), 19_999, "every edge has an odd end");
    }
}
