//! A cache for vectors of repeated queries. Texts come only once and are not cached. A query and a text with the same words may
//! have different vectors, so the cache must not answer for texts either.
//!
//! The cache stores no query. Its key is two 64-bit hashes with random keys of this process, so nobody can prepare two queries
//! that collide.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use base::Result;
use quick_cache::sync::Cache;

use super::{Embedder, Embedding};

/// An embedder that caches its last vectors of queries, up to a limit.
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

    /// The vector of a query, if it is cached.
    pub fn remembered(&self, query: &str) -> Option<Embedding> {
        self.vectors.get(&self.key(query))
    }

    fn key(&self, query: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(query))
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

    fn embed_query(&self, query: &str) -> Result<Embedding> {
        self.vectors.get_or_insert_with(&self.key(query), || self.embedder.embed_query(query))
    }

    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
        self.embedder.embed_texts(texts)
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

    /// Counts its calls, and fails for an empty query. Queries and texts point in different directions.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Embedder for Counting {
        fn model(&self) -> &str {
            "counting"
        }

        fn dimension(&self) -> usize {
            1
        }

        fn embed_query(&self, query: &str) -> Result<Embedding> {
            self.0.fetch_add(1, Ordering::Relaxed);
            if query.is_empty() { Err(Error::internal("empty")) } else { Ok(Embedding::new(vec![1.0])) }
        }

        fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
            Ok(vec![Some(Embedding::new(vec![-1.0])); texts.len()])
        }
    }

    #[test]
    fn a_query_is_embedded_once() {
        let cached = Cached::new(Counting::default(), 10);
        assert!(cached.remembered("query").is_none());
        for _ in 0..3 {
            cached.embed_query("query").unwrap();
        }
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 1);
        assert!(cached.remembered("query").is_some());
    }

    #[test]
    fn a_failure_is_not_cached() {
        let cached = Cached::new(Counting::default(), 10);
        assert!(cached.embed_query("").is_err() && cached.embed_query("").is_err());
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn texts_are_neither_cached_nor_answered_from_the_cache() {
        let cached = Cached::new(Counting::default(), 10);
        assert_eq!(cached.embed_query("two").unwrap().to_vec(), [1.0]);
        let vectors = cached.embed_texts(&["one", "two"]).unwrap();
        assert!(vectors.iter().all(|vector| vector.as_deref() == Some(&[-1.0][..])), "{vectors:?}");
        assert!(cached.remembered("one").is_none());
        assert_eq!(cached.embed_query("one").unwrap().to_vec(), [1.0]);
    }

    #[test]
    fn the_cache_keeps_its_capacity() {
        let cached = Cached::new(Counting::default(), 10);
        (0..1_000).for_each(|number| drop(cached.embed_query(&number.to_string()).unwrap()));
        assert!(cached.vectors.len() <= 10);
    }
}
