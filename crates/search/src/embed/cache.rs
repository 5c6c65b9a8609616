//! Vectors of texts that come again: those that somebody waits for. What is embedded in batches is kept elsewhere and comes once.
//!
//! The cache holds no text: it knows one by two 64-bit hashes under random keys of this process, so nobody can prepare two texts
//! that are taken for one another.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use base::Result;
use quick_cache::sync::Cache;

use super::{Embedder, Embedding};

/// An embedder that remembers its last vectors, up to a number of them.
pub struct Cached<E> {
    embedder: E,
    keys: [RandomState; 2],
    vectors: Cache<[u64; 2], Embedding>,
}

impl<E: Embedder> Cached<E> {
    /// Remembers up to `capacity` vectors.
    pub fn new(embedder: E, capacity: usize) -> Self {
        Self { embedder, keys: [RandomState::new(), RandomState::new()], vectors: Cache::new(capacity) }
    }

    /// The vector of a text, if it is remembered.
    pub fn remembered(&self, text: &str) -> Option<Embedding> {
        self.vectors.get(&self.key(text))
    }

    fn key(&self, text: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(text))
    }
}

impl<E: Embedder> Embedder for Cached<E> {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    fn is_remote(&self) -> bool {
        self.embedder.is_remote()
    }

    fn embed(&self, text: &str) -> Result<Embedding> {
        self.vectors.get_or_insert_with(&self.key(text), || self.embedder.embed(text))
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
        self.embedder.embed_batch(texts)
    }
}

impl<E: Embedder> fmt::Debug for Cached<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cached").field("model", &self.model()).field("vectors", &self.vectors.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base::Error;

    use super::*;

    /// Counts its calls, and fails for an empty text.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Embedder for Counting {
        fn model(&self) -> &str {
            "counting"
        }

        fn dimension(&self) -> usize {
            1
        }

        fn embed(&self, text: &str) -> Result<Embedding> {
            self.0.fetch_add(1, Ordering::Relaxed);
            if text.is_empty() { Err(Error::internal("empty")) } else { Ok(Embedding::new(vec![1.0])) }
        }
    }

    #[test]
    fn a_text_is_embedded_once() {
        let cached = Cached::new(Counting::default(), 10);
        assert!(cached.remembered("text").is_none());
        for _ in 0..3 {
            cached.embed("text").unwrap();
        }
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 1);
        assert!(cached.remembered("text").is_some());
    }

    #[test]
    fn a_failure_is_not_remembered() {
        let cached = Cached::new(Counting::default(), 10);
        assert!(cached.embed("").is_err() && cached.embed("").is_err());
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn batches_take_no_room() {
        let cached = Cached::new(Counting::default(), 10);
        assert_eq!(cached.embed_batch(&["one", "two"]).unwrap().iter().flatten().count(), 2);
        assert!(cached.remembered("one").is_none());
    }

    #[test]
    fn it_stays_as_small_as_it_was_told() {
        let cached = Cached::new(Counting::default(), 10);
        (0..1_000).for_each(|number| drop(cached.embed(&number.to_string()).unwrap()));
        assert!(cached.vectors.len() <= 10);
    }
}
