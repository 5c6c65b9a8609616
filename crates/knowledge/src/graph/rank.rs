//! The order of facts: how well each answers by itself, lifted by what lies near the best answers, bent a little by how well it has
//! served.

use std::collections::HashMap;

use base::Timestamp;
use base::limits::GRAPH_LOOK_MAX;
use graph::{Direction, EdgeIndex, Node, personalised_rank};
use search::fusion::{Fused, Weights};

use crate::index::{Fact, Facts};

/// Hits by words and meaning where the walk begins.
const SEEDS_MAX: usize = 40;
/// Triplets of one entity that the walk follows, heaviest first.
const FAN_OUT_MAX: usize = 64;
/// Entities that the walk reaches.
const NODES_MAX: usize = 2_000;
/// How much of an edge's learned weight is its own; its two entities have the rest.
const OWN_SHARE: f32 = 0.6;

/// How much each part counts. The defaults were chosen on the tuning half of the evaluation set (`examples/tune_graph.rs`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphRanking {
    /// Words against meaning, where a question enters.
    pub weights: Weights,
    /// The cosine from which on meaning alone makes a hit.
    pub cosine_min: f32,
    /// What is left of a score one hop further.
    pub hop: f32,
    /// How much lying near good hits counts beside answering by itself.
    pub near: f32,
    /// How much of that nearness is personalised PageRank instead of hops.
    pub pagerank: f32,
    /// The most that a learned weight adds or takes, as a part of the score.
    pub learned: f32,
}

impl Default for GraphRanking {
    fn default() -> Self {
        let weights = Weights { keyword: 1.0, vector: 8.0, neighbour: 0.0 };
        // PageRank cost what hops had gained, at every weight that was tried: it counts for nothing until a set says otherwise.
        Self { weights, cosine_min: 0.2, hop: 0.9, near: 1.0, pagerank: 0.0, learned: 0.3 }
    }
}

/// What is ranked.
pub(super) struct Question<'a> {
    pub(super) facts: &'a Facts,
    pub(super) ranking: &'a GraphRanking,
    /// How many hops are walked.
    pub(super) depth: u32,
    /// When.
    pub(super) at: Timestamp,
    /// How alike a triplet's text and the question are by meaning.
    pub(super) cosine_of: &'a dyn Fn(i64) -> Option<f32>,
}

/// Facts in their order, and whether the walk left something out.
pub(super) struct Ordered {
    /// Triplets, best first, with scores from 0 to 1.
    pub(super) triplets: Vec<(i64, f32)>,
    pub(super) truncated: bool,
}

/// Scores of what the walk has reached.
#[derive(Default)]
struct Reached {
    nodes: HashMap<Node, f32>,
    edges: HashMap<EdgeIndex, f32>,
    truncated: bool,
}

impl Question<'_> {
    /// Orders what words and meaning found, and what lies around it.
    pub(super) fn order(&self, hits: &[Fused]) -> Ordered {
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let hits = hits.iter().filter(|hit| hit.keyword > 0.0 || hit.cosine >= Some(self.ranking.cosine_min));
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
        let own = |edge: EdgeIndex, fact: &Fact| {
            let by_meaning = || (self.cosine_of)(fact.number).map(|cosine| cosine.max(0.0) * self.ranking.weights.vector / best);
            direct.get(&edge).copied().or_else(by_meaning).unwrap_or_default()
        };
        let edges: std::collections::HashSet<EdgeIndex> = direct.keys().chain(near.edges.keys()).copied().collect();
        let scored = edges.into_iter().filter_map(|edge| {
            let found = self.facts.graph.edge(edge)?;
            let near = near.edges.get(&edge).copied().unwrap_or_default();
            let score = (own(edge, found.payload) + self.ranking.near * near) / (1.0 + self.ranking.near);
            let ends = [found.source, found.target].map(|end| self.facts.entity_weight(end));
            let weight = OWN_SHARE * found.payload.weight + (1.0 - OWN_SHARE) * (ends[0] + ends[1]) / 2.0;
            let bent = score * (1.0 + self.ranking.learned * (2.0 * weight - 1.0)) / (1.0 + self.ranking.learned);
            Some((found.payload.number, bent))
        });
        let mut triplets: Vec<(i64, f32)> = scored.collect();
        triplets.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
        Ordered { triplets, truncated: near.truncated }
    }

    /// What lies around the seeds: each hop leaves a part of the score, and of several ways the best counts.
    fn walk(&self, seeds: &HashMap<Node, f32>) -> Reached {
        let mut reached = Reached { nodes: seeds.clone(), ..Reached::default() };
        let mut frontier: Vec<(Node, f32)> = seeds.iter().map(|(node, score)| (*node, *score)).collect();
        for _ in 0..self.depth {
            let mut next: HashMap<Node, f32> = HashMap::new();
            frontier.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
            for (node, score) in frontier {
                let mut edges: Vec<(EdgeIndex, Node, f32)> = self.standing(node).collect();
                if edges.len() > FAN_OUT_MAX {
                    edges.sort_by(|left, right| right.2.total_cmp(&left.2).then(left.0.cmp(&right.0)));
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
        if self.ranking.pagerank > 0.0 {
            self.mix_in_pagerank(seeds, &mut reached);
        }
        reached
    }

    /// The edges of a node that stand, with their other ends and weights. Of a hub, as many as are worth a look.
    fn standing(&self, node: Node) -> impl Iterator<Item = (EdgeIndex, Node, f32)> {
        let standing = self.facts.graph.edges_of(node, Direction::Both).filter_map(|(edge, other)| {
            let fact = self.facts.graph.edge(edge)?.payload;
            fact.stands_at(self.at).then_some((edge, other, fact.weight))
        });
        standing.take(GRAPH_LOOK_MAX)
    }

    fn mix_in_pagerank(&self, seeds: &HashMap<Node, f32>, reached: &mut Reached) {
        const DAMPING: f32 = 0.85;
        const EPSILON: f32 = 1e-4;
        const PUSHES_MAX: usize = 20_000;
        let mut seeds: Vec<(Node, f32)> = seeds.iter().map(|(node, score)| (*node, *score)).collect();
        seeds.sort_by_key(|(node, _)| *node);
        let allow = |fact: &Fact| fact.stands_at(self.at);
        let ranks = personalised_rank(&self.facts.graph, &seeds, DAMPING, EPSILON, PUSHES_MAX, allow, |fact| fact.weight);
        let best = ranks.first().map_or(1.0, |(_, rank)| *rank);
        let ranks: HashMap<Node, f32> = ranks.into_iter().map(|(node, rank)| (node, rank / best)).collect();
        for (edge, score) in &mut reached.edges {
            let Some(found) = self.facts.graph.edge(*edge) else { continue };
            let rank = [found.source, found.target].iter().filter_map(|end| ranks.get(end)).sum::<f32>() / 2.0;
            *score = (1.0 - self.ranking.pagerank) * *score + self.ranking.pagerank * rank;
        }
    }
}

/// Raises a score, and says whether it rose.
fn raise<K: std::hash::Hash + Eq>(scores: &mut HashMap<K, f32>, key: K, score: f32) -> bool {
    let known = scores.entry(key).or_insert(f32::MIN);
    let rises = score > *known;
    *known = known.max(score);
    rises
}
