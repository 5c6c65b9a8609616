//! What matters around some nodes: how often a walker is where, who follows edges at random and now and then starts again at
//! one of them.
//!
//! The walker's chance is pushed outwards from the seeds and left where little of it arrives, so the work follows from
//! `epsilon`, not from the size of the graph (the local push of Andersen, Chung and Lang, over edges that are crossed both
//! ways).

use std::collections::VecDeque;

use crate::numbering::Numbering;
use crate::storage::Graph;
use crate::{Direction, Node};

/// The personalised PageRank of the nodes around `seeds`, best first. Ranks sum up to one, less what was not worth pushing on.
///
/// The walker follows an edge with the chance `damping`, each as often as its weight says, and otherwise starts again at a
/// seed, each as often as its number says. A node is pushed from while what has arrived at it is more than `epsilon` for each
/// of its edges, and at most `pushes_max` times in all. Edges and seeds without a positive weight do not count.
pub fn personalised_rank<E>(
    graph: &Graph<E>,
    seeds: &[(Node, f32)],
    damping: f32,
    epsilon: f32,
    pushes_max: usize,
    allow: impl Fn(&E) -> bool,
    weight: impl Fn(&E) -> f32,
) -> Vec<(Node, f32)> {
    let mut ranking =
        Ranking { graph, epsilon: f64::from(epsilon), met: Numbering::new(), places: Vec::new(), queue: VecDeque::new() };
    let damping = f64::from(damping).clamp(0.0, 1.0);
    let seeds = seeds.iter().filter(|(_, share)| is_positive(*share));
    let seeds: Vec<_> = seeds.filter_map(|(node, share)| Some((graph.start(*node)?, f64::from(*share)))).collect();
    let shares: f64 = seeds.iter().map(|(_, share)| share).sum();

    // What is to start again at the seeds: at first the walker, then whoever is at a node without edges.
    let mut restarting = 1.0;
    let mut edges = Vec::new();
    let mut pushes = 0;
    while restarting > ranking.epsilon && pushes < pushes_max {
        for (node, share) in &seeds {
            ranking.arrive(*node, restarting * share / shares);
        }
        restarting = 0.0;
        while pushes < pushes_max
            && let Some(number) = ranking.queue.pop_front()
        {
            pushes += 1;
            let Some((node, arrived)) = ranking.take(number, 1.0 - damping) else { continue };
            edges.clear();
            graph.allowed(node, Direction::Both, &allow, &weight, &mut edges);
            edges.retain(|(_, weight)| is_positive(*weight));
            let sum: f64 = edges.iter().map(|(_, weight)| f64::from(*weight)).sum();
            if edges.is_empty() {
                restarting += damping * arrived;
            }
            for (entry, weight) in &edges {
                ranking.arrive(entry.other, damping * arrived * f64::from(*weight) / sum);
            }
        }
    }
    ranking.best_first(1.0 - damping)
}

fn is_positive(weight: f32) -> bool {
    weight > 0.0 && weight.is_finite()
}

/// What is known of a node.
#[derive(Default)]
struct Place {
    rank: f64,
    /// What has arrived and was not pushed on yet.
    arrived: f64,
    /// As much must arrive before it is worth pushing on.
    least: f64,
    is_queued: bool,
}

struct Ranking<'a, E> {
    graph: &'a Graph<E>,
    epsilon: f64,
    met: Numbering,
    places: Vec<Place>,
    queue: VecDeque<u32>,
}

