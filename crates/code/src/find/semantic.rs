//! Search by meaning alone, and files that are like a file.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use base::{Error, Result};
use search::vectors::{Query, VectorIndex};

use super::calibration::Calibration;
use super::finder::{Finder, State};
use super::group::group;
use super::query::{CodeHit, HITS_MAX, check, hit};
use super::rank::{Ranked, Signals};
use super::vectors::cut_query;

/// The number of nearest passages to look at.
const NEAREST: usize = 400;
/// The smallest dimension that is worth an index.
pub(crate) const DIMENSION_MIN: usize = 8;
/// The number of passages of a file that are compared with other files.
const SAMPLE: usize = 8;
/// The number of nearest passages of each of them.
const NEAREST_OF_ONE: usize = 64;

/// The answer of a search by meaning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundByMeaning {
    /// Best first.
    pub(crate) hits: Vec<CodeHit>,
    /// The dimension that was used: the requested one, or that of the model.
    pub(crate) dimension: usize,
    /// The offset of the next page, if there is one.
    pub(crate) next: Option<usize>,
}

/// A file that is like another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SimilarFile {
    /// The index's number of the file.
    pub(crate) file: u32,
    /// Its path.
    pub(crate) path: Arc<str>,
    /// The calibrated similarity.
    pub(crate) similarity: f32,
    /// The mean cosine of the passages of the one file and the nearest ones of the other.
    pub(crate) cosine: f32,
}

impl Finder {
    /// The passages nearest to a query, with at least the given similarity. A dimension above the model's own means its own. Call it on a
    /// blocking thread.
    pub(crate) fn semantic(
        &self,
        query: &str,
        dimension: Option<usize>,
        threshold: f32,
        offset: usize,
        limit: usize,
    ) -> Result<FoundByMeaning> {
        check(query)?;
        let _question = self.questions.ask();
        let own = self.embedder.dimension();
        let dimension = dimension.unwrap_or(own).clamp(DIMENSION_MIN.min(own), own);
        let vector = self.query_vector(query)?;
        let vector = vector.ok_or_else(|| Error::unavailable("the embedder gives no vector for a query"))?;
        if dimension < own {
            self.with_state(|State { catalogue, vectors, .. }| vectors.cut(dimension, catalogue.ids()));
        }
        let pairs = self.random_pairs(dimension);
        let calibration = Calibration::of(self.embedder.model(), dimension < own, pairs);
        let state = self.state();
        let (Some(index), Some(query)) = (state.vectors.of(dimension), cut_query(&vector, dimension)) else {
            return Ok(FoundByMeaning { hits: Vec::new(), dimension, next: None });
        };
        let near = index.search(&query, NEAREST, None);
        let near = near.into_iter().filter(|near| calibration.similarity(near.score) >= threshold);
        let ranked: Vec<Ranked> = near
            .filter_map(|near| {
                let signals = Signals { vector: near.score, ..Signals::default() };
                Some(Ranked { id: near.id, file: state.catalogue.entry(near.id)?.file, signals, cosine: Some(near.score) })
            })
            .collect();
        let groups = group(&state.catalogue, &ranked);
        let page = groups.iter().skip(offset).take(limit.min(HITS_MAX));
        let hits: Vec<CodeHit> = page
            .filter_map(|group| hit(&state, group, &calibration))
            .map(|hit| CodeHit { score: hit.similarity.unwrap_or_default(), ..hit })
            .collect();
        let end = offset.saturating_add(hits.len());
        Ok(FoundByMeaning { next: (end < groups.len() && !hits.is_empty()).then_some(end), hits, dimension })
    }

    /// The files most similar to a file, best first: at most `limit`, each with at least the given similarity.
    ///
    /// Some passages of the file are compared with all others. A file's cosine is the mean over them of the nearest passage in it.
    pub(crate) fn similar_files(&self, file: u32, threshold: f32, limit: usize) -> Vec<SimilarFile> {
        let pairs = self.random_pairs(self.embedder.dimension());
        let state = self.state();
        let means = nearest_files(&state, file);
        let calibration = Calibration::of_files(self.embedder.model(), pairs);
        let mut found: Vec<SimilarFile> = means
            .into_iter()
            .filter_map(|(other, cosine)| {
                let path = Arc::clone(&state.catalogue.file(other)?.path);
                Some(SimilarFile { file: other, path, similarity: calibration.similarity(cosine), cosine })
            })
            .filter(|found| found.similarity >= threshold)
            .collect();
        found.sort_by(|left, right| right.cosine.total_cmp(&left.cosine).then_with(|| left.path.cmp(&right.path)));
        found.truncate(limit.min(HITS_MAX));
        found
    }
}

/// For other files, the mean cosine of some passages of a file and the nearest ones of the other.
pub(super) fn nearest_files(state: &State, file: u32) -> BTreeMap<u32, f32> {
    let index = state.vectors.whole();
    let passages = sample(state, file, index);
    let queries: Vec<Query> =
        passages.iter().filter_map(|id| index.vector(*id)).filter_map(|vector| Query::new(&vector).ok()).collect();
    let own: HashSet<u64> = state.catalogue.file(file).map(|file| file.passages.iter().copied().collect()).unwrap_or_default();
    let accept = |id: u64| !own.contains(&id);
    let mut sums: BTreeMap<u32, f32> = BTreeMap::new();
    let mut floors = 0.0;
    for query in &queries {
        let near = index.search(query, NEAREST_OF_ONE, Some(&accept));
        // A file without one of the nearest passages is about as near as the last of them.
        let floor = near.last().map_or(0.0, |last| last.score);
        let mut best: BTreeMap<u32, f32> = BTreeMap::new();
        for one in near {
            if let Some(entry) = state.catalogue.entry(one.id) {
                let cosine = best.entry(entry.file).or_insert(one.score);
                *cosine = cosine.max(one.score);
            }
        }
        for (other, cosine) in best {
            *sums.entry(other).or_default() += cosine - floor;
        }
        floors += floor;
    }
    let count = queries.len().max(1) as f32;
    sums.into_iter().map(|(other, sum)| (other, (sum + floors) / count)).collect()
}

/// Passages of a file with a vector, spread over the file, the ones with symbols first.
fn sample(state: &State, file: u32, index: &VectorIndex) -> Vec<u64> {
    let Some(file) = state.catalogue.file(file) else { return Vec::new() };
    let has_symbol = |id: &u64| state.catalogue.entry(*id).is_some_and(|entry| entry.symbol.is_some());
    let (with, without): (Vec<u64>, Vec<u64>) =
        file.passages.iter().copied().filter(|id| index.contains(*id)).partition(has_symbol);
    let chosen = if with.is_empty() { without } else { with };
    let step = chosen.len().div_ceil(SAMPLE).max(1);
    chosen.into_iter().step_by(step).collect()
}
