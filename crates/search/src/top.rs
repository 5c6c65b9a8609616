//! Keeps the best few of many items, in an order that does not depend on the order of arrival.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An item and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The caller's id.
    pub id: u64,
    /// Larger is better. Each search defines its own scale.
    pub score: f32,
}

/// The order of results: best first, and by id among equal scores.
pub(crate) fn best_first(left: &Hit, right: &Hit) -> Ordering {
    right.score.total_cmp(&left.score).then(left.id.cmp(&right.id))
}

/// Keeps the best `limit` hits.
pub(crate) struct Top {
    limit: usize,
    /// The worst hit is on top, where a better one replaces it.
    kept: BinaryHeap<Ranked>,
}

struct Ranked(Hit);

impl Top {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: BinaryHeap::new() }
    }

    /// The minimum score for a new hit. An equal score may also do, depending on the id.
    pub(crate) fn floor(&self) -> f32 {
        match self.kept.peek() {
            Some(worst) if self.kept.len() >= self.limit => worst.0.score,
            _ => f32::NEG_INFINITY,
        }
    }

    /// Whether [`Top::offer`] would keep the hit.
    pub(crate) fn wants(&self, hit: &Hit) -> bool {
        self.limit > 0
            && (self.kept.len() < self.limit || self.kept.peek().is_some_and(|worst| best_first(hit, &worst.0) == Ordering::Less))
    }

    pub(crate) fn offer(&mut self, hit: Hit) {
        if self.kept.len() < self.limit {
            self.kept.push(Ranked(hit));
        } else if let Some(mut worst) = self.kept.peek_mut()
            && best_first(&hit, &worst.0) == Ordering::Less
        {
            *worst = Ranked(hit);
        }
    }

    /// The kept hits, best first.
    pub(crate) fn into_hits(self) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self.kept.into_iter().map(|ranked| ranked.0).collect();
        hits.sort_unstable_by(best_first);
        hits
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        best_first(&self.0, &other.0)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_keeps_the_same_hits_as_a_full_sort(scores in prop::collection::vec(0_u8..20, 0..60), limit in 0_usize..12) {
            let mut all: Vec<Hit> = (0..).zip(&scores).map(|(id, score)| Hit { id, score: f32::from(*score) }).collect();
            let mut top = Top::new(limit);
            for hit in all.iter().rev() {
                top.offer(*hit);
            }
            all.sort_by(best_first);
            all.truncate(limit);
            prop_assert_eq!(top.into_hits(), all);
        }
    }
}
