//! Both searches for distances answer the same, and what they answer are shortest paths.

use graph::{Direction, Distances, Graph, Node, Within, dijkstra, fre};
use proptest::prelude::*;

use crate::model::{is_there, weight};
use crate::random::{NODES, direction, graphs};

/// How the weights of a random graph are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weights {
    Real,
    FewIntegers,
    MostlyZero,
    Equal,
    OneGiant,
    /// Sums of these round to the same number, though the parts differ.
    Rounded,
}

/// A small xorshift generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % most
    }

    fn weight(&mut self, weights: Weights) -> f64 {
        match weights {
            Weights::Real => f64::from(self.below(u32::MAX >> 2)) / 1e6,
            Weights::FewIntegers => f64::from(self.below(4)),
            Weights::MostlyZero => f64::from(u8::from(self.below(8) == 0)),
            Weights::Equal => 2.5,
            Weights::OneGiant if self.below(50) == 0 => 1e15,
            Weights::OneGiant => f64::from(self.below(10)),
            Weights::Rounded => [1e16, 1.0, 1.0 + f64::EPSILON, 3.0, f64::EPSILON, 0.0][self.below(6) as usize],
        }
    }
}

/// A random graph with this many edges per node. Some nodes have far more edges than others.
pub(crate) fn random_graph(random: &mut Random, nodes: Node, density: f64, weights: Weights) -> Graph<f64> {
    let mut graph = Graph::new();
    for _ in 0..nodes {
        graph.add_node();
    }
    for _ in 0..(f64::from(nodes) * density) as usize {
        let ends = [0, 1].map(|_| if random.below(10) == 0 { random.below(nodes.min(4)) } else { random.below(nodes) });
        graph.add_edge(ends[0], ends[1], random.weight(weights));
    }
    graph
}

/// Checks that an answer is complete without limits, and that its paths are shortest ones.
pub(crate) fn check(graph: &Graph<f64>, sources: &[(Node, f64)], within: &Within, answer: &Distances) {
    let start = |node| {
        let starts = sources.iter().filter(|(source, _)| graph.representative(*source) == node).map(|(_, start)| *start);
        starts.min_by(f64::total_cmp)
    };
    for found in answer.found() {
        match found.before {
            None => assert_eq!((Some(found.distance), found.hops), (start(found.node), 0)),
            Some((edge, before)) => {
                // Nodes on the way are found too.
                let (edge, before) = (graph.edge(edge).unwrap(), answer.get(before).unwrap());
                let ends = [(edge.source, edge.target), (edge.target, edge.source)];
                let crossed = (before.node, found.node);
                assert!(within.direction == Direction::In || ends[0] == crossed || within.direction == Direction::Both);
                assert!(ends.contains(&crossed) && (within.direction != Direction::In || ends[1] == crossed));
                assert_eq!(found.distance.to_bits(), (before.distance + edge.payload).to_bits());
            }
        }
        assert!(start(found.node).is_none_or(|start| found.distance <= start));
        let (source, path) = answer.path_to(found.node).unwrap();
        let mut length = start(source).unwrap();
        for edge in path {
            length += graph.edge(edge).unwrap().payload;
        }
        assert_eq!(length.to_bits(), found.distance.to_bits());
        // No edge leads to a shorter path, and without limits every edge leads to a node that was found.
        for (edge, other) in graph.edges_of(found.node, within.direction) {
            let length = found.distance + graph.edge(edge).unwrap().payload;
            match answer.get(other) {
                Some(other) => assert!(other.distance <= length),
                None => assert!(answer.truncated || within.distance_max.is_some_and(|most| length > most)),
            }
        }
    }
}

/// Compares both searches.
pub(crate) fn compare(graph: &Graph<f64>, sources: &[(Node, f64)], within: &Within) -> [Distances; 2] {
    let one = dijkstra(graph, sources, within, |_| true, |weight| *weight);
    let other = fre(graph, sources, within, |_| true, |weight| *weight);
    assert_eq!(one.found().len(), other.found().len());
    assert_eq!(one.truncated, other.truncated);
    for (one, other) in one.sorted().iter().zip(other.sorted()) {
        assert_eq!(*one, other);
    }
    check(graph, sources, within, &one);
    check(graph, sources, within, &other);
    [one, other]
}

