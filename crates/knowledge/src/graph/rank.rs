//! Ranks facts: by how well each one matches, plus a bonus near the best matches, adjusted a little by its rating.

use std::collections::HashMap;

use base::Timestamp;
use base::limits::GRAPH_LOOK_MAX;
use graph::{Direction, EdgeIndex, Node};
use search::fusion::{Candidates, Fused, Weights};

use crate::index::{Fact, Facts};

/// The maximum number of search hits where the walk starts.
const SEEDS_MAX: usize = 40;
/// The maximum number of triplets of one entity that the walk follows, heaviest first.
const FAN_OUT_MAX: usize = 64;
/// The maximum number of entities that the walk reaches.
const NODES_MAX: usize = 2_000;
/// The maximum number of triplets that the walk reaches. It goes from the best entities to others, so the rest is far off.
const EDGES_MAX: usize = 3_000;
/// How many of the nearest texts the search by meaning finds, at least. See `Texts::find`.
const NEAREST: usize = 100;
/// How much of an edge's weight is its own. The rest comes from its two entities.
const OWN_SHARE: f32 = 0.6;

/// The weights of the ranking. The defaults were tuned on the tuning half of the evaluation set (`examples/tune_graph.rs`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphRanking {
    /// Keywords against meaning, for the entry points.
    pub weights: Weights,
    /// The minimum cosine for a hit by meaning alone.
    pub cosine_min: f32,
    /// The part of a score that is left after one hop.
    pub hop: f32,
    /// How much being near good hits counts in addition to the own match.
    pub near: f32,
    /// The maximum effect of the learned weight, as a part of the score.
    pub learned: f32,
}

impl Default for GraphRanking {
    fn default() -> Self {
        Self { weights: Weights { keyword: 0.9, ..Weights::default() }, cosine_min: 0.2, hop: 0.9, near: 1.0, learned: 0.3 }
    }
}

/// The input of the ranking.
pub(super) struct Question<'a> {
    pub(super) facts: &'a Facts,
    pub(super) ranking: &'a GraphRanking,
    /// How many hops to walk.
    pub(super) depth: u32,
    /// How many triplets are wanted. The order of the others does not matter.
    pub(super) top_k: usize,
    /// The time at which facts must be current.
    pub(super) at: Timestamp,
    /// The similarity of a triplet's text and the query by meaning.
    pub(super) cosine_of: &'a dyn Fn(i64) -> Option<f32>,
}

/// Ranked facts, and whether the walk skipped some.
pub(super) struct Ordered {
    /// Triplets, best first, with scores from 0 to 1.
    pub(super) triplets: Vec<(i64, f32)>,
    pub(super) truncated: bool,
}

/// The scores of everything that the walk reached.
#[derive(Default)]
struct Reached {
    nodes: HashMap<Node, f32>,
    edges: HashMap<EdgeIndex, f32>,
    truncated: bool,
}

