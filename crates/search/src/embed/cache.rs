//! A cache for vectors of repeated texts, such as queries. Texts that are embedded in batches come only once and are not
//! cached.
//!
//! The cache stores no text. Its key is two 64-bit hashes with random keys of this process, so nobody can prepare two texts
//! that collide.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use base::Result;
use quick_cache::sync::Cache;

use super::{Embedder, Embedding};

/// An embedder that caches its last vectors, up to a limit.
pub struct Cached<E> {
    embedder: E,
    keys: [RandomState; 2],
    vectors: Cache<[u64; 2], Embedding>,
}

impl<E: Embedder> Cached<E> {
    /// Caches up to `capacity` vectors.
    pub fn new(embedder: E, capacity: usize) -> Self {
        Self { embedder, keys: [RandomState::new(), RandomState::new()], vectors: Cache::new(capacity) }
    }

    /// The vector of a text, if it is cached.
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
    fn a_failure_is_not_cached() {
        let cached = Cached::new(Counting::default(), 10);
        assert!(cached.embed("").is_err() && cached.embed("").is_err());
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn batches_are_not_cached() {
        let cached = Cached::new(Counting::default(), 10);
        assert_eq!(cached.embed_batch(&["one", "two"]).unwrap().iter().flatten().count(), 2);
        assert!(cached.remembered("one").is_none());
    }

    #[test]
    fn the_cache_keeps_its_capacity() {
        let cached = Cached::new(Counting::default(), 10);
        (0..1_000).for_each(|number| drop(cached.embed(&number.to_string()).unwrap()));
        assert!(cached.vectors.len() <= 10);
    }
}
