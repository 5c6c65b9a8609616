//! Suggests entities that may be the same. It merges nothing, because similar names may differ in the letter that matters.
//!
//! Names are cut into shingles of three letters. Thirty-two minima of their hashes, in bands of four, find likely pairs without
//! comparing all with all. Pairs that share nine tenths of their shingles are suggested.

use std::collections::{BTreeSet, HashMap, HashSet};

use base::limits::{SUGGESTION_ENTITIES_MAX, SUGGESTIONS_MAX};
use base::{PageRequest, Result};
use store::OrgStore;

use super::model::Entity;
use super::{KnowledgeGraph, name};

const PERMUTATIONS: u64 = 32;
const BAND: usize = 4;
const JACCARD_MIN: f64 = 0.9;
/// How many names of one bucket each name is compared with.
const NEIGHBOURS_MAX: usize = 8;
/// Shorter names, single words and names of few different letters look like everything.
const CHARS_MIN: usize = 6;
const ENTROPY_MIN: f64 = 1.5;

/// Two entities that may be the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The older one.
    pub into: Entity,
    /// The one that may be the same.
    pub from: Entity,
    /// How many shingles they share, from 0 to 1.
    pub similarity: f64,
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// Entities of one type with nearly the same name, most similar first.
    pub async fn suggestions(&self) -> Result<Vec<Suggestion>> {
        let mut entities = Vec::new();
        let mut page = PageRequest { rows: 1_000, after: None };
        loop {
            let found = self.list_entities(&page).await?;
            entities.extend(found.items.into_iter().map(|listed| listed.entity).filter(|entity| entity.merged_into.is_none()));
            match found.next {
                Some(next) if entities.len() < SUGGESTION_ENTITIES_MAX => page.after = Some(next),
                _ => break,
            }
        }
        // Lists are newest first, but others are merged into the oldest entity.
        entities.reverse();
        store::compute(self.rows().org(), move || alike(&entities)).await
    }
}

fn alike(entities: &[Entity]) -> Vec<Suggestion> {
    let shingled: Vec<(&Entity, HashSet<String>)> =
        entities.iter().filter(|entity| tells_apart(&entity.name)).map(|entity| (entity, shingles(&entity.name))).collect();
    let mut buckets: HashMap<(usize, &str, Vec<u64>), Vec<usize>> = HashMap::new();
    for (place, (entity, shingles)) in shingled.iter().enumerate() {
        let minima: Vec<u64> = (0..PERMUTATIONS).map(|salt| minimum(shingles, salt)).collect();
        for (band, minima) in minima.chunks(BAND).enumerate() {
            buckets.entry((band, entity.kind.as_str(), minima.to_vec())).or_default().push(place);
        }
    }
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for places in buckets.values() {
        // Each is compared with only a few after it: a very large bucket has names that look like everything.
        for (at, left) in places.iter().enumerate() {
            pairs.extend(places.iter().skip(at + 1).take(NEIGHBOURS_MAX).map(|right| (*left, *right)));
        }
    }
    let suggestion = |(left, right): (usize, usize)| {
        let ((into, first), (from, second)) = (shingled.get(left)?, shingled.get(right)?);
        let similarity = jaccard(first, second);
        let fits = similarity >= JACCARD_MIN && into.kind == from.kind;
        fits.then(|| Suggestion { into: (*into).clone(), from: (*from).clone(), similarity })
    };
    let mut found: Vec<Suggestion> = pairs.into_iter().filter_map(suggestion).collect();
    found.sort_by(|left, right| right.similarity.total_cmp(&left.similarity));
    found.truncate(SUGGESTIONS_MAX);
    found
}

/// Whether a name has enough information for a suggestion.
fn tells_apart(text: &str) -> bool {
    let form = name::forms(text).pop().unwrap_or_default();
    let long_enough = form.chars().count() >= CHARS_MIN || form.contains(' ');
    long_enough && entropy(&form) >= ENTROPY_MIN
}

/// The entropy of a text in bits per letter.
fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<char, usize> = HashMap::new();
    text.chars().for_each(|letter| *counts.entry(letter).or_default() += 1);
    let all = text.chars().count().max(1) as f64;
    counts.values().map(|count| *count as f64 / all).map(|part| -part * part.log2()).sum()
}

/// Every three consecutive letters, without separators.
fn shingles(text: &str) -> HashSet<String> {
    let letters: Vec<char> = name::forms(text).pop().unwrap_or_default().chars().filter(|letter| *letter != ' ').collect();
    if letters.len() < 3 {
        return std::iter::once(letters.iter().collect()).collect();
    }
    letters.windows(3).map(|three| three.iter().collect()).collect()
}

fn jaccard(left: &HashSet<String>, right: &HashSet<String>) -> f64 {
    let shared = left.intersection(right).count();
    shared as f64 / (left.len() + right.len() - shared).max(1) as f64
}

/// The minimum hash of a set under one of the permutations.
fn minimum(shingles: &HashSet<String>, salt: u64) -> u64 {
    let hash = |shingle: &String| {
        let seed = 0xcbf2_9ce4_8422_2325_u64 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = shingle.bytes().fold(seed, |bits, byte| (bits ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        bits ^ (bits >> 29)
    };
    shingles.iter().map(hash).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{EntityId, Timestamp};

    fn entity(number: i64, name: &str, kind: &str) -> Entity {
        let now = Timestamp::from_ms(0);
        let (name, kind) = (name.to_owned(), kind.to_owned());
        Entity { id: EntityId::new(now), number, name, kind, weight: 0.5, merged_into: None, created_at: now, kept_apart: false }
    }

    #[test]
    fn only_nearly_equal_names_are_suggested() {
        let entities: Vec<Entity> = [
            ("payment reconciliation service", "service"),
            ("paymentreconciliationservice", "service"),
            ("payment-reconciliation-services", "service"),
            ("payment reconciliation service", "team"),
            ("warehouse robot", "service"),
            ("aaaaaaaa", "service"),
            ("aaaaaaaaa", "service"),
            ("api", "service"),
            ("apis", "service"),
        ]
        .iter()
        .enumerate()
        .map(|(place, (name, kind))| entity(place as i64, name, kind))
        .collect();
        let found = alike(&entities);
        assert!(!found.is_empty());
        for suggestion in &found {
            assert!(suggestion.into.number <= 2 && suggestion.from.number <= 2, "{suggestion:?}");
            assert!(suggestion.similarity >= JACCARD_MIN);
        }
    }
}