impl<E> Ranking<'_, E> {
    fn arrive(&mut self, node: Node, chance: f64) {
        let (number, is_new) = self.met.insert(node);
        if is_new {
            let edges = self.graph.entries(node, Direction::Both).len_at_most().max(1);
            self.places.push(Place { least: self.epsilon * edges as f64, ..Place::default() });
        }
        let Some(place) = self.places.get_mut(number as usize) else { return };
        place.arrived += chance;
        if place.arrived > place.least && !place.is_queued {
            place.is_queued = true;
            self.queue.push_back(number);
        }
    }

    /// Takes what has arrived at a node, of which a part stays.
    fn take(&mut self, number: u32, stays: f64) -> Option<(Node, f64)> {
        let place = self.places.get_mut(number as usize)?;
        let arrived = std::mem::take(&mut place.arrived);
        place.is_queued = false;
        place.rank += stays * arrived;
        Some((self.met.node(number)?, arrived))
    }

    /// All ranks. What has arrived without being worth a push stays where it is, as far as it would have.
    fn best_first(&self, stays: f64) -> Vec<(Node, f32)> {
        let ranks = self.places.iter().map(|place| (place.rank + stays * place.arrived) as f32);
        let mut ranks: Vec<_> = self.met.nodes().iter().copied().zip(ranks).filter(|(_, rank)| *rank > 0.0).collect();
        ranks.sort_unstable_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(graph: &Graph<f32>, seeds: &[(Node, f32)], epsilon: f32, pushes_max: usize) -> Vec<(Node, f32)> {
        personalised_rank(graph, seeds, 0.85, epsilon, pushes_max, |_| true, |weight| *weight)
    }

    /// A line of nodes.
    fn line(nodes: Node) -> Graph<f32> {
        let mut graph = Graph::new();
        for node in 1..nodes {
            graph.add_edge(node, node - 1, 1.0);
        }
        graph
    }

    #[test]
    fn what_is_nearer_ranks_higher() {
        // The end has one edge only, so its neighbour is visited most.
        let order: Vec<_> = rank(&line(6), &[(0, 1.0)], 1e-7, 100_000).into_iter().map(|(node, _)| node).collect();
        assert_eq!(order, [1, 0, 2, 3, 4, 5]);
    }

    #[test]
    fn heavier_edges_are_followed_more_often() {
        let mut graph = Graph::new();
        graph.add_edge(0, 1, 1.0);
        graph.add_edge(0, 2, 3.0);
        let ranks = rank(&graph, &[(0, 1.0)], 1e-7, 100_000);
        let of = |node| ranks.iter().find(|rank| rank.0 == node).unwrap().1;
        assert!((of(2) / of(1) - 3.0).abs() < 1e-3, "{ranks:?}");
    }

    #[test]
    fn seeds_without_edges_get_their_share() {
        let mut graph = line(2);
        let alone = graph.add_node();
        let ranks = rank(&graph, &[(alone, 1.0)], 1e-6, 100_000);
        assert_eq!(ranks.len(), 1);
        assert!((ranks[0].1 - 1.0).abs() < 1e-4, "{ranks:?}");
        let ranks = rank(&graph, &[(alone, 1.0), (0, 1.0)], 1e-7, 100_000);
        let sum: f32 = ranks.iter().map(|rank| rank.1).sum();
        assert!((sum - 1.0).abs() < 1e-3 && ranks.last().is_some_and(|last| last.0 == alone), "{ranks:?}");
    }

    #[test]
    fn what_cannot_be_walked_has_no_rank() {
        let graph = line(3);
        for seeds in [&[][..], &[(0, 0.0)], &[(0, -1.0)], &[(0, f32::NAN)], &[(99, 1.0)]] {
            assert_eq!(rank(&graph, seeds, 1e-6, 1_000), [], "{seeds:?}");
        }
        let there = personalised_rank(&graph, &[(0, 1.0)], 0.85, 1e-6, 1_000, |_| false, |weight| *weight);
        assert_eq!(there.iter().map(|rank| rank.0).collect::<Vec<_>>(), [0]);
        let there = personalised_rank(&graph, &[(0, 1.0)], 0.85, 1e-6, 1_000, |_| true, |_| f32::NAN);
        assert_eq!(there.iter().map(|rank| rank.0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn the_work_follows_from_epsilon_and_not_from_the_graph() {
        let (near, far) = (rank(&line(1_000), &[(0, 1.0)], 1e-4, 100_000), rank(&line(50_000), &[(0, 1.0)], 1e-4, 100_000));
        assert_eq!(near, far);
        assert!(near.len() < 100, "{}", near.len());
        let few = rank(&line(1_000), &[(500, 1.0)], 1e-7, 3);
        assert!(few.len() <= 6, "three pushes reach no farther: {few:?}");
        assert_eq!(rank(&line(3), &[(0, 1.0)], 1e-7, 0), [], "no push, no rank");
    }
}
