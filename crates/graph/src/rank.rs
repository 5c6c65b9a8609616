//! What matters around some nodes: how often a walker is where, who follows edges at random and now and then starts again at one of them.
//!
//! The walker's chance is pushed outwards from the seeds and left where little of it arrives, so the work follows from `epsilon`, not from the size of the graph
//! (the local push of Andersen, Chung and Lang, over edges that are crossed both ways).

use std::collections::VecDeque;

use crate::numbering::Numbering;
use crate::storage::Graph;
use crate::{Direction, Node};

/// The personalised PageRank of the nodes around `seeds`, best first. Ranks sum up to one, less what was not worth pushing on.
///
/// The walker follows an edge with the chance `damping`, each as often as its weight says, and otherwise starts again at a seed, each as often as its number says. A node
/// is pushed from while what has arrived at it is more than `epsilon` for each of its edges, and at most `pushes_max` times in all. Edges and seeds without
/// a positive weight do not count.
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
    let seeds = seeds.iter().filter_map(|(node, share)| Some((graph.start(*node)?, is_positive(*share)?)));
    let seeds: Vec<_> = seeds.collect();
    let total: f64 = seeds.iter().map(|(_, share)| share).sum();
    let seeds: Vec<_> = seeds.into_iter().map(|(node, share)| (node, share / total)).collect();

    // What is to start again at the seeds: at first the walker, then whoever is at a node without edges.
    let mut restarting = 1.0;
    let mut edges = Vec::new();
    let mut pushes = 0;
    while restarting > ranking.epsilon && pushes < pushes_max {
        for (node, share) in &seeds {
            ranking.arrive(*node, restarting * share);
        }
        restarting = 0.0;
        while pushes < pushes_max
            && let Some(number) = ranking.queue.pop_front()
        {
            pushes += 1;
            let Some((node, arrived)) = ranking.take(number, 1.0 - damping) else { continue };
            edges.clear();
            edges.extend(graph.entries(node, Direction::Both).filter_map(|entry| {
                let payload = graph.payload(entry.edge).filter(|payload| allow(payload))?;
                Some((entry.other, is_positive(weight(payload))?))
            }));
            let sum: f64 = edges.iter().map(|(_, weight)| weight).sum();
            if edges.is_empty() {
                restarting += damping * arrived;
            }
            for (other, weight) in &edges {
                ranking.arrive(*other, damping * arrived * weight / sum);
            }
        }
    }
    ranking.best_first()
}

fn is_positive(weight: f32) -> Option<f64> {
    (weight > 0.0 && weight.is_finite()).then_some(f64::from(weight))
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

    fn best_first(&self) -> Vec<(Node, f32)> {
        let nodes = self.met.nodes().iter().zip(&self.places);
        let mut ranks: Vec<_> = nodes.map(|(node, place)| (*node, place.rank as f32)).filter(|(_, rank)| *rank > 0.0).collect();
        ranks.sort_unstable_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranks
    }
}
