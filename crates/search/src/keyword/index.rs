//! The index: a committed part, a tail that is being committed, and a tail for new writes.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::KeywordError;
use super::analysis::document_terms;
use super::cache::{Cache, Recovery};
use super::query::{Committed, Parts};
use super::tail::Tail;
use crate::top::Hit;

/// The number of writes, and of terms of all writes, from which a flush is worthwhile.
const FLUSH_WANTED: (usize, usize) = (4_096, 1 << 19);
/// The maximum number of writes, and of terms of all writes, in a tail: some tens of megabytes.
const TAIL_MAX: (usize, usize) = (32_768, 1 << 22);

/// The keyword index of one project. All methods are thread-safe. Only [`KeywordIndex::flush`] takes long, and it blocks no
/// other method.
pub struct KeywordIndex {
    cache: Cache,
    state: RwLock<State>,
    /// Held while flushing, so that only one flush runs.
    flushing: Mutex<()>,
}

struct State {
    committed: Committed,
    /// The tail that is being committed, or that is left from a failed commit.
    frozen: Option<Arc<Tail>>,
    active: Tail,
    position: u64,
}

impl KeywordIndex {
    /// Opens the cache in a dedicated folder, and says from which position to replay. A folder that is missing, or has anything
    /// but a valid cache of this version, is emptied and started again. An error means that the folder is unusable.
    pub fn open(folder: &Path) -> Result<(Self, Recovery), KeywordError> {
        let (cache, recovery) = Cache::in_folder(folder)?;
        Ok((Self::over(cache, recovery.position)?, recovery))
    }

    /// An index without a folder.
    pub fn in_memory() -> Result<Self, KeywordError> {
        Self::over(Cache::in_memory()?, 0)
    }

    fn over(cache: Cache, position: u64) -> Result<Self, KeywordError> {
        let committed = Committed::new(cache.searcher(), cache.fields)?;
        let state = State { committed, frozen: None, active: Tail::default(), position };
        Ok(Self { cache, state: RwLock::new(state), flushing: Mutex::new(()) })
    }

    /// Replaces the text of `id`, if there is one. The next query sees it.
    ///
    /// `position` is the caller's change number. Writes must come in the order of their positions.
    pub fn upsert(&self, id: u64, text: &str, position: u64) -> Result<(), KeywordError> {
        let terms = document_terms(text);
        self.writable()?.active.upsert(id, terms, position);
        Ok(())
    }

    /// Removes a text. The next query does not see it.
    pub fn remove(&self, id: u64, position: u64) -> Result<(), KeywordError> {
        self.writable()?.active.remove(id, position);
        Ok(())
    }

    /// The best `limit` items for a query in plain words, best first. Equal scores are ordered by id.
    ///
    /// The filter is called only for ids that would be among the best. The next item takes the place of a refused one.
    pub fn search(&self, text: &str, limit: usize, filter: Option<&dyn Fn(u64) -> bool>) -> Result<Vec<Hit>, KeywordError> {
        self.in_parts(|parts| parts.search(text, limit, filter.unwrap_or(&|_| true)))
    }

    /// The highest score that a text could have for a query. The best real score divided by it says how much of the query the
    /// texts cover.
    pub fn ceiling(&self, text: &str) -> Result<f32, KeywordError> {
        self.in_parts(|parts| parts.ceiling(text))
    }

    /// The scores of these items, as [`KeywordIndex::search`] gives them, best first. Items without a word of the query are left
    /// out. The time depends on the number of items and not on the size of the index.
    pub fn scores(&self, text: &str, ids: &[u64]) -> Result<Vec<Hit>, KeywordError> {
        if ids.is_empty() { Ok(Vec::new()) } else { self.in_parts(|parts| parts.scores(text, ids)) }
    }

    fn in_parts<T>(&self, ask: impl FnOnce(&Parts<'_>) -> Result<T, tantivy::TantivyError>) -> Result<T, KeywordError> {
        let state = self.read();
        let tails: Vec<&Tail> = std::iter::once(&state.active).chain(state.frozen.as_deref()).collect();
        Ok(ask(&Parts { tails: &tails, committed: &state.committed })?)
    }

    /// Commits all writes so far, and returns the position of the last committed one. Queries and writes continue meanwhile.
    ///
    /// If it fails, nothing is lost: everything is still found, and the next flush retries.
    pub fn flush(&self) -> Result<u64, KeywordError> {
        let _one_at_a_time = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tail) = self.freeze() else { return Ok(self.read().position) };
        self.cache.commit(&tail)?;
        let committed = Committed::new(self.cache.searcher(), self.cache.fields)?;
        let mut state = self.write();
        state.committed = committed;
        state.frozen = None;
        state.position = tail.position();
        Ok(state.position)
    }

    /// Sets aside the tail to commit. The rest of a failed flush goes first, together with later writes if both fit into one
    /// tail.
    fn freeze(&self) -> Option<Arc<Tail>> {
        let mut state = self.write();
        let State { frozen, active, .. } = &mut *state;
        match frozen.as_mut().map(Arc::get_mut) {
            None => *frozen = Some(Arc::new(std::mem::take(active))),
            Some(Some(earlier)) if !is_full(sum(earlier.size(), active.size())) => earlier.absorb(std::mem::take(active)),
            Some(_) => {}
        }
        frozen.take_if(|tail| tail.is_empty());
        frozen.clone()
    }

    /// Whether there are enough writes for an early flush.
    pub fn wants_flush(&self) -> bool {
        let (writes, weight) = self.read().active.size();
        writes >= FLUSH_WANTED.0 || weight >= FLUSH_WANTED.1
    }

    /// The number of uncommitted writes.
    pub fn pending(&self) -> usize {
        let state = self.read();
        state.active.size().0 + state.frozen.as_ref().map_or(0, |tail| tail.size().0)
    }

    /// The position of the last committed write.
    pub fn position(&self) -> u64 {
        self.read().position
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn writable(&self) -> Result<RwLockWriteGuard<'_, State>, KeywordError> {
        let state = self.write();
        if is_full(state.active.size()) { Err(KeywordError::TailFull) } else { Ok(state) }
    }
}

fn sum(left: (usize, usize), right: (usize, usize)) -> (usize, usize) {
    (left.0 + right.0, left.1 + right.1)
}

fn is_full((writes, weight): (usize, usize)) -> bool {
    writes >= TAIL_MAX.0 || weight >= TAIL_MAX.1
}
