//! The vectors of a project's passages: all components, and for a few requested dimensions the first ones.

use search::embed::Embedding;
use search::vectors::{Query, VectorIndex};

use super::calibration::RandomPairs;

/// The maximum number of smaller dimensions to keep an index for.
const CUTS_MAX: usize = 2;
/// The number of random pairs to measure.
const PAIRS: usize = 2_000;

/// The indexes of one project and model.
pub(super) struct Vectors {
    whole: VectorIndex,
    /// Indexes of cut vectors, the last used one at the end.
    cuts: Vec<VectorIndex>,
    /// What was measured for each dimension, and the number of vectors at that time.
    pairs: Vec<(usize, usize, RandomPairs)>,
}

impl Vectors {
    pub(super) fn new(dimension: usize) -> Self {
        Self { whole: VectorIndex::new(dimension), cuts: Vec::new(), pairs: Vec::new() }
    }

    pub(super) fn whole(&self) -> &VectorIndex {
        &self.whole
    }

    /// The index of a dimension, if there is one.
    pub(super) fn of(&self, dimension: usize) -> Option<&VectorIndex> {
        std::iter::once(&self.whole).chain(&self.cuts).find(|index| index.dimension() == dimension)
    }

    /// Stores a vector. A vector without a direction or of another model is left out, and says so.
    pub(super) fn upsert(&mut self, id: u64, vector: &[f32]) -> bool {
        let stored = self.whole.upsert(id, vector).is_ok();
        if stored {
            for cut in &mut self.cuts {
                add_cut(cut, id, vector);
            }
        }
        stored
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.whole.remove(id);
        for cut in &mut self.cuts {
            cut.remove(id);
        }
    }

    /// Makes an index of the first `dimension` components of all vectors, and forgets the one that was not used for longest.
    pub(super) fn cut(&mut self, dimension: usize, ids: impl Iterator<Item = u64>) {
        if let Some(place) = self.cuts.iter().position(|cut| cut.dimension() == dimension) {
            let used = self.cuts.remove(place);
            self.cuts.push(used);
            return;
        }
        let mut index = VectorIndex::new(dimension);
        for id in ids {
            if let Some(vector) = self.whole.vector(id) {
                add_cut(&mut index, id, &vector);
            }
        }
        if self.cuts.len() >= CUTS_MAX {
            self.cuts.remove(0);
        }
        self.cuts.push(index);
    }

    /// The cosines of random pairs in an index, if they were measured when it had about the same size.
    pub(super) fn known_pairs(&self, dimension: usize) -> Option<RandomPairs> {
        let len = self.of(dimension)?.len();
        let is_known =
            |(known, size, _): &&(usize, usize, _)| *known == dimension && len <= size + size / 2 && *size <= len + len / 2;
        self.pairs.iter().find(is_known).map(|(_, _, pairs)| *pairs)
    }

    /// The cosines of random pairs in an index. They are measured again when its size has changed by half.
    pub(super) fn measure_pairs(&mut self, dimension: usize, ids: &dyn Fn() -> Vec<u64>) -> RandomPairs {
        if let Some(pairs) = self.known_pairs(dimension) {
            return pairs;
        }
        let Some(index) = self.of(dimension) else { return RandomPairs::default() };
        let len = index.len();
        let pairs = random_pairs(index, ids());
        self.pairs.retain(|(known, ..)| *known != dimension);
        if self.pairs.len() > CUTS_MAX {
            self.pairs.remove(0);
        }
        self.pairs.push((dimension, len, pairs));
        pairs
    }

    pub(super) fn bytes(&self) -> usize {
        self.whole.bytes() + self.cuts.iter().map(VectorIndex::bytes).sum::<usize>()
    }
}

fn add_cut(index: &mut VectorIndex, id: u64, vector: &[f32]) {
    let cut = Embedding::new(vector.get(..index.dimension()).unwrap_or(vector).to_vec());
    // The first components may all be zero, and then the vector has no direction here.
    if index.upsert(id, &cut).is_err() {
        index.remove(id);
    }
}

/// A query for an index of a smaller dimension. `None` if it has no direction there.
pub(super) fn cut_query(vector: &Embedding, dimension: usize) -> Option<Query> {
    Query::new(&vector.cut(dimension)).ok()
}

/// The cosines of random pairs. The choice depends only on the ids.
fn random_pairs(index: &VectorIndex, mut ids: Vec<u64>) -> RandomPairs {
    ids.retain(|id| index.contains(*id));
    ids.sort_unstable();
    let count = ids.len() as u64;
    if count < 2 {
        return RandomPairs::default();
    }
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        // Xorshift: the pairs need no better randomness.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ids.get((state % count) as usize).copied().unwrap_or_default()
    };
    // Few vectors have few different pairs.
    let most = (PAIRS as u64).min(count * (count - 1) / 2);
    let pairs: Vec<(u64, u64)> = (0..most).map(|_| (next(), next())).filter(|(left, right)| left != right).collect();
    RandomPairs::of(pairs.into_iter().filter_map(|(left, right)| index.similarity_of(left, right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: u64) -> Vectors {
        let mut vectors = Vectors::new(3);
        for id in 0..count {
            let angle = id as f32;
            assert!(vectors.upsert(id, &[angle.cos(), angle.sin(), 0.5]));
        }
        vectors
    }

    #[test]
    fn cuts_follow_the_whole_index_and_are_few() {
        let mut vectors = filled(20);
        vectors.cut(2, 0..20);
        assert_eq!(vectors.of(2).map(VectorIndex::len), Some(20));
        vectors.remove(3);
        vectors.upsert(30, &[1.0, 0.0, 0.0]);
        vectors.upsert(31, &[0.0, 0.0, 1.0]);
        assert_eq!(vectors.of(2).map(VectorIndex::len), Some(20), "31 has no direction in two dimensions");
        let query = cut_query(&Embedding::new(vec![1.0, 0.0, 9.0]), 2).unwrap();
        let best = vectors.of(2).unwrap().search(&query, 1, None)[0];
        assert!((best.score - 1.0).abs() < 1e-4);
        vectors.cut(1, 0..40);
        vectors.cut(2, 0..40);
        assert!(vectors.cuts.len() == CUTS_MAX && vectors.cuts[1].dimension() == 2);
        assert!(!vectors.upsert(1, &[f32::NAN, 0.0, 0.0]) && !vectors.upsert(1, &[1.0]));
    }

    #[test]
    fn random_pairs_are_measured_again_when_the_index_grows() {
        let mut vectors = filled(40);
        let pairs = vectors.measure_pairs(3, &|| (0..40).collect());
        assert!(pairs.count > 500 && pairs.spread > 0.1, "{pairs:?}");
        assert_eq!(vectors.measure_pairs(3, &|| panic!("known")), pairs);
        for id in 100..200 {
            vectors.upsert(id, &[1.0, 0.0, 0.0]);
        }
        assert!(vectors.measure_pairs(3, &|| (100..200).collect()).spread < 1e-3);
        assert_eq!(filled(1).measure_pairs(3, &|| vec![0]), RandomPairs::default());
    }
}
