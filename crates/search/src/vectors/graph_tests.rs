//! Compares the graph with the scan: it may miss a few hits, but every hit must be correct.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::random::Random;
use super::*;
use crate::top::{Hit, best_first};

const ALL: Option<&dyn Fn(u64) -> bool> = None;

/// Two indexes with the same vectors: with a graph and without.
fn pair(vectors: &[Vec<f32>]) -> (VectorIndex, VectorIndex) {
    let dimension = vectors[0].len();
    let (mut graph, mut flat) = (VectorIndex::with_thresholds(dimension, usize::MAX, 100), VectorIndex::new(dimension));
    for (id, vector) in (0..).zip(vectors) {
        graph.upsert(id, vector).unwrap();
        flat.upsert(id, vector).unwrap();
    }
    (graph, flat)
}

fn link_all(index: &mut VectorIndex) {
    while index.link(1_000) > 0 {}
}

fn recall(graph: &VectorIndex, flat: &VectorIndex, queries: &[Vec<f32>], filter: Option<&dyn Fn(u64) -> bool>) -> f64 {
    let mut found = 0;
    for query in queries {
        let query = Query::new(query).unwrap();
        let exact = flat.search(&query, 10, filter);
        found += graph.search(&query, 10, filter).iter().filter(|hit| exact.contains(hit)).count();
    }
    found as f64 / (10 * queries.len()) as f64
}

#[test]
fn a_linked_graph_matches_a_scan() {
    let mut random = Random::new(5);
    let vectors = random.clusters(6_000, 64, 60);
    let queries: Vec<_> = vectors.iter().step_by(40).cloned().chain(random.clusters(50, 64, 5)).collect();
    let (mut graph, mut flat) = pair(&vectors);
    assert!(graph.link(0) == 6_000 && flat.link(10) == 0);
    assert_eq!(recall(&graph, &flat, &queries, ALL), 1.0, "until it is linked it is scanned");
    link_all(&mut graph);
    assert!(recall(&graph, &flat, &queries, ALL) >= 0.99);
    assert!(recall(&graph, &flat, &queries, Some(&|id| id % 2 == 0)) >= 0.99);
    assert_eq!(recall(&graph, &flat, &queries, Some(&|id| id % 50 == 0)), 1.0, "few pass: it is scanned");
    assert!(graph.bytes() > flat.bytes());

    // A third is replaced, and a tenth removed. New vectors are found before and after they are linked.
    for (id, vector) in (0..).zip(random.clusters(6_000, 64, 60)) {
        if id % 3 == 0 {
            graph.upsert(id, &vector).unwrap();
            flat.upsert(id, &vector).unwrap();
        } else if id % 10 == 1 {
            assert!(graph.remove(id) && flat.remove(id));
        }
    }
    assert!(recall(&graph, &flat, &queries, ALL) >= 0.98);
    link_all(&mut graph);
    assert!(recall(&graph, &flat, &queries, ALL) >= 0.99);
}

#[test]
fn slots_of_a_dropped_graph_are_reused() {
    let mut random = Random::new(6);
    let (mut index, _) = pair(&random.clusters(400, 16, 4));
    link_all(&mut index);
    let before = index.bytes();
    for round in 1..8 {
        for id in 0..400 {
            index.upsert(id, &random.vector(16)).unwrap();
            if id % 50 == round {
                link_all(&mut index);
            }
        }
    }
    assert!(index.len() == 400 && index.bytes() < 4 * before, "{before} to {}", index.bytes());
}

#[test]
fn equal_vectors_are_found() {
    let mut index = VectorIndex::with_thresholds(4, usize::MAX, 100);
    for id in 0..2_000 {
        index.upsert(id, &[1.0, 2.0, 3.0, 4.0]).unwrap();
    }
    index.upsert(9_999, &[4.0, -3.0, 2.0, -1.0]).unwrap();
    link_all(&mut index);
    let hits = index.search(&Query::new(&[1.0, 2.0, 3.0, 4.0]).unwrap(), 10, None);
    assert!(hits.len() == 10 && hits.iter().all(|hit| (hit.score - 1.0).abs() < 1e-5));
}

proptest! {
    #[test]
    fn any_history_gives_correct_hits(steps in prop::collection::vec((0_u8..5, 0_u64..60, any::<u64>()), 1..200)) {
        let mut index = VectorIndex::with_thresholds(8, usize::MAX, 12);
        let mut model = BTreeMap::new();
        for (kind, id, seed) in steps {
            match kind {
                0 => prop_assert_eq!(index.remove(id), model.remove(&id).is_some()),
                1 => {
                    index.link(seed as usize % 30);
                }
                _ => {
                    let vector = Random::new(seed).vector(8);
                    index.upsert(id, &vector).unwrap();
                    model.insert(id, vector);
                }
            }
            let query = Query::new(&Random::new(seed ^ 1).vector(8)).unwrap();
            let mut hits = index.search(&query, 7, None);
            let expected: Vec<Option<f32>> = hits.iter().map(|hit| index.similarity(hit.id, &query)).collect();
            prop_assert_eq!(hits.iter().map(|hit| Some(hit.score)).collect::<Vec<_>>(), expected);
            prop_assert!(hits.is_sorted_by(|left, right| best_first(left, right).is_lt()));
            prop_assert!(hits.iter().all(|hit| model.contains_key(&hit.id)));
            prop_assert_eq!((hits.len(), index.len()), (model.len().min(7), model.len()));
            hits.dedup_by_key(|hit: &mut Hit| hit.id);
            prop_assert_eq!(hits.len(), model.len().min(7));
        }
    }
}
