//! The interface of embedders, and the type of vectors.

use std::ops::Deref;
use std::sync::Arc;

use base::Result;

/// Turns texts and queries into vectors. Never compare vectors of different models: store the model's name with each.
///
/// Some models embed a query in another way than the texts that answer it, so there are two entry points. What is stored is a
/// text, and what is searched for is a query.
///
/// Embedding takes milliseconds at best and may need another machine, so call it on a blocking thread. An error of kind
/// `unavailable` may go away later. Any other error means that this text has no vector.
pub trait Embedder: Send + Sync {
    /// The model's name, including everything that affects the vectors of texts: vectors of texts with the same name are
    /// comparable.
    fn model(&self) -> &str;

    /// The number of components of its vectors.
    fn dimension(&self) -> usize;

    /// Whether embedding mostly waits for another machine and needs no local processor.
    fn is_remote(&self) -> bool {
        false
    }

    /// The vector of a query for a waiting caller. It is compared with vectors of texts and never stored.
    fn embed_query(&self, query: &str) -> Result<Embedding>;

    /// The vectors of texts in the background, in order. A text that the model refuses has none and does not affect the others.
    /// An error means that all of them can be retried.
    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>>;
}

/// A vector of length 1. Clones share their memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding(Arc<[f32]>);

impl Embedding {
    /// A vector in the direction of these numbers. Zeros have no direction and stay zeros.
    pub fn new(mut numbers: Vec<f32>) -> Self {
        let length = simd::dot_f32(&numbers, &numbers).sqrt();
        if length > 0.0 {
            numbers.iter_mut().for_each(|number| *number /= length);
        }
        Self(numbers.into())
    }

    /// The first `dimension` components as a new vector; the whole vector if it has no more.
    #[must_use]
    pub fn cut(&self, dimension: usize) -> Self {
        match self.0.get(..dimension) {
            Some(numbers) if numbers.len() < self.0.len() => Self::new(numbers.to_vec()),
            _ => self.clone(),
        }
    }

    /// The cosine of two vectors of one model: 1 in the same direction, 0 at right angles.
    pub fn cosine(&self, other: &Self) -> f32 {
        simd::dot_f32(&self.0, &other.0)
    }
}

impl Deref for Embedding {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_length_one_even_after_a_cut() {
        let vector = Embedding::new(vec![3.0, 4.0, 12.0]);
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
        let cut = vector.cut(2);
        assert!(cut.iter().zip([0.6, 0.8]).all(|(number, known)| (number - known).abs() < 1e-6));
        assert_eq!(cut.len(), 2);
        assert_eq!(vector.cut(3), vector);
        assert_eq!(vector.cut(1_024), vector);
        assert!(vector.cut(0).is_empty());
    }

    #[test]
    fn zeros_stay_zeros() {
        assert_eq!(Embedding::new(vec![0.0; 3]).to_vec(), [0.0; 3]);
    }
}
