//! The simplest possible graph: a list of edges that every query scans from the start.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Direction, EdgeIndex, Hop, Node, Reached};

/// The payload of an edge in these tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Payload {
    pub(crate) weight: f32,
    pub(crate) there: bool,
}

pub(crate) fn is_there(payload: &Payload) -> bool {
    payload.there
}

pub(crate) fn weight(payload: &Payload) -> f32 {
    payload.weight
}

pub(crate) fn cost(payload: &Payload) -> f64 {
    1.0 / f64::from(payload.weight)
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) nodes: Node,
    pub(crate) edges: Vec<(Node, Node, Payload)>,
    pub(crate) redirects: BTreeMap<Node, Node>,
}

impl Model {
    pub(crate) fn representative(&self, node: Node) -> Node {
        self.redirects.get(&node).map_or(node, |into| self.representative(*into))
    }

    /// Merges, unless that makes a cycle.
    pub(crate) fn redirect(&mut self, node: Node, into: Node) {
        let mut on_the_way = into;
        while let Some(further) = self.redirects.get(&on_the_way).filter(|_| on_the_way != node) {
            on_the_way = *further;
        }
        if on_the_way != node {
            self.redirects.insert(node, into);
        }
    }

    /// Every edge as walks see it.
    fn walked(&self) -> impl Iterator<Item = (EdgeIndex, Node, Node, Payload)> + '_ {
        let edges = (0..).zip(&self.edges);
        edges
            .map(|(edge, (source, target, payload))| (edge, self.representative(*source), self.representative(*target), *payload))
    }

    pub(crate) fn edges_of(&self, node: Node, direction: Direction) -> Vec<(EdgeIndex, Node)> {
        let node = self.representative(node);
        let (out, inward) = (direction != Direction::In, direction != Direction::Out);
        let going = self.walked().filter(|(_, source, ..)| out && *source == node).map(|(edge, _, target, _)| (edge, target));
        let coming = self.walked().filter(|(_, source, target, _)| inward && *target == node && !(out && *source == node));
        going.chain(coming.map(|(edge, source, ..)| (edge, source))).collect()
    }

    /// The edges that can be crossed, once for each direction.
    fn crossings(&self, direction: Direction) -> Vec<(Node, Node, Payload)> {
        let there = self.walked().filter(|(.., payload)| payload.there);
        let both =
            there.flat_map(|(_, source, target, payload)| [(source, target, payload, true), (target, source, payload, false)]);
        let wanted = both.filter(|(.., out)| direction == Direction::Both || *out == (direction == Direction::Out));
        wanted.map(|(from, to, payload, _)| (from, to, payload)).collect()
    }

    /// The costs of the cheapest paths of at most 0, 1, … edges from `from` to each node (Bellman-Ford).
    pub(crate) fn costs(&self, from: &[Node], direction: Direction, hops_max: u32, cost: fn(&Payload) -> f64) -> Vec<Vec<f64>> {
        let mut now = vec![f64::INFINITY; self.nodes as usize];
        for node in from {
            now[self.representative(*node) as usize] = 0.0;
        }
        let mut all = vec![now];
        for _ in 0..hops_max {
            let before = all.last().unwrap();
            let mut now = before.clone();
            for (from, to, payload) in self.crossings(direction) {
                now[to as usize] = now[to as usize].min(before[from as usize] + cost(&payload));
            }
            all.push(now);
        }
        all
    }

    /// Implements the documentation of `graph::neighbours` literally.
    pub(crate) fn neighbours(&self, starts: &[Node], hop: &Hop) -> Reached {
        let mut reached = Reached::default();
        let mut hops: BTreeMap<Node, u32> = BTreeMap::new();
        for start in starts.iter().map(|start| self.representative(*start)) {
            if hops.insert(start, 0).is_none() {
                reached.nodes.push((start, 0));
            }
        }
        let mut seen = BTreeSet::new();
        let mut left = hop.nodes_max;
        for step in 1..=hop.depth {
            let mut crossed = Vec::new();
            for (node, _) in reached.nodes.iter().filter(|(_, hops)| hops + 1 == step) {
                let mut edges = self.edges_of(*node, hop.direction);
                edges.retain(|(edge, _)| self.edges[*edge as usize].2.there);
                if edges.len() > hop.fan_out_max {
                    reached.truncated = true;
                    edges.sort_by(|left, right| self.heavier_first(left.0, right.0));
                    edges.truncate(hop.fan_out_max);
                    edges.sort();
                }
                crossed.extend(edges);
            }
            let mut fresh = crossed.clone();
            fresh.retain(|(_, node)| !hops.contains_key(node));
            fresh.sort_by(|left, right| self.heavier_first(left.0, right.0));
            let mut met = BTreeSet::new();
            fresh.retain(|(_, node)| met.insert(*node));
            let is_full = fresh.len() > left;
            fresh.truncate(left);
            left -= fresh.len();
            for (_, node) in fresh {
                hops.insert(node, step);
                reached.nodes.push((node, step));
            }
            let between = crossed.into_iter().filter(|(edge, node)| hops.contains_key(node) && seen.insert(*edge));
            reached.edges.extend(between.map(|(edge, _)| (edge, step)));
            if is_full {
                reached.truncated = true;
                break;
            }
        }
        reached
    }

    fn heavier_first(&self, left: EdgeIndex, right: EdgeIndex) -> std::cmp::Ordering {
        let weight = |edge: EdgeIndex| self.edges[edge as usize].2.weight;
        weight(right).total_cmp(&weight(left)).then(left.cmp(&right))
    }
}
