//! Combines a keyword ranking and a vector ranking: each score is divided by its spread among the candidates, weighted and added.
//!
//! Neither score means the same everywhere. BM25 has no upper bound. The cosines of unrelated texts are about 0.4 in one project
//! and 0.02 in another. Divided by their spread among the candidates of a query, both are comparable. Keywords also count less if
//! they cover little of the query. Every hit keeps the parts of its score, so that answers can explain it.
//! `docs/decisions/0019-ranking.md` has the measurements.

use std::collections::BTreeMap;

use crate::top::Hit;

/// The number of candidates that the usual spreads count as. They decide if there are only a few candidates.
const USUAL_COUNT: f32 = 5.0;
/// The usual spread of keyword scores, as a share of the best one.
const USUAL_KEYWORD_SPREAD: f32 = 0.25;
/// The usual spread of cosines.
const USUAL_COSINE_SPREAD: f32 = 0.1;
/// How many spreads below the lowest cosine a cosine is worth nothing, so that even the only candidate has a score.
const FLOOR_SPREADS: f32 = 2.0;

/// The weights of the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// For keywords that cover the whole query. It falls with the square root of what they cover.
    pub keyword: f32,
    /// For the cosine.
    pub vector: f32,
    /// For the best neighbours one step and two steps away. Zeros disable the lift.
    pub neighbours: [f32; 2],
    /// A neighbour with a higher cosine than this is a variant of the same text, and lifts nothing.
    pub alike_max: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self { keyword: 1.2, vector: 1.0, neighbours: [0.0, 0.0], alike_max: 0.65 }
    }
}

/// A hit and the parts of its score. The score is the sum of the three weighted parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fused {
    /// The caller's id.
    pub id: u64,
    /// The score, which determines the order.
    pub score: f32,
    /// From keywords; zero if it has none of them.
    pub keyword: f32,
    /// From vectors; zero if it has none.
    pub vector: f32,
    /// From its neighbours.
    pub neighbour: f32,
    /// The cosine, if the item has a vector.
    pub cosine: Option<f32>,
}

impl Fused {
    /// Whether the item matches by itself: by a keyword, or by enough similarity. Neighbours lift hits but do not make them.
    pub fn is_hit(&self, cosine_min: f32) -> bool {
        self.keyword > 0.0 || self.cosine.is_some_and(|cosine| cosine >= cosine_min)
    }
}

/// The candidates of one query, best first, and what their scores are measured with.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    /// Best first. Equal scores are ordered by id.
    pub hits: Vec<Fused>,
    scale: Scale,
}

/// What a keyword score and a cosine are worth for one query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scale {
    keyword: f32,
    vector: f32,
    floor: f32,
}

/// Combines the candidates of both searches.
///
/// `keyword` needs the scores of all candidates, so add the [`crate::keyword::KeywordIndex::scores`] of those that only the vector
/// search found. `cosine_of` measures those that only the keyword search found. `ceiling` is the
/// [`crate::keyword::KeywordIndex::ceiling`] of the query.
pub fn fuse(
    keyword: &[Hit],
    ceiling: f32,
    vector: &[Hit],
    cosine_of: &dyn Fn(u64) -> Option<f32>,
    weights: &Weights,
) -> Candidates {
    let mut items: BTreeMap<u64, (f32, Option<f32>)> = BTreeMap::new();
    for hit in keyword.iter().filter(|hit| hit.score > 0.0) {
        let item = items.entry(hit.id).or_default();
        item.0 = item.0.max(hit.score);
    }
    for hit in vector {
        items.entry(hit.id).or_default().1 = Some(hit.score);
    }
    for (id, (_, cosine)) in &mut items {
        *cosine = cosine.or_else(|| cosine_of(*id));
    }
    let scale = Scale::of(&items, ceiling, weights);
    let mut hits: Vec<Fused> = items.into_iter().map(|(id, (keyword, cosine))| scale.measure(id, keyword, cosine)).collect();
    hits.sort_by(best_first);
    Candidates { hits, scale }
}

impl Scale {
    fn of(items: &BTreeMap<u64, (f32, Option<f32>)>, ceiling: f32, weights: &Weights) -> Self {
        let best = items.values().map(|(keyword, _)| *keyword).fold(0.0, f32::max);
        let mut scale = Self::default();
        if best > 0.0 {
            let coverage = if ceiling > 0.0 { (best / ceiling).clamp(0.0, 1.0) } else { 1.0 };
            let spread = spread(items.values().map(|(keyword, _)| keyword / best), USUAL_KEYWORD_SPREAD);
            scale.keyword = weights.keyword * coverage.sqrt() / (best * spread);
        }
        let cosines = || items.values().filter_map(|(_, cosine)| *cosine);
        let spread = spread(cosines(), USUAL_COSINE_SPREAD);
        scale.floor = cosines().fold(1.0, f32::min) - FLOOR_SPREADS * spread;
        scale.vector = weights.vector / spread;
        scale
    }

