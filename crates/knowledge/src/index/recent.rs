//! The hits of recent queries. They are valid until the project changes.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use search::fusion::Fused;

use crate::memory::Ranking;

/// The maximum number of queries.
const QUERIES_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);
/// The longest query that is kept, in bytes.
const QUERY_BYTES_MAX: usize = 4_096;

/// Hits by query.
pub(super) struct Recent(Mutex<Kept>);

struct Kept {
    /// The number of changes so far. Hits that were found before a change are not kept after it.
    changes: u64,
    hits: LruCache<Box<str>, (Ranking, Arc<[Fused]>)>,
    bytes: usize,
}

impl Recent {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Kept { changes: 0, hits: LruCache::new(QUERIES_MAX), bytes: 0 }))
    }

    /// The hits of a query, or the result of `find`.
    pub(super) fn hits<E>(
        &self,
        query: &str,
        ranking: &Ranking,
        find: impl FnOnce() -> Result<Vec<Fused>, E>,
    ) -> Result<Arc<[Fused]>, E> {
        let changes = {
            let mut kept = self.kept();
            if let Some((_, hits)) = kept.hits.get(query).filter(|(known, _)| known == ranking) {
                return Ok(Arc::clone(hits));
            }
            kept.changes
        };
        let hits: Arc<[Fused]> = find()?.into();
        let mut kept = self.kept();
        if kept.changes == changes && query.len() <= QUERY_BYTES_MAX {
            kept.bytes += bytes(query, &hits);
            let dropped = kept.hits.push(query.into(), (*ranking, Arc::clone(&hits)));
            kept.bytes -= dropped.map_or(0, |(query, (_, hits))| bytes(&query, &hits));
        }
        Ok(hits)
    }

    /// Drops everything, because the project changed.
    pub(super) fn clear(&self) {
        let mut kept = self.kept();
        kept.changes += 1;
        kept.hits.clear();
        kept.bytes = 0;
    }

    /// The approximate memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.kept().bytes
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bytes(query: &str, hits: &[Fused]) -> usize {
    query.len() + size_of_val(hits)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::memory::Mode;

    fn ask(recent: &Recent, query: &str, ranking: &Ranking, answer: u64) -> u64 {
        let hit = Fused { id: answer, score: 1.0, keyword: 1.0, vector: 0.0, neighbour: 0.0, cosine: None };
        let Ok(hits) = recent.hits(query, ranking, || Ok::<_, Infallible>(vec![hit]));
        hits[0].id
    }

    #[test]
    fn a_repeated_query_is_found_once_until_something_changes() {
        let (recent, ranking) = (Recent::new(), Ranking::default());
        let other = Ranking { mode: Mode::Keyword, ..ranking };
        assert_eq!(ask(&recent, "a", &ranking, 1), 1);
        assert_eq!(ask(&recent, "a", &ranking, 2), 1);
        assert_eq!(ask(&recent, "b", &ranking, 3), 3);
        assert_eq!(ask(&recent, "a", &other, 4), 4, "other weights give other hits");
        recent.clear();
        assert_eq!(ask(&recent, "a", &ranking, 5), 5);
    }

    #[test]
    fn hits_from_before_a_change_are_not_kept() {
        let (recent, ranking) = (Recent::new(), Ranking::default());
        let Ok(_) = recent.hits("a", &ranking, || {
            recent.clear();
            Ok::<_, Infallible>(Vec::new())
        });
        assert_eq!(ask(&recent, "a", &ranking, 1), 1);
    }

    #[test]
    fn memory_is_bounded_and_counted() {
        let (recent, ranking) = (Recent::new(), Ranking::default());
        for number in 0..1_000 {
            ask(&recent, &format!("query {number:04}"), &ranking, number);
        }
        assert_eq!(recent.bytes(), QUERIES_MAX.get() * (size_of::<Fused>() + "query 0000".len()));
        ask(&recent, &"long ".repeat(QUERY_BYTES_MAX), &ranking, 1);
        assert_eq!(recent.bytes(), QUERIES_MAX.get() * (size_of::<Fused>() + "query 0000".len()));
        recent.clear();
        assert_eq!(recent.bytes(), 0);
    }
}
