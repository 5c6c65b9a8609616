//! Walks beside the simplest programs that answer the same.

use graph::{Direction, EdgeIndex, Graph, Hop, Node, lightest_path, neighbours, personalised_rank, shortest_path};
use proptest::prelude::*;

use crate::model::{Model, Payload, cost, is_there, weight};
use crate::random::{LINE, NODES, direction, graphs, lines, some_nodes};

/// Follows a path edge by edge: it begins and ends where it should, and crosses only what it may.
fn follow(graph: &Graph<Payload>, path: &[EdgeIndex], from: &[Node], to: &[Node], direction: Direction) {
    let all = |nodes: &[Node]| nodes.iter().map(|node| graph.representative(*node)).collect::<Vec<_>>();
    let mut at = all(from);
    for edge in path {
        let edge = graph.edge(*edge).unwrap();
        assert!(edge.payload.there);
        let out = (direction != Direction::In && at.contains(&edge.source)).then_some(edge.target);
        let back = (direction != Direction::Out && at.contains(&edge.target)).then_some(edge.source);
        at = [out, back].into_iter().flatten().collect();
        assert!(!at.is_empty(), "the path does not hang together");
    }
    assert!(all(to).iter().any(|node| at.contains(node)), "the path does not end where it should");
}

/// The least cost of at most so many edges, if there is a way.
fn least(model: &Model, costs: &[Vec<f64>], to: &[Node], hops: u32) -> Option<f64> {
    let ends = to.iter().map(|node| costs[hops as usize][model.representative(*node) as usize]);
    ends.min_by(f64::total_cmp).filter(|cost| cost.is_finite())
}

/// The lightest path costs what the model says, and is what it says it is.
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
    fn the_shortest_path_is_as_short_as_can_be(
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
    fn the_lightest_path_is_as_light_as_can_be(
        (graph, model) in graphs(), (from, to) in (some_nodes(), some_nodes()), depth_max in 0..8_u32, direction in direction(),
    ) {
        lightest(&graph, &model, &from, &to, depth_max, direction);
    }

    #[test]
    fn a_bound_on_the_length_is_kept_at_the_least_cost(
        (graph, model) in lines(), (from, to) in (0..LINE / 3, LINE / 2..LINE), depth_max in 3..LINE, is_back in any::<bool>(),
    ) {
        if is_back {
            lightest(&graph, &model, &[to], &[from], depth_max, Direction::In);
        } else {
            lightest(&graph, &model, &[from], &[to], depth_max, Direction::Out);
        }
    }

    #[test]
    fn neighbours_are_those_of_the_documentation(
        (graph, model) in graphs(),
        starts in some_nodes(),
        direction in direction(),
        (depth, fan_out_max, nodes_max) in (0..5_u32, 0..8_usize, 0..12_usize),
    ) {
        let hop = Hop { direction, depth, fan_out_max, nodes_max };
        prop_assert_eq!(neighbours(&graph, &starts, &hop, is_there, weight), model.neighbours(&starts, &hop));
    }

    #[test]
    fn without_limits_neighbours_are_all_within_the_depth(
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

proptest! {
    #[test]
    fn the_rank_is_where_a_walker_is_in_the_long_run(
        (graph, model) in graphs(), (from, to) in (0..NODES, 0..NODES), share in 1..5_u8,
    ) {
        let seeds = [(from, f32::from(share)), (to, 1.0)];
        let ranks = personalised_rank(&graph, &seeds, 0.85, 1e-8, 100_000, is_there, weight);
        let expected = model.rank(&seeds, f64::from(0.85_f32));
        prop_assert!(ranks.is_sorted_by(|left, right| left.1 >= right.1));
        for node in 0..NODES {
            let rank = ranks.iter().find(|rank| rank.0 == node).map_or(0.0, |rank| f64::from(rank.1));
            let expected = expected[node as usize];
            prop_assert!((rank - expected).abs() < 1e-5, "{}: {} instead of {}", node, rank, expected);
        }
    }
}
