//! Nodes that are merged into others, and parted from them again.
//!
//! An edge keeps the ends that it was added with; merging only says which node they are walked as. So nothing is lost, and parting two
//! nodes gives each its edges back, also those that were added while they were one.

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
    /// Merges a node into another: its edges are walked as the other's, and walks that begin at it begin at the other. A node that was merged
    /// before is merged elsewhere by this. Does nothing for nodes that are not there, or if `into` is itself merged into `node`.
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
