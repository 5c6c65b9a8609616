//! Searches for distances on graphs with a shape: paths, stars, grids and other corner cases.

use graph::{Direction, Graph, Node, Within, fre};

use crate::distances::{Random, Weights, compare, random_graph};

const ALL: Within = Within { direction: Direction::Out, distance_max: None, nodes_max: usize::MAX };

fn graph(edges: impl IntoIterator<Item = (Node, Node, f64)>) -> Graph<f64> {
    let mut graph = Graph::new();
    for (source, target, weight) in edges {
        graph.add_edge(source, target, weight);
    }
    graph
}

#[test]
fn without_nodes_or_sources_nothing_is_found() {
    for (graph, sources) in [
        (Graph::new(), vec![(0, 0.0)]),
        (graph([(0, 1, 1.0)]), vec![]),
        (graph([(0, 1, 1.0)]), vec![(2, 0.0), (0, -1.0), (0, f64::NAN), (0, f64::INFINITY)]),
    ] {
        let found = fre(&graph, &sources, &ALL, |_| true, |weight| *weight);
        assert!(found.found().is_empty() && !found.truncated);
    }
}

#[test]
fn one_node_finds_itself() {
    let mut graph = Graph::new();
    graph.add_node();
    let [_, found] = compare(&graph, &[(0, 3.0), (0, 2.0)], &ALL);
    assert_eq!(found.get(0).map(|found| (found.distance, found.before)), Some((2.0, None)));
}

#[test]
fn loops_parallel_edges_and_cycles_of_zeros_do_no_harm() {
    let edges =
        [(0, 0, 0.0), (0, 1, 0.0), (0, 1, 0.0), (1, 0, 0.0), (1, 2, 3.0), (1, 2, 2.0), (2, 2, 0.0), (2, 1, 0.0), (4, 0, 1.0)];
    let [_, found] = compare(&graph(edges), &[(0, 0.0)], &ALL);
    assert_eq!(found.get(2).map(|found| found.distance), Some(2.0));
    assert_eq!(found.path_to(2), Some((0, vec![1, 5])));
    assert!(found.get(3).is_none() && found.get(4).is_none(), "unreachable");
}

#[test]
fn edges_with_invalid_weights_are_not_crossed() {
    for weight in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let graph = graph([(0, 1, weight), (0, 2, -0.0), (2, 1, 4.0)]);
        let found = fre(&graph, &[(0, -0.0)], &ALL, |_| true, |weight| *weight);
        assert_eq!(found.path_to(1), Some((0, vec![1, 2])), "{weight}");
    }
}

#[test]
fn a_long_path_is_walked_to_its_end() {
    let last = 200_000;
    for weight in [0.0, 1.0] {
        let mut graph = graph((0..last).map(|node| (node, node + 1, weight)));
        let found = fre(&graph, &[(0, 0.0)], &ALL, |_| true, |weight| *weight);
        assert_eq!(found.found().len(), last as usize + 1);
        assert_eq!(found.get(last).map(|found| (found.distance, found.hops)), Some((f64::from(last) * weight, last)));
        assert_eq!(found.path_to(last).map(|(_, path)| path.len()), Some(last as usize));
        // A ring leads back to where it starts.
        graph.add_edge(last, 0, weight);
        let found = fre(&graph, &[(last / 2, 0.0)], &ALL, |_| true, |weight| *weight);
        assert_eq!(found.get(last / 2 - 1).map(|found| found.hops), Some(last));
    }
}

#[test]
fn a_star_is_searched_from_its_centre_and_from_its_rays() {
    let rays = 3_000;
    let graph = graph((1..=rays).flat_map(|ray| [(0, ray, f64::from(ray % 7)), (ray, 0, f64::from(ray % 5))]));
    // Paths through the hub are short, but each node's distance needs all of its edges.
    for source in [0, 1, rays] {
        for nodes_max in [usize::MAX, 10, 1_000] {
            let [_, found] = compare(&graph, &[(source, 0.0)], &Within { nodes_max, ..ALL });
            assert_eq!(found.found().len(), nodes_max.min(rays as usize + 1));
        }
    }
}

#[test]
fn a_grid_has_many_shortest_paths() {
    let side: Node = 60;
    let node = |row: Node, column: Node| row * side + column;
    let cells = (0..side).flat_map(|row| (0..side).map(move |column| (row, column)));
    let mut edges = Vec::new();
    for (row, column) in cells {
        if column + 1 < side {
            edges.push((node(row, column), node(row, column + 1), 1.0));
        }
        if row + 1 < side {
            edges.push((node(row, column), node(row + 1, column), 1.0));
        }
    }
    let graph = graph(edges);
    for direction in [Direction::Out, Direction::In, Direction::Both] {
        let within = Within { direction, ..ALL };
        let [_, found] = compare(&graph, &[(node(20, 30), 0.0)], &within);
        if direction == Direction::Both {
            assert_eq!(found.get(node(0, 0)).map(|found| found.distance), Some(50.0));
            assert_eq!(found.found().len(), (side * side) as usize);
        }
        compare(&graph, &[(node(20, 30), 0.0), (node(59, 59), 4.0)], &Within { distance_max: Some(17.0), ..within });
    }
}

#[test]
fn counters_tell_what_was_done() {
    let graph = random_graph(&mut Random(7), 20_000, 3.0, Weights::Real);
    let [one, other] = compare(&graph, &[(0, 0.0)], &ALL);
    let (one, other, nodes) = (one.counters, other.counters, one.found().len() as u64);
    assert_eq!((one.heap_pushes, one.heap_pops), (nodes, nodes));
    assert_eq!((one.inserts, one.prepends, one.pulls, one.selections), (0, 0, 0, 0));
    assert!(one.edges <= graph.edge_count() as u64 && one.comparisons > nodes);
    assert!(other.inserts > 0 && other.pulls > 0 && other.prepends > 0 && other.selections > 0);
    assert!(other.pulled >= other.pulls && other.prepended >= other.prepends);
    assert_eq!(
        other.queue_operations(),
        other.heap_pushes + other.heap_pops + other.heap_decreases + other.inserts + other.prepends + other.pulls
    );
}

#[test]
fn a_limit_on_nodes_limits_the_work() {
    // No hubs: the edges of one would be most of the work.
    let (mut random, nodes) = (Random(9), 50_000);
    let ends = (0..3 * nodes).map(|edge| (edge % nodes, random.below(nodes), random.below(1_000)));
    let graph = graph(ends.map(|(source, target, weight)| (source, target, f64::from(weight))));
    let [_, all] = compare(&graph, &[(0, 0.0)], &ALL);
    let [_, few] = compare(&graph, &[(0, 0.0)], &Within { nodes_max: 100, ..ALL });
    assert!(few.counters.edges * 20 < all.counters.edges, "{:?} of {:?}", few.counters, all.counters);
}
