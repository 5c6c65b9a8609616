//! Components are what reachability says they are.

use graph::{Direction, Graph, Hop, Node, components, neighbours};
use proptest::prelude::*;

use crate::model::{Payload, is_there};
use crate::random::{NODES, graphs};

/// The nodes that each node reaches.
fn reachable(graph: &Graph<Payload>) -> Vec<Vec<bool>> {
    let hop = Hop { direction: Direction::Out, depth: u32::MAX, fan_out_max: usize::MAX, nodes_max: usize::MAX };
    let from = |node: Node| {
        let mut reached = vec![false; graph.node_count()];
        for (other, _) in neighbours(graph, &[node], &hop, is_there, |payload| payload.weight).nodes {
            reached[other as usize] = true;
        }
        reached
    };
    (0..NODES).map(from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn nodes_share_a_component_if_they_reach_each_other((graph, _) in graphs()) {
        let found = components(&graph, is_there);
        let reached = reachable(&graph);
        let unmerged: Vec<_> = (0..NODES).filter(|node| graph.representative(*node) == *node).collect();
        for one in &unmerged {
            for other in &unmerged {
                let both = reached[*one as usize][*other as usize] && reached[*other as usize][*one as usize];
                prop_assert_eq!(found.of(*one) == found.of(*other), both || one == other, "{} and {}", one, other);
            }
        }
        let mut members: Vec<_> = (0..found.count()).flat_map(|component| found.members(component)).copied().collect();
        prop_assert!((0..found.count()).all(|component| found.members(component).is_sorted()));
        members.sort_unstable();
        prop_assert_eq!(members, unmerged);
        for node in 0..NODES {
            prop_assert_eq!(found.of(node), found.of(graph.representative(node)));
        }
    }

    #[test]
    fn edges_lead_to_lower_components((graph, _) in graphs()) {
        let found = components(&graph, is_there);
        let mut expected = vec![Vec::new(); found.count() as usize];
        for edge in 0..u32::try_from(graph.edge_count()).unwrap() {
            let edge = graph.edge(edge).unwrap();
            let (source, target) = (found.of(edge.source).unwrap(), found.of(edge.target).unwrap());
            if edge.payload.there && source != target {
                prop_assert!(target < source);
                expected[source as usize].push(target);
            }
        }
        for (component, mut expected) in (0..).zip(expected) {
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(found.next(component), expected);
        }
    }
}