fn weights() -> impl Strategy<Value = Weights> {
    use Weights::{Equal, FewIntegers, MostlyZero, OneGiant, Real};
    prop::sample::select(vec![Real, FewIntegers, MostlyZero, Equal, OneGiant])
}

fn limits() -> impl Strategy<Value = (Option<f64>, usize)> {
    let distance_max = prop_oneof![2 => Just(None), 1 => (0..40_u32).prop_map(|most| Some(f64::from(most) / 2.0))];
    (distance_max, prop_oneof![2 => Just(usize::MAX), 1 => 0..200_usize])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn both_searches_answer_the_same(
        (seed, nodes, density, weights) in (1..u64::MAX, 0..400_u32, 0.2..6.0, weights()),
        sources in prop::collection::vec((0..400_u32, 0..12_u32), 0..6),
        direction in direction(),
        (distance_max, nodes_max) in limits(),
    ) {
        let graph = random_graph(&mut Random(seed), nodes, if nodes == 0 { 0.0 } else { density }, weights);
        let sources: Vec<_> = sources.into_iter().map(|(node, start)| (node, f64::from(start) / 4.0)).collect();
        compare(&graph, &sources, &Within { direction, distance_max, nodes_max });
    }

    #[test]
    fn tiny_graphs_are_answered_the_same(
        edges in prop::collection::vec((0..6_u32, 0..6_u32, 0..3_u8), 0..20),
        sources in prop::collection::vec((0..7_u32, 0..3_u8), 1..3),
        direction in direction(),
        nodes_max in 0..9_usize,
    ) {
        let mut graph = Graph::new();
        for (source, target, weight) in edges {
            graph.add_edge(source, target, f64::from(weight));
        }
        let sources: Vec<_> = sources.into_iter().map(|(node, start)| (node, f64::from(start))).collect();
        compare(&graph, &sources, &Within { nodes_max, ..Within::all(direction) });
    }

    /// Rounding makes the number of edges on a path depend on the order of the search. Distances do not.
    #[test]
    fn rounded_distances_are_the_same(seed in 1..u64::MAX, nodes in 1..300_u32, density in 0.5..5.0) {
        let graph = random_graph(&mut Random(seed), nodes, density, Weights::Rounded);
        let within = Within::all(Direction::Out);
        let one = dijkstra(&graph, &[(0, 0.0)], &within, |_| true, |weight| *weight);
        let other = fre(&graph, &[(0, 0.0)], &within, |_| true, |weight| *weight);
        prop_assert_eq!(one.found().len(), other.found().len());
        for found in one.found() {
            let distance = other.get(found.node).map(|other| other.distance.to_bits());
            prop_assert_eq!(Some(found.distance.to_bits()), distance);
        }
        check(&graph, &[(0, 0.0)], &within, &other);
    }

    #[test]
    fn merged_nodes_and_filters_count((graph, model) in graphs(), from in 0..NODES, direction in direction()) {
        let within = Within::all(direction);
        let by = |payload: &crate::model::Payload| f64::from(weight(payload));
        let one = dijkstra(&graph, &[(from, 0.0)], &within, is_there, by);
        let other = fre(&graph, &[(from, 0.0)], &within, is_there, by);
        prop_assert_eq!(one.sorted(), other.sorted());
        let costs = model.costs(&[from], direction, NODES, by).pop().unwrap();
        for node in (0..NODES).filter(|node| graph.representative(*node) == *node) {
            let distance = one.get(node).map_or(f64::INFINITY, |found| found.distance);
            prop_assert_eq!(distance, costs[node as usize]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn larger_graphs_are_answered_the_same(
        (seed, density, weights) in (1..u64::MAX, 0.8..8.0, weights()),
        sources in prop::collection::vec((0..5_000_u32, 0..40_u32), 1..40),
        (distance_max, nodes_max) in limits(),
    ) {
        let graph = random_graph(&mut Random(seed), 5_000, density, weights);
        let sources: Vec<_> = sources.into_iter().map(|(node, start)| (node, f64::from(start))).collect();
        compare(&graph, &sources, &Within { direction: Direction::Out, distance_max, nodes_max: nodes_max.saturating_mul(20) });
    }
}