impl Question<'_> {
    /// Ranks the search hits and the facts around them.
    pub(super) fn order(&self, found: &Candidates) -> Ordered {
        let best = found.hits.first().map_or(0.0, |hit| hit.score);
        let furthest = furthest(&found.hits);
        let hits = found.hits.iter().filter(|hit| hit.is_hit(self.ranking.cosine_min));
        let (mut seeds, mut direct) = (HashMap::new(), HashMap::new());
        for (place, hit) in hits.enumerate().filter(|_| best > 0.0) {
            let (number, score) = (hit.id.cast_signed(), hit.score / best);
            let mut seed = |node: Node, score: f32| {
                if place < SEEDS_MAX {
                    raise(&mut seeds, node, score);
                }
            };
            if let Some(edge) = self.facts.edge(number) {
                direct.insert(edge, score);
                if let Some(found) = self.facts.graph.edge(edge) {
                    seed(found.source, score * self.ranking.hop);
                    seed(found.target, score * self.ranking.hop);
                }
            } else if let Some(node) = self.facts.node(number) {
                seed(node, score);
            }
        }
        let near = if self.depth == 0 { Reached::default() } else { self.walk(&seeds) };
        let edges: std::collections::HashSet<EdgeIndex> = direct.keys().chain(near.edges.keys()).copied().collect();
        let by_meaning = |cosine: Option<f32>| found.by_meaning(cosine) / best;
        let mut triplets: Vec<(i64, f32)> = Vec::with_capacity(direct.len());
        let mut unmeasured: Vec<(&Fact, f32, f32)> = Vec::with_capacity(near.edges.len());
        for edge in edges {
            let Some(known) = self.facts.graph.edge(edge) else { continue };
            let near = near.edges.get(&edge).copied().unwrap_or_default();
            let bent = self.bent([known.source, known.target], known.payload);
            match direct.get(&edge) {
                Some(own) => triplets.push((known.payload.number, self.together(*own, near) * bent)),
                None => unmeasured.push((known.payload, near, bent)),
            }
        }
        // A text that the search did not find is no nearer than the furthest that it found. Most of them need not be measured,
        // because even then they would not be among the wanted ones.
        let floor = self.floor(&triplets);
        unmeasured.retain(|(_, near, bent)| self.together(by_meaning(furthest), *near) * bent >= floor);
        triplets.extend(unmeasured.into_iter().map(|(fact, near, bent)| {
            let own = by_meaning((self.cosine_of)(fact.number));
            (fact.number, self.together(own, near) * bent)
        }));
        triplets.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
        Ordered { triplets, truncated: near.truncated }
    }

    /// The score of a triplet from its own match and from being near others.
    fn together(&self, own: f32, near: f32) -> f32 {
        (own + self.ranking.near * near) / (1.0 + self.ranking.near)
    }

    /// The factor by which ratings change a score, at most one.
    fn bent(&self, ends: [Node; 2], fact: &Fact) -> f32 {
        let ends = ends.map(|end| self.facts.entity_weight(end));
        let weight = OWN_SHARE * fact.weight + (1.0 - OWN_SHARE) * (ends[0] + ends[1]) / 2.0;
        (1.0 + self.ranking.learned * (2.0 * weight - 1.0)) / (1.0 + self.ranking.learned)
    }

    /// The score that the last of the wanted triplets has at least.
    fn floor(&self, triplets: &[(i64, f32)]) -> f32 {
        let mut scores: Vec<f32> = triplets.iter().map(|(_, score)| *score).collect();
        match self.top_k.checked_sub(1).filter(|last| *last < scores.len()) {
            Some(last) => *scores.select_nth_unstable_by(last, |left, right| right.total_cmp(left)).1,
            None => f32::NEG_INFINITY,
        }
    }

    /// Walks from the seeds: each hop leaves a part of the score, and the best of several paths counts.
    fn walk(&self, seeds: &HashMap<Node, f32>) -> Reached {
        let mut reached = Reached { nodes: seeds.clone(), ..Reached::default() };
        let mut frontier: Vec<(Node, f32)> = seeds.iter().map(|(node, score)| (*node, *score)).collect();
        for _ in 0..self.depth {
            let mut next: HashMap<Node, f32> = HashMap::new();
            frontier.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
            for (node, score) in frontier {
                let mut edges: Vec<(EdgeIndex, Node, f32)> = self.standing(node).collect();
                if reached.edges.len() >= EDGES_MAX {
                    reached.truncated |= !edges.is_empty();
                    return reached;
                }
                if edges.len() > FAN_OUT_MAX {
                    let heaviest = |left: &(EdgeIndex, Node, f32), right: &(EdgeIndex, Node, f32)| {
                        right.2.total_cmp(&left.2).then(left.0.cmp(&right.0))
                    };
                    edges.select_nth_unstable_by(FAN_OUT_MAX - 1, heaviest);
                    edges.truncate(FAN_OUT_MAX);
                    reached.truncated = true;
                }
                for (edge, other, _) in edges {
                    let left = score * self.ranking.hop;
                    raise(&mut reached.edges, edge, left);
                    let is_known = reached.nodes.contains_key(&other);
                    if !is_known && reached.nodes.len() >= NODES_MAX {
                        reached.truncated = true;
                    } else if raise(&mut reached.nodes, other, left) {
                        raise(&mut next, other, left);
                    }
                }
            }
            frontier = next.into_iter().collect();
        }
        reached
    }

    /// The current edges of a node, with their other ends and weights. For a hub, only the heaviest ones.
    fn standing(&self, node: Node) -> impl Iterator<Item = (EdgeIndex, Node, f32)> {
        let standing = self.facts.graph.edges_of(node, Direction::Both).filter_map(|(edge, other)| {
            let fact = self.facts.graph.edge(edge)?.payload;
            self.facts.stands(fact, self.at).then_some((edge, other, fact.weight))
        });
        standing.take(GRAPH_LOOK_MAX)
    }
}

/// The cosine of the furthest text that the search by meaning found.
fn furthest(hits: &[Fused]) -> Option<f32> {
    let mut cosines: Vec<f32> = hits.iter().filter_map(|hit| hit.cosine).collect();
    cosines.sort_by(|left, right| right.total_cmp(left));
    cosines.get(NEAREST - 1).or(cosines.last()).copied()
}

/// Raises a score, and returns whether it rose.
fn raise<K: std::hash::Hash + Eq>(scores: &mut HashMap<K, f32>, key: K, score: f32) -> bool {
    let known = scores.entry(key).or_insert(f32::MIN);
    let rises = score > *known;
    *known = known.max(score);
    rises
}
