//! Ranks observations: by keywords and meaning first, adjusted a little by age and learned weight.

use base::Timestamp;
use search::fusion::{Fused, Weights};

use crate::index::Note;

/// The age at which the bonus for a new observation has halved.
const HALF_LIFE_MS: f64 = 7.0 * 24.0 * 60.0 * 60.0 * 1_000.0;

/// The search mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Keywords only.
    Keyword,
    /// Meaning only.
    Vector,
    /// Both, plus neighbours in time.
    #[default]
    Fused,
}

/// The weights of the ranking. The defaults were tuned on the tuning halves of all evaluation sets together
/// (`examples/tune.rs`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// Keywords against meaning against neighbours.
    pub weights: Weights,
    /// The maximum bonus for a new observation, as a part of the score.
    pub recency: f32,
    /// The maximum penalty for a low weight, as a part of the score.
    pub learned: f32,
    /// The minimum cosine for a hit by meaning alone.
    pub cosine_min: f32,
    /// The search mode.
    pub mode: Mode,
}

impl Default for Ranking {
    fn default() -> Self {
        let weights = Weights { neighbours: [0.35, 0.25], ..Weights::default() };
        Self { weights, recency: 0.05, learned: 0.3, cosine_min: 0.2, mode: Mode::Fused }
    }
}

/// The parts of a score. They add up to the score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Why {
    /// From keywords.
    pub keyword: f32,
    /// From the meaning.
    pub vector: f32,
    /// From neighbours in time of the same session.
    pub neighbours: f32,
    /// From recency.
    pub recency: f32,
    /// From the learned weight: zero at best, else negative.
    pub weight: f32,
}

/// A score, a part of one, or a weight, rounded to four decimals for people and models.
pub fn rounded(number: impl Into<f64>) -> f64 {
    (number.into() * 10_000.0).round() / 10_000.0
}

/// A ranked hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) number: u64,
    pub(crate) score: f32,
    pub(crate) why: Why,
}

impl Ranking {
    /// Ranks the hits, best first. A text with no keyword and too little similarity is not a hit.
    pub(crate) fn order(&self, hits: &[Fused], note_of: impl Fn(u64) -> Option<Note>, now: Timestamp) -> Vec<Ranked> {
        let ranked =
            hits.iter().filter(|hit| hit.is_hit(self.cosine_min)).filter_map(|hit| Some(self.bent(hit, note_of(hit.id)?, now)));
        let mut ranked: Vec<Ranked> = ranked.collect();
        ranked.sort_by(|left, right| right.score.total_cmp(&left.score).then(right.number.cmp(&left.number)));
        ranked
    }

    fn bent(&self, hit: &Fused, note: Note, now: Timestamp) -> Ranked {
        let age_ms = (now.ms() - note.created_at.ms()).max(0) as f64;
        let freshness = 0.5_f64.powf(age_ms / HALF_LIFE_MS) as f32;
        let why = Why {
            keyword: hit.keyword,
            vector: hit.vector,
            neighbours: hit.neighbour,
            recency: hit.score * self.recency * freshness,
            weight: hit.score * self.learned * (note.weight - 1.0),
        };
        Ranked { number: hit.id, score: hit.score + why.recency + why.weight, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: u64, keyword: f32, cosine: Option<f32>) -> Fused {
        let vector = cosine.unwrap_or_default().max(0.0);
        Fused { id, score: keyword + vector, keyword, vector, neighbour: 0.0, cosine }
    }

    fn order(hits: Vec<Fused>, note: impl Fn(u64) -> (i64, f32)) -> Vec<Ranked> {
        let now = Timestamp::from_ms(1_000 * 24 * 60 * 60 * 1_000);
        let note_of = |id| {
            let (age_days, weight) = note(id);
            Some(Note { created_at: now.plus_ms(-age_days * 24 * 60 * 60 * 1_000), weight })
        };
        Ranking::default().order(&hits, note_of, now)
    }

    #[test]
    fn equal_hits_are_ordered_by_age_and_weight() {
        let ranked = order(vec![hit(1, 1.0, None), hit(2, 1.0, None)], |id| (if id == 2 { 0 } else { 30 }, 1.0));
        assert_eq!(ranked[0].number, 2);
        let ranked = order(vec![hit(1, 1.0, None), hit(2, 1.0, None)], |id| (1, if id == 1 { 1.0 } else { 0.2 }));
        assert_eq!(ranked[0].number, 1);
    }

    #[test]
    fn age_and_weight_affect_the_order_and_hide_nothing() {
        let ranked = order(vec![hit(1, 1.0, None), hit(2, 0.5, None)], |id| if id == 1 { (10_000, 0.0) } else { (0, 1.0) });
        assert_eq!(ranked.iter().map(|ranked| ranked.number).collect::<Vec<_>>(), [1, 2], "twice as good stays first");
        assert!(ranked.iter().all(|ranked| ranked.score > 0.0));
    }

    #[test]
    fn the_parts_add_up_to_the_score() {
        for ranked in order(vec![hit(1, 0.7, Some(0.4)), hit(2, 0.0, Some(0.3))], |_| (3, 0.8)) {
            let why = ranked.why;
            let sum = why.keyword + why.vector + why.neighbours + why.recency + why.weight;
            assert!((sum - ranked.score).abs() < 1e-6);
        }
    }

    #[test]
    fn scores_are_rounded_to_four_decimals() {
        assert_eq!([rounded(0.1), rounded(1.0 / 3.0), rounded(-0.000_04), rounded(5.5)], [0.1, 0.3333, 0.0, 5.5]);
    }

    #[test]
    fn low_similarity_without_a_keyword_is_not_a_hit() {
        assert!(order(vec![hit(1, 0.0, Some(0.1))], |_| (0, 1.0)).is_empty());
        assert_eq!(order(vec![hit(1, 0.1, Some(0.1))], |_| (0, 1.0)).len(), 1);
    }
}
