//! Merging nodes and separating them again.
//!
//! An edge keeps the ends that it was added with. Merging only redirects walks to another node. So nothing is lost: separating
//! two nodes gives each its edges back, including those added while they were merged.

use std::collections::HashMap;

use crate::Node;
use crate::numbering::NodeHash;
use crate::storage::Graph;

/// Which node is merged into which. There are no cycles.
#[derive(Debug, Default)]
pub(crate) struct Redirects(HashMap<Node, Node, NodeHash>);

impl Redirects {
    /// The node that represents a node in walks.
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

    /// Whether following the redirects from a node leads to another one.
    fn leads_to(&self, mut node: Node, sought: Node) -> bool {
        while node != sought {
            let Some(into) = self.0.get(&node) else { return false };
            node = *into;
        }
        true
    }
}

impl<E> Graph<E> {
    /// Merges a node into another. Walks use the other node for its edges and as its start. A node that is already merged is
    /// merged into the new one instead. Does nothing if a node does not exist, or if `into` is itself merged into `node`.
    pub fn redirect(&mut self, node: Node, into: Node) {
        let there = |node: Node| (node as usize) < self.node_count();
        if !there(node) || !there(into) || self.redirects.leads_to(into, node) {
            return;
        }
        let before = self.representative(node);
        self.redirects.0.insert(node, into);
        self.follow(before, self.representative(node));
    }

    /// Separates a node from the one it was merged into. Nodes merged into this node stay merged.
    pub fn restore(&mut self, node: Node) {
        let before = self.representative(node);
        if self.redirects.0.remove(&node).is_some() {
            self.follow(before, self.representative(node));
        }
    }

    /// The node that represents a node in walks: the node itself, unless it is merged into another.
    pub fn representative(&self, node: Node) -> Node {
        self.redirects.resolve(node)
    }

    /// Moves the edges that belonged to `before` and now belong to `after`. The cost depends on their number, not on the size
    /// of the graph.
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
    fn walks_use_the_other_node_for_a_merged_one() {
        let mut graph = line(5);
        graph.redirect(1, 3);
        assert_eq!(graph.representative(1), 3);
        assert_eq!(both(&graph, 3), [(1, 2), (3, 4), (0, 0), (2, 2)]);
        assert_eq!(both(&graph, 1), both(&graph, 3), "both give the same edges");
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
    fn chains_of_merges_resolve_and_are_undone_one_by_one() {
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
    fn edges_added_to_a_merged_node_stay_with_it() {
        let mut graph = line(3);
        graph.redirect(0, 2);
        let edge = graph.add_edge(0, 1, ());
        assert_eq!(graph.edge(edge).map(|edge| edge.source), Some(2));
        graph.restore(0);
        assert_eq!(both(&graph, 0), [(0, 1), (edge, 1)]);
    }

    #[test]
    fn merging_again_replaces_the_earlier_merge() {
        let mut graph = line(4);
        graph.redirect(0, 2);
        graph.redirect(0, 3);
        assert_eq!(graph.representative(0), 3);
        assert_eq!(both(&graph, 3), [(0, 1), (2, 2)]);
        assert_eq!(both(&graph, 2), both(&line(4), 2));
    }

    #[test]
    fn cycles_and_unknown_nodes_are_ignored() {
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
    fn packing_keeps_the_edges_of_many_merges() {
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
