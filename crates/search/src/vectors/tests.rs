//! Compares the index with a plain map and the definition of the cosine.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::quantised::{Quantised, cosine};
use super::random::{Random, exact_cosine};
use super::*;
use crate::top::{Hit, best_first};

/// The exact expected result: every row measured with both planes.
fn every_row_measured(model: &BTreeMap<u64, Vec<f32>>, query: &[f32], limit: usize, filter: &dyn Fn(u64) -> bool) -> Vec<Hit> {
    let query = Quantised::new(query).unwrap();
    let measured = model.iter().filter(|(id, _)| filter(**id)).map(|(id, vector)| {
        let vector = Quantised::new(vector).unwrap();
        Hit { id: *id, score: cosine(vector.row(), query.row()) }
    });
    let mut hits: Vec<_> = measured.collect();
    hits.sort_by(best_first);
    hits.truncate(limit);
    hits
}

fn filled(vectors: &[Vec<f32>]) -> VectorIndex {
    let mut index = VectorIndex::new(vectors[0].len());
    for (id, vector) in (0..).zip(vectors) {
        index.upsert(id, vector).unwrap();
    }
    index
}

#[test]
fn results_match_the_definition() {
    let mut random = Random::new(7);
    let vectors = random.clusters(5_000, 96, 40);
    let index = filled(&vectors);
    let (mut found, mut queries) = (0, 0);
    for query in random.clusters(40, 96, 40).iter().chain(&vectors[..40]) {
        let mut exact: Vec<_> = (0..).zip(&vectors).map(|(id, vector)| Hit { id, score: exact_cosine(vector, query) }).collect();
        exact.sort_by(best_first);
        let hits = index.search(&Query::new(query).unwrap(), 10, None);
        found += hits.iter().filter(|hit| exact[..10].iter().any(|exact| exact.id == hit.id)).count();
        queries += 1;
        assert!(hits.iter().zip(&exact).all(|(hit, exact)| (hit.score - exact.score).abs() < 2e-5));
    }
    assert!(found as f32 / queries as f32 >= 9.99, "{found} of {queries} tens");
}

#[test]
fn a_filtered_search_is_exact() {
    let mut random = Random::new(11);
    let vectors = random.clusters(3_000, 48, 5);
    let (index, model) = (filled(&vectors), (0..).zip(vectors.clone()).collect());
    for every in [1, 2, 10, 100, 1_500, 5_000] {
        let filter = move |id: u64| id % every == every - 1;
        for query in &vectors[..20] {
            let hits = index.search(&Query::new(query).unwrap(), 10, Some(&filter));
            assert_eq!(hits, every_row_measured(&model, query, 10, &filter), "every {every}th");
        }
    }
}

#[test]
fn comparing_signs_finds_nearly_all_and_nothing_wrong() {
    let mut random = Random::new(13);
    let vectors = random.clusters(20_500, 384, 100);
    let (exact, mut index) = (filled(&vectors), VectorIndex::with_thresholds(384, 10_000, usize::MAX));
    for (id, vector) in (0..).zip(&vectors) {
        // Every second row is overwritten, so its signs must follow.
        if id % 2 == 0 {
            index.upsert(id, &vectors[(id as usize + 1) % vectors.len()]).unwrap();
        }
        index.upsert(id, vector).unwrap();
    }
    let mut found = 0;
    for (number, query) in vectors.iter().step_by(500).enumerate() {
        let query = Query::new(query).unwrap();
        let most = move |id: u64| id % 4 != number as u64 % 4;
        let expected = exact.search(&query, 100, Some(&most));
        found += index.search(&query, 100, Some(&most)).iter().filter(|hit| expected.contains(hit)).count();
        let few = |id: u64| id % 400 == 1;
        assert_eq!(index.search(&query, 40, Some(&few)), exact.search(&query, 40, Some(&few)), "few pass the filter");
    }
    assert!(found >= 41 * 99, "{found} of {}", 41 * 100);
    index.remove(0);
    let query = Query::new(&vectors[0]).unwrap();
    assert!(index.search(&query, 10, None).iter().all(|hit| hit.id != 0));
}

#[test]
fn equal_vectors_are_ordered_by_id() {
    let mut index = VectorIndex::new(3);
    for id in (0..3_000).rev() {
        index.upsert(id, &[1.0, 2.0, 3.0]).unwrap();
    }
    let hits = index.search(&Query::new(&[3.0, 2.0, 1.0]).unwrap(), 4, None);
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn another_dimension_is_refused() {
    let mut index = VectorIndex::new(3);
    index.upsert(1, &[1.0, 0.0, 0.0]).unwrap();
    assert_eq!(index.upsert(1, &[1.0]).unwrap_err(), VectorError::Dimension { expected: 3, found: 1 });
    assert_eq!(index.upsert(2, &[0.0; 3]).unwrap_err(), VectorError::Zero);
    let query = Query::new(&[1.0, 0.0]).unwrap();
    assert_eq!(index.search(&query, 10, None), []);
    assert_eq!(index.similarity(1, &query), None);
    assert_eq!((index.len(), index.contains(1), index.contains(2)), (1, true, false));
}

#[test]
fn free_slots_are_reused() {
    let mut random = Random::new(3);
    let mut index = filled(&random.clusters(2_000, 16, 4));
    let before = index.bytes();
    for round in 0..5 {
        for id in 0..1_000 {
            assert!(index.remove(round * 1_000 + id));
        }
        for id in 0..1_000 {
            index.upsert((round + 2) * 1_000 + id, &random.vector(16)).unwrap();
        }
    }
    assert_eq!(index.len(), 2_000);
    // Only the list of free slots has grown.
    assert!(index.bytes() < before + 2_000 * 24, "{before} to {}", index.bytes());
}

#[derive(Clone, Debug)]
enum Step {
    Upsert(u64, u64),
    Remove(u64),
    Search(u64, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u64..40, any::<u64>()).prop_map(|(id, seed)| Step::Upsert(id, seed)),
        2 => (0_u64..40).prop_map(Step::Remove),
        1 => (any::<u64>(), 0_usize..15).prop_map(|(seed, limit)| Step::Search(seed, limit)),
    ]
}

proptest! {
    #[test]
    fn any_history_matches_a_map(steps in prop::collection::vec(step(), 1..150)) {
        let mut index = VectorIndex::new(8);
        let mut model = BTreeMap::new();
        for step in steps {
            match step {
                Step::Upsert(id, seed) => {
                    // Few distinct vectors, so that equal ones occur.
                    let vector = Random::new(seed % 30).vector(8);
                    index.upsert(id, &vector).unwrap();
                    model.insert(id, vector);
                }
                Step::Remove(id) => prop_assert_eq!(index.remove(id), model.remove(&id).is_some()),
                Step::Search(seed, limit) => {
                    let vector = Random::new(seed % 50).vector(8);
                    let query = Query::new(&vector).unwrap();
                    prop_assert_eq!(index.search(&query, limit, None), every_row_measured(&model, &vector, limit, &|_| true));
                    let odd = |id: u64| id % 2 == 1;
                    prop_assert_eq!(index.search(&query, limit, Some(&odd)), every_row_measured(&model, &vector, limit, &odd));
                    for hit in index.search(&query, limit, None) {
                        prop_assert_eq!(index.similarity(hit.id, &query), Some(hit.score));
                    }
                }
            }
            prop_assert_eq!(index.len(), model.len());
        }
    }
}
