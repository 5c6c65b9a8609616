//! Combines a keyword ranking and a vector ranking: each score is normalised, weighted and added.
//!
//! BM25 has no upper bound, so a keyword score is divided by the best one of the query. A negative cosine counts as zero. Every
//! hit keeps the parts of its score, so that answers can explain it. Adding scores gave better results than adding ranks
//! whenever one of the two searches was weaker.

use std::collections::BTreeMap;

use crate::top::Hit;

/// The weights of the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// For the keyword score, which is at most one.
    pub keyword: f32,
    /// For the cosine. It is larger than the keyword weight, because cosines of good answers are between 0.3 and 0.8.
    pub vector: f32,
    /// For the best score among an item's neighbours. Zero disables the lift.
    pub neighbour: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self { keyword: 1.0, vector: 1.5, neighbour: 0.0 }
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
    /// From vectors; zero if it has none, or one with a negative cosine.
    pub vector: f32,
    /// From its neighbours.
    pub neighbour: f32,
    /// The cosine, if the item has a vector.
    pub cosine: Option<f32>,
}

/// Combines the candidates of both searches, best first. Equal scores are ordered by id.
///
/// `cosine_of` measures an item that only one search found, as `VectorIndex::similarity` does. For the other direction, pass
/// `keyword` the [`crate::keyword::KeywordIndex::scores`] of the items that only the vector search found.
pub fn fuse(keyword: &[Hit], vector: &[Hit], cosine_of: &dyn Fn(u64) -> Option<f32>, weights: &Weights) -> Vec<Fused> {
    let best = keyword.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let mut items: BTreeMap<u64, (f32, Option<f32>)> = BTreeMap::new();
    for hit in keyword.iter().filter(|hit| hit.score > 0.0) {
        let item = items.entry(hit.id).or_default();
        item.0 = item.0.max(hit.score / best);
    }
    for hit in vector {
        items.entry(hit.id).or_default().1 = Some(hit.score);
    }
    let fused = items.into_iter().map(|(id, (keyword, cosine))| part(id, keyword, cosine.or_else(|| cosine_of(id)), weights));
    let mut fused: Vec<Fused> = fused.collect();
    fused.sort_by(best_first);
    fused
}

/// Raises the score of items with good neighbours (of the same session, next in time) by a fraction of the best score among
/// them.
///
/// Neighbours of hits that no search found are added with their gain and their cosine. Only scores from before the lift count,
/// so the result does not depend on the order, and a gain spreads only one step.
pub fn lift(
    hits: &mut Vec<Fused>,
    neighbours_of: &dyn Fn(u64) -> Vec<u64>,
    cosine_of: &dyn Fn(u64) -> Option<f32>,
    weights: &Weights,
) {
    if weights.neighbour <= 0.0 {
        return;
    }
    let mut gains: BTreeMap<u64, f32> = BTreeMap::new();
    for hit in hits.iter() {
        for neighbour in neighbours_of(hit.id).into_iter().filter(|neighbour| *neighbour != hit.id) {
            let gain = gains.entry(neighbour).or_default();
            *gain = gain.max(hit.score * weights.neighbour);
        }
    }
    for hit in hits.iter_mut() {
        hit.neighbour = gains.remove(&hit.id).unwrap_or_default();
        hit.score += hit.neighbour;
    }
    for (id, gain) in gains.into_iter().filter(|(_, gain)| *gain > 0.0) {
        let item = part(id, 0.0, cosine_of(id), weights);
        hits.push(Fused { score: item.score + gain, neighbour: gain, ..item });
    }
    hits.sort_by(best_first);
}

fn part(id: u64, keyword: f32, cosine: Option<f32>, weights: &Weights) -> Fused {
    let keyword = keyword * weights.keyword;
    let vector = cosine.unwrap_or_default().max(0.0) * weights.vector;
    Fused { id, score: keyword + vector, keyword, vector, neighbour: 0.0, cosine }
}

fn best_first(left: &Fused, right: &Fused) -> std::cmp::Ordering {
    right.score.total_cmp(&left.score).then(left.id.cmp(&right.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Weights = Weights { keyword: 1.0, vector: 1.0, neighbour: 0.5 };

    fn hits(list: &[(u64, f32)]) -> Vec<Hit> {
        list.iter().map(|(id, score)| Hit { id: *id, score: *score }).collect()
    }

    fn order(fused: &[Fused]) -> Vec<u64> {
        fused.iter().map(|hit| hit.id).collect()
    }

    #[test]
    fn hits_are_ranked_by_the_sum_of_parts() {
        let fused = fuse(&hits(&[(1, 8.0), (2, 4.0)]), &hits(&[(2, 0.75), (3, 0.5)]), &|_| None, &EVEN);
        assert_eq!(order(&fused), [2, 1, 3]);
        assert_eq!((fused[0].keyword, fused[0].vector, fused[0].score), (0.5, 0.75, 1.25));
        assert_eq!((fused[1].keyword, fused[1].vector, fused[1].cosine), (1.0, 0.0, None));
    }

    #[test]
    fn items_of_only_one_search_are_measured() {
        let fused = fuse(&hits(&[(1, 8.0)]), &[], &|id| (id == 1).then_some(0.25), &EVEN);
        assert_eq!((fused[0].vector, fused[0].cosine), (0.25, Some(0.25)));
    }

    #[test]
    fn negative_cosines_count_as_zero() {
        let fused = fuse(&hits(&[(1, 1.0)]), &hits(&[(1, -0.5), (2, -0.1)]), &|_| None, &EVEN);
        assert_eq!((fused[0].score, fused[0].cosine, fused[1].score), (1.0, Some(-0.5), 0.0));
    }

    #[test]
    fn equal_scores_are_ordered_by_id() {
        let fused = fuse(&hits(&[(9, 2.0), (3, 2.0), (5, 2.0)]), &[], &|_| None, &EVEN);
        assert_eq!(order(&fused), [3, 5, 9]);
        assert_eq!(fuse(&[], &[], &|_| None, &EVEN), []);
        assert_eq!(fuse(&hits(&[(1, 0.0)]), &[], &|_| None, &EVEN), []);
    }

    #[test]
    fn neighbours_lift_each_other_one_step() {
        let neighbours = |id: u64| vec![id - 1, id, id + 1];
        let mut fused = fuse(&hits(&[(10, 8.0), (11, 2.0), (20, 3.0)]), &[], &|_| None, &EVEN);
        lift(&mut fused, &neighbours, &|id| (id == 9).then_some(0.1), &EVEN);
        // 10 gains half of 11; 11 gains half of 10; 9 gains half of 10 and has a cosine; 12 gains from the earlier score of 11.
        let found: Vec<_> = fused.iter().map(|hit| (hit.id, hit.score)).collect();
        assert_eq!(found, [(10, 1.125), (11, 0.75), (9, 0.6), (20, 0.375), (19, 0.1875), (21, 0.1875), (12, 0.125)]);
    }

    #[test]
    fn without_a_weight_nothing_is_lifted() {
        let weights = Weights::default();
        let before = fuse(&hits(&[(10, 8.0)]), &[], &|_| None, &weights);
        let mut after = before.clone();
        lift(&mut after, &|id| vec![id + 1], &|_| None, &weights);
        assert_eq!(before, after);
    }
}
