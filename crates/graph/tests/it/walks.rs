//! Compares walks with the simplest implementations.

use graph::{Direction, EdgeIndex, Graph, Hop, Node, lightest_path, neighbours, shortest_path};
use proptest::prelude::*;

use crate::model::{Model, Payload, cost, is_there, weight};
use crate::random::{LINE, NODES, direction, graphs, lines, some_nodes};

/// Follows a path edge by edge and checks its ends and that it crosses only allowed edges.
fn follow(graph: &Graph<Payload>, path: &[EdgeIndex], from: &[Node], to: &[Node], direction: Direction) {
    let all = |nodes: &[Node]| nodes.iter().map(|node| graph.representative(*node)).collect::<Vec<_>>();
    let mut at = all(from);
    for edge in path {
        let edge = graph.edge(*edge).unwrap();
        assert!(edge.payload.there);
        let out = (direction != Direction::In && at.contains(&edge.source)).then_some(edge.target);
        let back = (direction != Direction::Out && at.contains(&edge.target)).then_some(edge.source);
        at = [out, back].into_iter().flatten().collect();
        assert!(!at.is_empty(), "the path is not connected");
    }
    assert!(all(to).iter().any(|node| at.contains(node)), "the path has the wrong end");
}

/// The lowest cost with at most this many edges, if there is a path.
fn least(model: &Model, costs: &[Vec<f64>], to: &[Node], hops: u32) -> Option<f64> {
    let ends = to.iter().map(|node| costs[hops as usize][model.representative(*node) as usize]);
    ends.min_by(f64::total_cmp).filter(|cost| cost.is_finite())
}

/// Checks that the cheapest path costs as much as in the model and is a valid path.
fn lightest(graph: &Graph<Payload>, model: &Model, from: &[Node], to: &[Node], depth_max: u32, direction: Direction) {
    let found = lightest_path(graph, from, to, depth_max, direction, is_there, cost);
    let expected = least(model, &model.costs(from, direction, depth_max, cost), to, depth_max);
    assert_eq!(found.is_some(), expected.is_some());
    if let Some(((path, total), expected)) = found.zip(expected) {
        assert!((total - expected).abs() < 1e-9, "{total} instead of {expected}");
        let sum: f64 = path.iter().map(|edge| cost(graph.edge(*edge).unwrap().payload)).sum();
        assert!((total - sum).abs() < 1e-9);
        assert!(path.len() <= depth_max as usize);
        follow(graph, &path, from, to, direction);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_shortest_path_is_shortest(
        (graph, model) in graphs(), (from, to) in (some_nodes(), some_nodes()), depth_max in 0..8_u32, direction in direction(),
    ) {
        let path = shortest_path(&graph, &from, &to, depth_max, direction, is_there);
        let costs = model.costs(&from, direction, depth_max, |_| 1.0);
        let expected = least(&model, &costs, &to, depth_max).map(|length| length as usize);
        prop_assert_eq!(path.as_ref().map(Vec::len), expected);
        if let Some(path) = path {
            follow(&graph, &path, &from, &to, direction);
        }
    }

    #[test]
    fn the_cheapest_path_is_cheapest(
        (graph, model) in graphs(), (from, to) in (some_nodes(), some_nodes()), depth_max in 0..8_u32, direction in direction(),
    ) {
        lightest(&graph, &model, &from, &to, depth_max, direction);
    }

    #[test]
    fn a_bounded_path_has_the_lowest_cost(
        (graph, model) in lines(), (from, to) in (0..LINE / 3, LINE / 2..LINE), depth_max in 3..LINE, is_back in any::<bool>(),
    ) {
        if is_back {
            lightest(&graph, &model, &[to], &[from], depth_max, Direction::In);
        } else {
            lightest(&graph, &model, &[from], &[to], depth_max, Direction::Out);
        }
    }

    #[test]
    fn neighbours_match_the_documentation(
        (graph, model) in graphs(),
        starts in some_nodes(),
        direction in direction(),
        (depth, fan_out_max, nodes_max) in (0..5_u32, 0..8_usize, 0..12_usize),
    ) {
        let hop = Hop { direction, depth, fan_out_max, nodes_max };
        prop_assert_eq!(neighbours(&graph, &starts, &hop, is_there, weight), model.neighbours(&starts, &hop));
    }

    #[test]
    fn without_limits_neighbours_are_complete(
        (graph, model) in graphs(), starts in some_nodes(), direction in direction(), depth in 0..6_u32,
    ) {
        let hop = Hop { direction, depth, fan_out_max: usize::MAX, nodes_max: usize::MAX };
        let reached = neighbours(&graph, &starts, &hop, is_there, weight);
        let hops = model.costs(&starts, direction, depth, |_| 1.0).pop().unwrap();
        let within = (0..NODES).zip(hops).filter(|(_, hops)| hops.is_finite());
        let expected: Vec<_> = within.map(|(node, hops)| (node, hops as u32)).collect();
        let mut nodes = reached.nodes;
        nodes.sort_unstable();
        prop_assert_eq!(nodes, expected);
        prop_assert!(!reached.truncated);
    }
}
