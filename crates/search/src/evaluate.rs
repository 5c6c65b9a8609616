//! Quality measures for rankings with known answers. Pure arithmetic for an evaluation harness.

use std::collections::HashSet;
use std::hash::Hash;

/// The number of characters per token in token budgets.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// The share of the relevant items among the first `k`. One if nothing is relevant.
pub fn recall_at<T: Eq + Hash>(ranking: &[T], relevant: &HashSet<T>, k: usize) -> f64 {
    share(ranking.iter().take(k), relevant)
}

/// One divided by the position of the first relevant item. Zero if there is none.
pub fn reciprocal_rank<T: Eq + Hash>(ranking: &[T], relevant: &HashSet<T>) -> f64 {
    ranking.iter().position(|item| relevant.contains(item)).map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

/// The mean of [`reciprocal_rank`] over queries. Zero without queries.
pub fn mean_reciprocal_rank<'a, T: Eq + Hash + 'a>(queries: impl IntoIterator<Item = (&'a [T], &'a HashSet<T>)>) -> f64 {
    let (sum, count) = queries
        .into_iter()
        .fold((0.0, 0_usize), |(sum, count), (ranking, relevant)| (sum + reciprocal_rank(ranking, relevant), count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// Discounted gain of the first `k`, divided by the best possible one. A repeated item counts once. One if no item has a gain.
pub fn ndcg_at<T: Eq + Hash>(ranking: &[T], gain_of: impl Fn(&T) -> f64, gains: &[f64], k: usize) -> f64 {
    let mut seen = HashSet::new();
    let found = ranking.iter().take(k).map(|item| if seen.insert(item) { gain_of(item) } else { 0.0 });
    let mut ideal = gains.to_vec();
    ideal.sort_by(|left, right| right.total_cmp(left));
    let best = discounted(ideal.into_iter().take(k));
    if best > 0.0 { discounted(found) / best } else { 1.0 }
}

/// The share of the relevant items that fit into a token budget, if whole items are taken in order and items that do not fit
/// are skipped. One if nothing is relevant.
pub fn recall_within<T: Eq + Hash>(
    ranking: &[T],
    characters_of: impl Fn(&T) -> usize,
    relevant: &HashSet<T>,
    tokens: usize,
) -> f64 {
    let mut left = tokens.saturating_mul(CHARACTERS_PER_TOKEN);
    let taken = ranking.iter().filter(|item| {
        let size = characters_of(item);
        let fits = size <= left;
        if fits {
            left -= size;
        }
        fits
    });
    share(taken, relevant)
}

fn share<'a, T: Eq + Hash + 'a>(found: impl Iterator<Item = &'a T>, relevant: &HashSet<T>) -> f64 {
    if relevant.is_empty() {
        return 1.0;
    }
    let found: HashSet<&T> = found.filter(|item| relevant.contains(item)).collect();
    found.len() as f64 / relevant.len() as f64
}

fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    (2_u32..).zip(gains).map(|(place, gain)| gain / f64::from(place).log2()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(items: &[u32]) -> HashSet<u32> {
        items.iter().copied().collect()
    }

    #[test]
    fn recall_is_the_share_of_relevant_items() {
        let ranking = [1, 2, 3, 3, 4];
        assert_eq!(recall_at(&ranking, &set(&[2, 4]), 3), 0.5);
        assert_eq!(recall_at(&ranking, &set(&[3, 9]), 5), 0.5);
        assert_eq!(recall_at(&ranking, &set(&[2]), 0), 0.0);
        assert_eq!(recall_at(&ranking, &set(&[]), 3), 1.0);
    }

    #[test]
    fn the_first_relevant_position_counts() {
        let (first, third, none) = ([7, 1, 2], [1, 2, 7], [1, 2, 3]);
        let relevant = set(&[7]);
        assert_eq!(reciprocal_rank(&third, &relevant), 1.0 / 3.0);
        let queries = [first, third, none];
        let mean = mean_reciprocal_rank(queries.iter().map(|ranking| (ranking.as_slice(), &relevant)));
        assert!((mean - 4.0 / 9.0).abs() < 1e-12);
        assert_eq!(mean_reciprocal_rank(std::iter::empty::<(&[u32], &HashSet<u32>)>()), 0.0);
    }

    #[test]
    fn gains_are_discounted_by_position() {
        let gain = |item: &u32| f64::from(*item);
        assert_eq!(ndcg_at(&[3, 2, 1], gain, &[1.0, 2.0, 3.0], 3), 1.0);
        let swapped = ndcg_at(&[2, 3], gain, &[3.0, 2.0], 2);
        assert!((swapped - (2.0 + 3.0 / 3_f64.log2()) / (3.0 + 2.0 / 3_f64.log2())).abs() < 1e-12);
        assert_eq!(ndcg_at(&[0, 0], gain, &[], 2), 1.0);
        assert!(ndcg_at(&[3, 3, 3], gain, &[3.0, 1.0], 3) < 1.0);
    }

    #[test]
    fn a_budget_skips_items_that_do_not_fit() {
        let characters = |item: &u32| *item as usize;
        // Ten tokens are forty characters: 30 fits, 20 does not, 10 does.
        assert_eq!(recall_within(&[30, 20, 10], characters, &set(&[10, 20]), 10), 0.5);
        assert_eq!(recall_within(&[30, 20, 10], characters, &set(&[10, 20]), 15), 1.0);
        assert_eq!(recall_within(&[30], characters, &set(&[30]), 0), 0.0);
        assert_eq!(recall_within(&[30], characters, &set(&[30]), usize::MAX), 1.0);
    }

    proptest! {
        #[test]
        fn all_measures_lie_between_zero_and_one(ranking in prop::collection::vec(0_u32..9, 0..12), relevant in prop::collection::hash_set(0_u32..9, 0..6), k in 0_usize..12) {
            let gains: Vec<f64> = relevant.iter().map(|_| 1.0).collect();
            let gain = |item: &u32| if relevant.contains(item) { 1.0 } else { 0.0 };
            for measure in [
                recall_at(&ranking, &relevant, k),
                reciprocal_rank(&ranking, &relevant),
                ndcg_at(&ranking, gain, &gains, k),
                recall_within(&ranking, |item| *item as usize, &relevant, k),
            ] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&measure), "{}", measure);
            }
        }
    }
}
