//! Walks from files and symbols over chosen relationships.

use base::{Error, Result};
use graph::{Direction, Node};

use super::answers::{Edge, FoundNode, Searched, kind_word};
use super::graph::{At, Relationship, Tie};
use super::names::Known;
use super::query::DEPTH_MAX;
use super::snapshot::Snapshot;
use super::walk::{Algorithm, Limits, Reached, walk};

/// Nodes that one walk reaches. Pages are cut from them.
const WALKED_MAX: usize = 10_000;
/// Nodes to start at.
const STARTS_MAX: usize = 100;
/// Edges for each node of a page, on average.
const EDGES_PER_NODE_MAX: usize = 10;

/// A walk.
#[derive(Clone, Debug)]
pub struct GraphSearch {
    /// Files (`path`) and symbols (`path#symbol`). A file stands for its symbols too.
    pub start_nodes: Vec<String>,
    /// The relationships to follow. None means all.
    pub relationships: Vec<Relationship>,
    /// The greatest number of edges.
    pub max_depth: u32,
    /// How to walk.
    pub algorithm: Algorithm,
    /// Along the edges, against them, or both.
    pub direction: Direction,
    /// The number of nodes on a page.
    pub limit: usize,
    /// Where the page starts: [`Searched::next`] of the page before.
    pub cursor: Option<u32>,
}

impl Snapshot {
    /// The nodes around some nodes, nearest first, and the edges that lead to them.
    pub fn graph_search(&self, asked: &GraphSearch) -> Result<Searched> {
        let graph = self.graph();
        let (named, starts) = self.starts(&asked.start_nodes)?;
        let allow = |tie: &Tie| asked.relationships.is_empty() || asked.relationships.contains(&tie.relationship);
        let depth = asked.max_depth.min(DEPTH_MAX);
        let limits = Limits { direction: asked.direction, depth, nodes_max: WALKED_MAX };
        let reached = walk(&graph.all, &starts, &limits, asked.algorithm, allow);
        // A file also starts at its symbols. Those that no followed edge leads from or to are of no interest.
        let has_edge = |node: Node| {
            let is_allowed = |edge: u32| graph.all.edge(edge).is_some_and(|edge| allow(edge.payload));
            let mut from = graph.all.edges_of(node, asked.direction);
            let mut to = graph.all.edges_of(node, asked.direction.reversed());
            from.any(|(edge, _)| is_allowed(edge))
                || to.any(|(edge, other)| reached.depths.contains_key(&other) && is_allowed(edge))
        };
        let shown = |(node, depth): &(Node, u32)| *depth > 0 || named.contains(node) || has_edge(*node);
        let nodes: Vec<(Node, u32)> = reached.nodes.iter().copied().filter(shown).collect();
        let first = asked.cursor.unwrap_or(0) as usize;
        let last = first.saturating_add(asked.limit.max(1)).min(nodes.len());
        let page = nodes.get(first..last).unwrap_or_default();
        let known = self.names.read();
        let (edges, is_cut) = self.edges_into(page, &reached, depth, asked.direction, &allow, &known);
        Ok(Searched {
            nodes: page.iter().filter_map(|(node, depth)| self.found(*node, *depth, &known)).collect(),
            edges,
            is_cut: is_cut || reached.is_cut,
            next: (last < nodes.len()).then(|| u32::try_from(last).ok()).flatten(),
            engine: asked.algorithm.engine(),
            counters: reached.counters,
        })
    }

    /// The nodes that were named, and all nodes to start at.
    fn starts(&self, ids: &[String]) -> Result<(Vec<Node>, Vec<Node>)> {
        if ids.is_empty() || ids.len() > STARTS_MAX {
            return Err(Error::invalid("start_nodes", format!("give between 1 and {STARTS_MAX} start nodes")));
        }
        let (mut named, mut starts) = (Vec::new(), Vec::new());
        for id in ids {
            let file = self.at(id).and_then(|(number, file)| Some((self.graph().file_node(number)?, file.lean.symbols.len())));
            let symbol = || {
                let (number, place) = self.symbol_at(id)?;
                self.graph().file_node(number)?.checked_add(1)?.checked_add(place)
            };
            if let Some((node, symbols)) = file {
                named.push(node);
                starts.extend(node..=node.saturating_add(u32::try_from(symbols).unwrap_or_default()));
            } else if let Some(node) = symbol() {
                named.push(node);
                starts.push(node);
            } else {
                return Err(self.unknown(id, "start_nodes"));
            }
        }
        Ok((named, starts))
    }

    /// The edges on which the walk came to the nodes of a page. All pages together have each edge once.
    fn edges_into(
        &self,
        page: &[(Node, u32)],
        reached: &Reached,
        depth: u32,
        direction: Direction,
        allow: &impl Fn(&Tie) -> bool,
        known: &Known,
    ) -> (Vec<Edge>, bool) {
        let (graph, most) = (&self.graph().all, page.len().saturating_mul(EDGES_PER_NODE_MAX));
        let mut edges = Vec::new();
        for (node, at) in page {
            for (edge, other) in graph.edges_of(*node, direction.reversed()) {
                let Some(from) = reached.depths.get(&other).filter(|from| **from < depth) else { continue };
                // Both ways, an edge is crossed from its nearer end.
                let is_first = direction != Direction::Both || (*from, other) <= (*at, *node);
                let Some(edge) = graph.edge(edge).filter(|edge| is_first && allow(edge.payload)) else { continue };
                if edges.len() >= most {
                    return (edges, true);
                }
                let (Some(from), Some(to)) = (self.node_id(edge.source, known), self.node_id(edge.target, known)) else {
                    continue;
                };
                let Tie { relationship, resolution } = *edge.payload;
                edges.push(Edge { from, to, relationship, resolution });
            }
        }
        (edges, false)
    }

    fn node_id(&self, node: Node, known: &Known) -> Option<String> {
        match self.graph().at(node)? {
            At::File(number) => Some(self.file(number)?.path.to_string()),
            At::Symbol(number, place) => Some(self.symbol_id(self.file(number)?, place, known)),
            At::External(package) => Some(known.text(package).to_owned()),
        }
    }

    fn found(&self, node: Node, depth: u32, known: &Known) -> Option<FoundNode> {
        let (number, kind) = match self.graph().at(node)? {
            At::File(number) => (number, "file"),
            At::Symbol(number, place) => (number, kind_word(self.file(number)?.lean.symbol(place)?.kind)),
            At::External(_) => return None,
        };
        Some(FoundNode { id: self.node_id(node, known)?, kind, path: self.file(number)?.path.to_string(), depth })
    }
}
