//! Texts of one kind in one project, searched by keywords and by meaning.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use base::{Error, ProjectId, Result};
use search::embed::from_row;
use search::fusion::{self, Candidates, Fused, Weights};
use search::keyword::{KeywordError, KeywordIndex};
use search::vectors::{Query, VectorIndex};
use store::{OrgStore, Row, params};

use super::ROWS_AT_ONCE;
use crate::embedding::TextKind;
use crate::memory::Mode;
use crate::sql;

/// The number of candidates of each search.
const CANDIDATES: usize = 100;

/// Keywords and vectors.
pub(crate) struct Texts {
    kind: TextKind,
    words: KeywordIndex,
    vectors: RwLock<VectorIndex>,
    /// The index already had the texts of changes up to this one when it was opened.
    pub(super) words_until: i64,
}

/// A search.
pub(crate) struct Wanted<'a> {
    pub(crate) query: &'a str,
    /// Absent if only keywords count or the embedder failed.
    pub(crate) vector: Option<&'a Query>,
    pub(crate) mode: Mode,
    pub(crate) weights: &'a Weights,
    /// Which texts exist.
    pub(crate) filter: Option<&'a dyn Fn(u64) -> bool>,
}

impl Texts {
    pub(crate) fn open(kind: TextKind, folder: Option<&Path>, dimension: usize) -> Result<Self> {
        let (words, position) = match folder.map(KeywordIndex::open) {
            Some(Ok((words, recovery))) => (words, recovery.position),
            // If the folder cannot be used, the rows are read at each start. Nothing else is lost.
            Some(Err(error)) => {
                tracing::warn!(%error, "the keyword cache is not used");
                (KeywordIndex::in_memory().map_err(Error::internal)?, 0)
            }
            None => (KeywordIndex::in_memory().map_err(Error::internal)?, 0),
        };
        let words_until = i64::try_from(position).unwrap_or(i64::MAX);
        Ok(Self { kind, words, vectors: RwLock::new(VectorIndex::new(dimension)), words_until })
    }

    /// Indexes the keywords of a text. Changes must come in order.
    pub(crate) fn put(&self, number: i64, text: &str, change: i64) -> Result<()> {
        self.write_words(|words| words.upsert(number.cast_unsigned(), text, change.cast_unsigned()))
    }

    pub(crate) fn remove(&self, number: i64, change: i64) -> Result<()> {
        self.vectors.write().unwrap_or_else(PoisonError::into_inner).remove(number.cast_unsigned());
        self.write_words(|words| words.remove(number.cast_unsigned(), change.cast_unsigned()))
    }

    /// Writes to the keyword index. A full tail is committed first.
    fn write_words(&self, write: impl Fn(&KeywordIndex) -> Result<(), KeywordError>) -> Result<()> {
        match write(&self.words) {
            Err(KeywordError::TailFull) => self.words.flush().and_then(|_| write(&self.words)).map_err(Error::unavailable),
            outcome => outcome.map_err(Error::unavailable),
        }
    }

    /// Loads the vectors of `model` that were made since a change, and returns the last change.
    pub(crate) async fn follow_vectors(&self, rows: &OrgStore, project: &ProjectId, model: &str, since: i64) -> Result<i64> {
        let mut since = since;
        loop {
            let row = |row: &Row<'_>| Ok((row.get::<i64>("number")?, row.get::<i64>("change")?, row.get::<Vec<u8>>("vector")?));
            let asked = params![project, self.kind, since, model, ROWS_AT_ONCE];
            let found = rows.query(sql::VECTORS_SINCE, &asked, row).await?;
            since = found.last().map_or(since, |(_, change, _)| *change);
            let mut vectors = self.vectors.write().unwrap_or_else(PoisonError::into_inner);
            // A text that the model refused has an empty vector.
            for (number, _, bytes) in found.iter().filter(|(.., bytes)| !bytes.is_empty()) {
                // A vector of another dimension under the same model name, or a zero vector, cannot be compared.
                if let Err(error) = vectors.upsert(number.cast_unsigned(), &from_row(bytes)) {
                    tracing::warn!(number, %error, "a vector is left out");
                }
            }
            if (found.len() as i64) < ROWS_AT_ONCE {
                return Ok(since);
            }
        }
    }

    /// The texts that match by keywords or meaning, best first, each with its parts.
    pub(crate) fn find(&self, wanted: &Wanted<'_>) -> Result<Candidates> {
        let Wanted { query, vector, mode, weights, filter } = *wanted;
        let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
        let near = vector.map_or_else(Vec::new, |vector| vectors.search(vector, CANDIDATES, filter));
        let cosine_of = |id: u64| vector.and_then(|vector| vectors.similarity(id, vector));
        let mut words = match mode {
            Mode::Vector => Vec::new(),
            Mode::Keyword | Mode::Fused => self.words.search(query, CANDIDATES, filter).map_err(Error::unavailable)?,
        };
        if mode == Mode::Fused {
            // A text found only by meaning may also match a keyword, far down in the list.
            let found: HashSet<u64> = words.iter().map(|hit| hit.id).collect();
            let missing: Vec<u64> = near.iter().map(|hit| hit.id).filter(|id| !found.contains(id)).collect();
            words.extend(self.words.scores(query, &missing).map_err(Error::unavailable)?);
        }
        let ceiling = self.words.ceiling(query).map_err(Error::unavailable)?;
        let mut found = fusion::fuse(&words, ceiling, &near, &cosine_of, weights);
        if vector.is_some() {
            let_words_stand_in(&mut found.hits);
        }
        Ok(found)
    }

    /// The similarity of two texts by meaning.
    pub(super) fn alike(&self, one: u64, other: u64) -> Option<f32> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).similarity_of(one, other)
    }

    /// The similarity of a text and a query by meaning.
    pub(crate) fn cosine(&self, number: u64, query: &Query) -> Option<f32> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).similarity(number, query)
    }

    pub(crate) fn vectors(&self) -> usize {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    /// Commits the keywords, and continues to build the graph of a very large index.
    pub(crate) fn flush(&self) {
        const LINKS_AT_ONCE: usize = 500;
        if self.words.pending() > 0
            && let Err(error) = self.words.flush()
        {
            tracing::warn!(%error, "writing the keyword cache failed");
        }
        self.vectors.write().unwrap_or_else(PoisonError::into_inner).link(LINKS_AT_ONCE);
    }
}

/// A text without a vector gets a substitute for its similarity: the best part from vectors, scaled by its share of the best
/// keyword score. Otherwise new texts would rank behind everything older.
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
