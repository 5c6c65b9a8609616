//! The history of a graph does not affect its answers.

use graph::{Direction, Hop, lightest_path, neighbours, shortest_path};
use proptest::prelude::*;

use crate::model::{cost, is_there, weight};
use crate::random::{NODES, built, direction, graphs, some_nodes};

proptest! {
    #[test]
    fn edges_match_the_model((graph, model) in graphs()) {
        prop_assert_eq!(graph.node_count(), NODES as usize);
        prop_assert_eq!(graph.edge_count(), model.edges.len());
        for node in 0..NODES {
            prop_assert_eq!(graph.representative(node), model.representative(node));
            for direction in [Direction::Out, Direction::In, Direction::Both] {
                let edges: Vec<_> = graph.edges_of(node, direction).collect();
                prop_assert_eq!(edges, model.edges_of(node, direction), "{} {:?}", node, direction);
            }
        }
        for (edge, (source, target, payload)) in (0..).zip(&model.edges) {
            let found = graph.edge(edge).unwrap();
            let ends = (model.representative(*source), model.representative(*target));
            prop_assert_eq!(((found.source, found.target), found.payload), (ends, payload));
        }
        prop_assert!(graph.edge(u32::try_from(model.edges.len()).unwrap()).is_none());
    }

    #[test]
    fn answers_match_a_graph_built_at_once(
        (graph, model) in graphs(),
        (from, to) in (some_nodes(), some_nodes()),
        direction in direction(),
        (depth, fan_out_max, nodes_max) in (0..5_u32, 1..6_usize, 0..12_usize),
    ) {
        let fresh = built(&model);
        let hop = Hop { direction, depth, fan_out_max, nodes_max };
        let near = |graph| neighbours(graph, &from, &hop, is_there, weight);
        prop_assert_eq!(near(&graph), near(&fresh));
        let shortest = |graph| shortest_path(graph, &from, &to, depth, direction, is_there);
        prop_assert_eq!(shortest(&graph), shortest(&fresh));
        let lightest = |graph| lightest_path(graph, &from, &to, depth, direction, is_there, cost);
        prop_assert_eq!(lightest(&graph), lightest(&fresh));
    }
}
