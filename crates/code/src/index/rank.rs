//! How important files are: a file is important if important files depend on it.

use graph::{Direction, Graph, Node};

use super::graph::{Relationship, Tie};

const ROUNDS: u32 = 20;
/// How much of its importance a file passes on to those that it depends on.
const PASSED_ON: f32 = 0.85;

/// The importance of each node, in the order of the nodes. All together they are about one.
pub(crate) fn ranks(graph: &Graph<Tie>) -> Vec<f32> {
    let nodes = graph.node_count();
    let all = Node::try_from(nodes).unwrap_or(Node::MAX);
    let targets: Vec<Vec<Node>> = (0..all)
        .map(|node| {
            let edges = graph.edges_of(node, Direction::Out).filter(|(_, other)| *other != node);
            let imports = edges
                .filter(|(edge, _)| graph.edge(*edge).is_some_and(|edge| edge.payload.relationship != Relationship::Exports));
            let mut targets: Vec<Node> = imports.map(|(_, other)| other).collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        })
        .collect();
    let share = 1.0 / (nodes.max(1) as f32);
    let mut ranks = vec![share; nodes];
    for _ in 0..ROUNDS {
        let mut next = vec![(1.0 - PASSED_ON) * share; nodes];
        let mut stuck = 0.0;
        for (rank, targets) in ranks.iter().zip(&targets) {
            if targets.is_empty() {
                stuck += rank;
            }
            let part = PASSED_ON * rank / (targets.len().max(1) as f32);
            for target in targets {
                if let Some(slot) = next.get_mut(*target as usize) {
                    *slot += part;
                }
            }
        }
        for rank in &mut next {
            *rank += PASSED_ON * stuck * share;
        }
        ranks = next;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::Resolution;

    #[test]
    fn what_everything_depends_on_is_first() {
        let mut graph = Graph::new();
        let tie = Tie { relationship: Relationship::Imports, resolution: Resolution::Exact };
        for (from, to) in [(0, 3), (1, 3), (2, 3), (2, 1), (3, 4)] {
            graph.add_edge(from, to, tie);
        }
        let ranks = ranks(&graph);
        assert!(ranks[3] > ranks[1] && ranks[1] > ranks[0] && ranks[4] > ranks[0], "{ranks:?}");
        assert!((ranks.iter().sum::<f32>() - 1.0).abs() < 0.01);
    }
}
