//! Random histories of small graphs. Small graphs make every combination likely.

use graph::{Direction, Graph, Node};
use proptest::prelude::*;

use crate::model::{Model, Payload};

pub(crate) const NODES: Node = 12;
pub(crate) const LINE: Node = 24;

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Edge(Node, Node, Payload),
    Redirect(Node, Node),
    Restore(Node),
    Reweigh(usize, f32),
    Compact,
}

fn payload() -> impl Strategy<Value = Payload> {
    // Few different weights, so that there are many ties.
    (1..=6_u8, prop::bool::weighted(0.85)).prop_map(|(weight, there)| Payload { weight: f32::from(weight) / 4.0, there })
}

fn change() -> impl Strategy<Value = Change> {
    // Some nodes have far more edges than others.
    let node = || prop_oneof![2 => 0..NODES, 1 => 0..3_u32];
    prop_oneof![
        24 => (node(), node(), payload()).prop_map(|(source, target, payload)| Change::Edge(source, target, payload)),
        4 => (node(), node()).prop_map(|(node, into)| Change::Redirect(node, into)),
        2 => node().prop_map(Change::Restore),
        1 => (any::<usize>(), 1..=6_u8).prop_map(|(edge, weight)| Change::Reweigh(edge, f32::from(weight))),
        1 => Just(Change::Compact),
    ]
}

pub(crate) fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Out), Just(Direction::In), Just(Direction::Both)]
}

pub(crate) fn some_nodes() -> impl Strategy<Value = Vec<Node>> {
    prop::collection::vec(0..NODES, 1..3)
}

/// A graph after a random history, and the model after the same one.
pub(crate) fn graphs() -> impl Strategy<Value = (Graph<Payload>, Model)> {
    prop::collection::vec(change(), 0..60).prop_map(|changes| {
        let (mut graph, mut model) = (Graph::new(), Model { nodes: NODES, ..Model::default() });
        for _ in 0..NODES {
            graph.add_node();
        }
        for change in changes {
            apply(&mut graph, &mut model, change);
        }
        (graph, model)
    })
}

/// A long line of cheap edges with expensive short cuts: the fewer edges a path has, the more it costs.
pub(crate) fn lines() -> impl Strategy<Value = (Graph<Payload>, Model)> {
    let short_cut = (0..LINE, 2..7_u32, 110..400_u32);
    prop::collection::vec(short_cut, 0..30).prop_map(|short_cuts| {
        let (mut graph, mut model) = (Graph::new(), Model { nodes: LINE, ..Model::default() });
        let line = (1..LINE).map(|node| (node - 1, node, 1.0));
        let short_cuts =
            short_cuts.into_iter().map(|(from, span, cost)| (from, (from + span).min(LINE - 1), (span * cost) as f32 / 100.0));
        for (source, target, cost) in line.chain(short_cuts) {
            apply(&mut graph, &mut model, Change::Edge(source, target, Payload { weight: 1.0 / cost, there: true }));
        }
        (graph, model)
    })
}

fn apply(graph: &mut Graph<Payload>, model: &mut Model, change: Change) {
    match change {
        Change::Edge(source, target, payload) => {
            let edge = graph.add_edge(source, target, payload);
            assert_eq!(edge as usize, model.edges.len());
            model.edges.push((source, target, payload));
        }
        Change::Redirect(node, into) => {
            graph.redirect(node, into);
            model.redirect(node, into);
        }
        Change::Restore(node) => {
            graph.restore(node);
            model.redirects.remove(&node);
        }
        Change::Reweigh(edge, weight) if !model.edges.is_empty() => {
            let edge = edge % model.edges.len();
            model.edges[edge].2.weight = weight;
            graph.payload_mut(u32::try_from(edge).unwrap()).unwrap().weight = weight;
        }
        Change::Reweigh(..) => {}
        Change::Compact => graph.compact(),
    }
}

/// A graph built at once from the model's edges.
pub(crate) fn built(model: &Model) -> Graph<Payload> {
    let mut graph = Graph::new();
    for _ in 0..model.nodes {
        graph.add_node();
    }
    for (node, into) in &model.redirects {
        graph.redirect(*node, *into);
    }
    for (source, target, payload) in &model.edges {
        graph.add_edge(*source, *target, *payload);
    }
    graph.compact();
    graph
}