    fn measure(&self, id: u64, keyword: f32, cosine: Option<f32>) -> Fused {
        let (keyword, vector) = (keyword * self.keyword, self.vector(cosine));
        Fused { id, score: keyword + vector, keyword, vector, neighbour: 0.0, cosine }
    }

    fn vector(&self, cosine: Option<f32>) -> f32 {
        cosine.map_or(0.0, |cosine| (cosine - self.floor).max(0.0) * self.vector)
    }
}

/// The standard deviation of some numbers, drawn to the usual one if they are few.
fn spread(numbers: impl Iterator<Item = f32>, usual: f32) -> f32 {
    let (count, sum, squares) =
        numbers.fold((0.0, 0.0, 0.0), |(count, sum, squares), number| (count + 1.0, sum + number, squares + number * number));
    let variance: f32 = if count > 0.0 { (squares / count - (sum / count) * (sum / count)).max(0.0) } else { 0.0 };
    ((count * variance + USUAL_COUNT * usual * usual) / (count + USUAL_COUNT)).sqrt()
}

/// What [`Candidates::lift`] needs to know about neighbours.
pub struct Neighbourhood<'a> {
    /// The items that are one step (0) or two steps (1) away from an item.
    pub neighbours_of: &'a dyn Fn(u64, usize) -> Vec<u64>,
    /// The cosine of an item and the query.
    pub cosine_of: &'a dyn Fn(u64) -> Option<f32>,
    /// The cosine of two items.
    pub alike: &'a dyn Fn(u64, u64) -> Option<f32>,
}

impl Candidates {
    /// The score of an item without keywords that no search found.
    pub fn by_meaning(&self, cosine: Option<f32>) -> f32 {
        self.scale.vector(cosine)
    }

    /// Raises the score of items with good neighbours (of the same session, next in time): by a fraction of what the best of
    /// them has above the average.
    ///
    /// Neighbours of hits that no search found are added. Only scores from before the lift count, so the result does not depend
    /// on the order, and a gain does not spread on.
    pub fn lift(&mut self, around: &Neighbourhood<'_>, weights: &Weights) {
        let average = self.hits.iter().map(|hit| hit.score).sum::<f32>() / self.hits.len().max(1) as f32;
        let mut gains: BTreeMap<u64, [f32; 2]> = BTreeMap::new();
        for hit in self.hits.iter().filter(|hit| hit.score > average) {
            for (step, weight) in weights.neighbours.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
                let gain = weight * (hit.score - average);
                for neighbour in (around.neighbours_of)(hit.id, step) {
                    let known = gains.get(&neighbour).and_then(|known| known.get(step)).copied().unwrap_or_default();
                    if gain > known && (around.alike)(neighbour, hit.id).is_none_or(|cosine| cosine <= weights.alike_max) {
                        gains.entry(neighbour).or_default().get_mut(step).into_iter().for_each(|known| *known = gain);
                    }
                }
            }
        }
        let lifted = |hit: Fused, gain: f32| Fused { score: hit.score + gain, neighbour: gain, ..hit };
        for hit in &mut self.hits {
            *hit = lifted(*hit, gains.remove(&hit.id).unwrap_or_default().into_iter().sum());
        }
        for (id, gain) in gains {
            let hit = self.scale.measure(id, 0.0, (around.cosine_of)(id));
            self.hits.push(lifted(hit, gain.into_iter().sum()));
        }
        self.hits.sort_by(best_first);
    }
}

