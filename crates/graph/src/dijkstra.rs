//! Distances from many sources, nearest node first.
//!
//! [`crate::lightest_path`] cannot serve here: it searches from both ends for one path with a limited number of edges, so it keeps
//! several paths per node. This search has one path per node and no limit on edges.

use crate::Node;
use crate::distances::{Distances, Within};
use crate::heap::Heap;
use crate::labels::Labels;
use crate::storage::Graph;

/// The distances from `sources`, each with its start distance, by Dijkstra's algorithm. The weight of an edge must be finite and not
/// negative; other edges are not crossed. Sources that do not exist, or whose start distance is not such a number, are ignored.
///
/// [`crate::fre()`] answers the same. For a search with limits, prefer this one: it visits no node beyond them.
pub fn dijkstra<E>(
    graph: &Graph<E>,
    sources: &[(Node, f64)],
    within: &Within,
    allow: impl Fn(&E) -> bool,
    weight: impl Fn(&E) -> f64,
) -> Distances {
    let mut labels = Labels::new(graph, within, allow, weight);
    let mut heap = Heap::default();
    for start in labels.start(sources) {
        if let Some(key) = labels.key(start) {
            heap.push(key, &mut labels.counters);
        }
    }
    let (mut done, mut arcs, mut truncated) = (Vec::new(), Vec::new(), false);
    while let Some(key) = heap.pop(&mut labels.counters) {
        if done.len() >= within.nodes_max {
            truncated = true;
            break;
        }
        labels.finish(key.number);
        done.push(key.number);
        labels.arcs(key.number, &mut arcs);
        for arc in arcs.drain(..) {
            if let Some(reached) = labels.relax(key.number, &arc) {
                heap.push(reached, &mut labels.counters);
            }
        }
    }
    labels.answer(&done, truncated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, EdgeIndex};

    fn graph(edges: &[(Node, Node, f64)]) -> Graph<f64> {
        let mut graph = Graph::new();
        for (source, target, weight) in edges {
            graph.add_edge(*source, *target, *weight);
        }
        graph
    }

    fn path(found: &Distances, node: Node) -> Option<(f64, Vec<EdgeIndex>)> {
        found.get(node).map(|found| found.distance).zip(found.path_to(node).map(|(_, path)| path))
    }

    fn all(graph: &Graph<f64>, sources: &[(Node, f64)], within: &Within) -> Distances {
        dijkstra(graph, sources, within, |_| true, |weight| *weight)
    }

    #[test]
    fn the_nearest_source_counts_with_its_start_distance() {
        let graph = graph(&[(0, 1, 5.0), (1, 2, 1.0), (3, 2, 1.0), (0, 2, 9.0)]);
        let found = all(&graph, &[(0, 0.0), (3, 5.5), (3, 7.0), (1, 100.0)], &Within::all(Direction::Out));
        assert_eq!(path(&found, 2), Some((6.0, vec![0, 1])));
        let found = all(&graph, &[(0, 0.0), (3, 4.0)], &Within::all(Direction::Out));
        assert_eq!((path(&found, 2), path(&found, 3)), (Some((5.0, vec![2])), Some((4.0, Vec::new()))));
        assert_eq!(found.path_to(2).map(|(source, _)| source), Some(3));
    }

    #[test]
    fn weights_and_sources_must_be_valid() {
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let graph = graph(&[(0, 1, weight), (0, 2, 0.0), (2, 1, 4.0)]);
            let found = all(&graph, &[(0, 0.0), (1, weight), (9, 0.0)], &Within::all(Direction::Out));
            assert_eq!(path(&found, 1), Some((4.0, vec![1, 2])), "{weight}");
        }
        let graph = graph(&[(0, 1, f64::MAX), (1, 2, f64::MAX)]);
        let found = all(&graph, &[(0, -0.0)], &Within::all(Direction::Out));
        assert_eq!(found.found().len(), 2, "a distance beyond the greatest number is not reached");
    }

    #[test]
    fn limits_keep_the_nearest_nodes() {
        let graph = graph(&[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 4, 1.0)]);
        let nodes = |distance_max, nodes_max| {
            let found = all(&graph, &[(0, 0.0)], &Within { direction: Direction::Out, distance_max, nodes_max });
            (found.found().iter().map(|found| found.node).collect::<Vec<_>>(), found.truncated)
        };
        assert_eq!(nodes(None, 9), (vec![0, 1, 4, 2, 3], false));
        assert_eq!(nodes(Some(1.0), 9), (vec![0, 1, 4], false), "the greatest distance is included");
        assert_eq!(nodes(None, 2), (vec![0, 1], true));
        assert_eq!(nodes(Some(1.0), 3), (vec![0, 1, 4], false));
        assert_eq!(nodes(None, 0), (vec![], true));
        assert_eq!(nodes(Some(-1.0), 9), (vec![], false));
    }
}
