//! Texts of one kind in one project, found by their words and by their meaning. What they are texts of, whoever asks knows.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use base::{Error, ProjectId, Result};
use search::fusion::{self, Fused, Weights};
use search::keyword::{KeywordError, KeywordIndex};
use search::vectors::{Query, VectorIndex};
use store::{OrgStore, Row, params};

use super::ROWS_AT_ONCE;
use crate::embedding::{TextKind, from_row};
use crate::memory::Mode;
use crate::sql;

/// Candidates each leg brings.
const CANDIDATES: usize = 100;

/// Words and vectors.
pub(crate) struct Texts {
    kind: TextKind,
    words: KeywordIndex,
    vectors: RwLock<VectorIndex>,
    /// The words of changes up to this one were there when the index was opened.
    pub(super) words_until: i64,
}

/// What is looked for, and among what.
pub(crate) struct Wanted<'a> {
    pub(crate) query: &'a str,
    /// Absent where only words count, or the embedder failed.
    pub(crate) vector: Option<&'a Query>,
    pub(crate) mode: Mode,
    pub(crate) weights: &'a Weights,
    /// Which texts are there at all.
    pub(crate) filter: Option<&'a dyn Fn(u64) -> bool>,
}

impl Texts {
    pub(crate) fn open(kind: TextKind, folder: Option<&Path>, dimension: usize) -> Result<Self> {
        let (words, position) = match folder.map(KeywordIndex::open) {
            Some(Ok((words, recovery))) => (words, recovery.position),
            // A folder that cannot be used costs reading the rows at each start, and nothing else.
            Some(Err(error)) => {
                tracing::warn!(%error, "the cache of words is not used");
                (KeywordIndex::in_memory().map_err(Error::internal)?, 0)
            }
            None => (KeywordIndex::in_memory().map_err(Error::internal)?, 0),
        };
        let words_until = i64::try_from(position).unwrap_or(i64::MAX);
        Ok(Self { kind, words, vectors: RwLock::new(VectorIndex::new(dimension)), words_until })
    }

    /// Takes the words of a text in. Changes must come in their order.
    pub(crate) fn put(&self, number: i64, text: &str, change: i64) -> Result<()> {
        self.write_words(|words| words.upsert(number.cast_unsigned(), text, change.cast_unsigned()))
    }

    pub(crate) fn remove(&self, number: i64, change: i64) -> Result<()> {
        self.vectors.write().unwrap_or_else(PoisonError::into_inner).remove(number.cast_unsigned());
        self.write_words(|words| words.remove(number.cast_unsigned(), change.cast_unsigned()))
    }

    /// Writes to the words; a tail that is full is committed first.
    fn write_words(&self, write: impl Fn(&KeywordIndex) -> Result<(), KeywordError>) -> Result<()> {
        match write(&self.words) {
            Err(KeywordError::TailFull) => self.words.flush().and_then(|_| write(&self.words)).map_err(Error::unavailable),
            outcome => outcome.map_err(Error::unavailable),
        }
    }

    /// Takes in the vectors of `model` that were made since a change, and says which is the last now.
    pub(crate) async fn follow_vectors(&self, rows: &OrgStore, project: &ProjectId, model: &str, since: i64) -> Result<i64> {
        let mut since = since;
        loop {
            let row = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<Vec<u8>>(2)?));
            let asked = params![project, self.kind, since, model, ROWS_AT_ONCE];
            let found = rows.query(sql::VECTORS_SINCE, &asked, row).await?;
            since = found.last().map_or(since, |(_, change, _)| *change);
            let mut vectors = self.vectors.write().unwrap_or_else(PoisonError::into_inner);
            // A text that the model refused has an empty one.
            for (number, _, bytes) in found.iter().filter(|(.., bytes)| !bytes.is_empty()) {
                // One of another dimension under the same name of a model, or one without a direction, cannot be compared.
                if let Err(error) = vectors.upsert(number.cast_unsigned(), &from_row(bytes)) {
                    tracing::warn!(number, %error, "a vector is left out");
                }
            }
            if (found.len() as i64) < ROWS_AT_ONCE {
                return Ok(since);
            }
        }
    }

    /// What has the words or the meaning, best first, each with its parts.
    pub(crate) fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Fused>> {
        let Wanted { query, vector, mode, weights, filter } = *wanted;
        let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
        let near = vector.map_or_else(Vec::new, |vector| vectors.search(vector, CANDIDATES, filter));
        let cosine_of = |id: u64| vector.and_then(|vector| vectors.similarity(id, vector));
        let mut words = match mode {
            Mode::Vector => Vec::new(),
            Mode::Keyword | Mode::Fused => self.words.search(query, CANDIDATES, filter).map_err(Error::unavailable)?,
        };
        if mode == Mode::Fused {
            // What only the meaning found may hold a word, too, far down among many that do.
            let found: HashSet<u64> = words.iter().map(|hit| hit.id).collect();
            let missing: Vec<u64> = near.iter().map(|hit| hit.id).filter(|id| !found.contains(id)).collect();
            words.extend(self.words.scores(query, &missing).map_err(Error::unavailable)?);
        }
        let mut fused = fusion::fuse(&words, &near, &cosine_of, weights);
        if vector.is_some() {
            let_words_stand_in(&mut fused);
        }
        Ok(fused)
    }

    /// How alike a text and a query are by meaning.
    pub(crate) fn cosine(&self, number: u64, query: &Query) -> Option<f32> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).similarity(number, query)
    }

    pub(crate) fn vectors(&self) -> usize {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    /// Commits the words, and goes on with the graph of a very large index.
    pub(crate) fn flush(&self) {
        const LINKS_AT_ONCE: usize = 500;
        if self.words.pending() > 0
            && let Err(error) = self.words.flush()
        {
            tracing::warn!(%error, "the cache of words could not be written");
        }
        self.vectors.write().unwrap_or_else(PoisonError::into_inner).link(LINKS_AT_ONCE);
    }
}

/// What has no vector yet is taken to mean what its words say: as much of the best meaning found as it has of the best words.
/// Otherwise what was said a moment ago would stand behind everything older.
fn let_words_stand_in(hits: &mut [Fused]) {
    let best = |part: fn(&Fused) -> f32| hits.iter().map(part).fold(0.0, f32::max);
    let (words, meaning) = (best(|hit| hit.keyword), best(|hit| hit.vector));
    for hit in hits.iter_mut().filter(|hit| hit.cosine.is_none() && words > 0.0) {
        let stand_in = meaning * hit.keyword / words;
        hit.keyword += stand_in;
        hit.score += stand_in;
    }
    hits.sort_by(|left, right| right.score.total_cmp(&left.score).then(left.id.cmp(&right.id)));
}