fn best_first(left: &Fused, right: &Fused) -> std::cmp::Ordering {
    right.score.total_cmp(&left.score).then(left.id.cmp(&right.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Weights = Weights { keyword: 1.0, vector: 1.0, neighbours: [0.5, 0.25], alike_max: 0.9 };

    fn hits(list: &[(u64, f32)]) -> Vec<Hit> {
        list.iter().map(|(id, score)| Hit { id: *id, score: *score }).collect()
    }

    fn order(candidates: &Candidates) -> Vec<u64> {
        candidates.hits.iter().map(|hit| hit.id).collect()
    }

    fn fused(keyword: &[(u64, f32)], ceiling: f32, vector: &[(u64, f32)]) -> Candidates {
        fuse(&hits(keyword), ceiling, &hits(vector), &|_| None, &EVEN)
    }

    #[test]
    fn hits_are_ranked_by_the_sum_of_parts() {
        let found = fused(&[(1, 8.0), (2, 6.0)], 8.0, &[(2, 0.75), (3, 0.5)]);
        assert_eq!(order(&found), [2, 1, 3]);
        for hit in &found.hits {
            assert!((hit.keyword + hit.vector - hit.score).abs() < 1e-6, "{hit:?}");
        }
        assert_eq!((found.hits[1].vector, found.hits[1].cosine), (0.0, None));
        assert!((found.hits[2].score - FLOOR_SPREADS).abs() < 1e-5, "the lowest cosine of all candidates counts a little");
        assert!((fused(&[], 0.0, &[(1, 0.3)]).hits[0].score - FLOOR_SPREADS).abs() < 1e-5, "the only candidate, too");
    }

    #[test]
    fn items_of_only_one_search_are_measured() {
        let found = fuse(&hits(&[(1, 8.0)]), 8.0, &hits(&[(2, 0.1)]), &|id| (id == 1).then_some(0.25), &EVEN);
        assert_eq!((found.hits[0].id, found.hits[0].cosine), (1, Some(0.25)));
        assert!(found.hits[0].vector > 0.0);
    }

    #[test]
    fn the_scale_of_either_score_does_not_matter() {
        let list = [(1, 0.9), (2, 0.5), (3, 0.45), (4, 0.4)];
        let words = [(4, 3.0), (3, 1.0), (2, 0.5)];
        let scaled =
            |list: &[(u64, f32)], by: f32, plus: f32| list.iter().map(|(id, n)| (*id, n * by + plus)).collect::<Vec<_>>();
        let expected = fused(&words, 10.0, &list);
        let louder = fused(&scaled(&words, 100.0, 0.0), 1_000.0, &list);
        let shifted = fused(&words, 10.0, &scaled(&list, 1.0, 0.05));
        for (one, other) in expected.hits.iter().zip(&louder.hits).chain(expected.hits.iter().zip(&shifted.hits)) {
            assert!(one.id == other.id && (one.score - other.score).abs() < 1e-3, "{one:?} {other:?}");
        }
    }

    #[test]
    fn keywords_that_cover_little_count_less() {
        let score = |ceiling: f32| fused(&[(1, 8.0), (2, 4.0)], ceiling, &[]).hits[0].keyword;
        assert!((score(8.0) - 2.0 * score(32.0)).abs() < 1e-5, "{} {}", score(8.0), score(32.0));
    }

    #[test]
    fn equal_scores_are_ordered_by_id() {
        assert_eq!(order(&fused(&[(9, 2.0), (3, 2.0), (5, 2.0)], 2.0, &[])), [3, 5, 9]);
        assert!(fused(&[], 0.0, &[]).hits.is_empty() && fused(&[(1, 0.0)], 0.0, &[]).hits.is_empty());
    }

    fn lifted(found: &Candidates, alike: &dyn Fn(u64, u64) -> Option<f32>) -> Vec<(u64, f32)> {
        let mut found = found.clone();
        let step = |id: u64, step: usize| vec![id - 1 - step as u64, id + 1 + step as u64];
        found.lift(&Neighbourhood { neighbours_of: &step, cosine_of: &|_| None, alike }, &EVEN);
        found.hits.iter().map(|hit| (hit.id, hit.neighbour)).collect()
    }

    #[test]
    fn good_hits_lift_their_neighbours_two_steps() {
        let found = fused(&[(10, 8.0), (11, 1.0), (20, 1.0)], 8.0, &[]);
        let above = found.hits[0].score - found.hits.iter().map(|hit| hit.score).sum::<f32>() / 3.0;
        let gains: BTreeMap<u64, f32> = lifted(&found, &|_, _| None).into_iter().collect();
        let expected = [(8, 0.25), (9, 0.5), (10, 0.0), (11, 0.5), (12, 0.25), (20, 0.0)];
        assert_eq!(gains.len(), expected.len(), "{gains:?}");
        for (id, part) in expected {
            assert!((gains[&id] - part * above).abs() < 1e-6, "{id}: {gains:?}");
        }
    }

    #[test]
    fn variants_of_a_text_do_not_lift_each_other() {
        let found = fused(&[(10, 8.0), (11, 1.0), (20, 1.0)], 8.0, &[]);
        let alike = |left: u64, right: u64| Some(if left.min(right) == 10 && left.max(right) == 11 { 0.95 } else { 0.1 });
        let gains: BTreeMap<u64, f32> = lifted(&found, &alike).into_iter().collect();
        assert!(gains[&11] == 0.0 && gains[&9] > 0.0, "{gains:?}");
    }
}
