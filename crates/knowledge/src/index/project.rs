//! The indexes of one project, and how they follow its rows.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use base::{Error, ProjectId, Result, Timestamp};
use search::fusion::{self, Fused};
use search::keyword::{KeywordError, KeywordIndex};
use search::vectors::Query;
use store::{OrgStore, Row, params};
use tokio::sync::Mutex;

use super::known::{Known, Note};
use crate::embedding::from_row;
use crate::memory::{CHANGED_SINCE, Mode, Ranked, Ranking, indexed_text};
use crate::sql;

/// Rows read at once while an index follows.
const ROWS_AT_ONCE: i64 = 2_000;
/// Candidates each leg brings.
const CANDIDATES: usize = 100;

/// Words, vectors and notes of one project.
pub(super) struct ProjectIndex {
    words: KeywordIndex,
    known: RwLock<Known>,
    /// Held while following: whoever asks meanwhile waits for the same rows.
    seen: Mutex<Seen>,
    /// The words of changes up to this one were there when the index was opened.
    words_until: i64,
}

/// The last changes that were followed.
#[derive(Default)]
struct Seen {
    anything: i64,
    observations: i64,
    vectors: i64,
}

/// A changed observation.
struct Changed {
    number: i64,
    change: i64,
    session: String,
    text: String,
    note: Note,
    forgotten: bool,
}

impl Changed {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let created_at = row.get::<Timestamp>(7)?;
        Ok(Self {
            number: row.get(0)?,
            change: row.get(1)?,
            session: row.get(2)?,
            text: indexed_text(row.text(4)?, row.text(5)?, row.text(3)?, created_at),
            note: Note { created_at, weight: row.get::<f64>(6)? as f32 },
            forgotten: row.get::<Option<Timestamp>>(8)?.is_some(),
        })
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

impl ProjectIndex {
    pub(super) fn open(folder: Option<&Path>, dimension: usize) -> Result<Self> {
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
        Ok(Self { words, known: RwLock::new(Known::new(dimension)), seen: Mutex::default(), words_until })
    }

    /// Takes in what has changed since the last look. A write that was answered before this was called is seen after it.
    pub(super) async fn catch_up(&self, rows: &OrgStore, project: &ProjectId, model: &str) -> Result<()> {
        let mut seen = self.seen.lock().await;
        let last = rows.first(sql::LAST_CHANGE, &params![project], |row| row.get::<i64>(0)).await?.unwrap_or(0);
        if last <= seen.anything {
            return Ok(());
        }
        loop {
            let since = seen.observations;
            let changed = rows.query(CHANGED_SINCE, &params![project, since, ROWS_AT_ONCE], Changed::from_row).await?;
            seen.observations = changed.last().map_or(since, |last| last.change);
            let more = changed.len() as i64 >= ROWS_AT_ONCE;
            self.follow(&changed)?;
            if !more {
                break;
            }
        }
        loop {
            let row = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<Vec<u8>>(2)?));
            let vectors = rows.query(sql::VECTORS_SINCE, &params![project, seen.vectors, model, ROWS_AT_ONCE], row).await?;
            seen.vectors = vectors.last().map_or(seen.vectors, |(_, change, _)| *change);
            let more = vectors.len() as i64 >= ROWS_AT_ONCE;
            self.take_vectors(&vectors);
            if !more {
                break;
            }
        }
        seen.anything = last;
        Ok(())
    }

    fn follow(&self, changed: &[Changed]) -> Result<()> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for item in changed {
            let (number, change) = (item.number.cast_unsigned(), item.change.cast_unsigned());
            if item.forgotten {
                known.remove(number);
                self.write_words(|words| words.remove(number, change))?;
                continue;
            }
            // A text never changes: only its weight does.
            if !known.contains(number) && item.change > self.words_until {
                self.write_words(|words| words.upsert(number, &item.text, change))?;
            }
            known.put(number, &item.session, item.note);
        }
        Ok(())
    }

    /// Writes to the words; a tail that is full is committed first.
    fn write_words(&self, write: impl Fn(&KeywordIndex) -> Result<(), KeywordError>) -> Result<()> {
        match write(&self.words) {
            Err(KeywordError::TailFull) => self.words.flush().and_then(|_| write(&self.words)).map_err(Error::unavailable),
            outcome => outcome.map_err(Error::unavailable),
        }
    }

    fn take_vectors(&self, vectors: &[(i64, i64, Vec<u8>)]) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // A text that the model refused has an empty one.
        for (number, _, bytes) in vectors.iter().filter(|(.., bytes)| !bytes.is_empty()) {
            // One of another dimension under the same name of a model, or one without a direction, cannot be compared.
            if let Err(error) = known.vectors.upsert(number.cast_unsigned(), &from_row(bytes)) {
                tracing::warn!(number, %error, "a vector is left out");
            }
        }
    }

    /// Ranks by words, by meaning if there is a vector, and by both.
    pub(super) fn rank(
        &self,
        query: &str,
        vector: Option<&Query>,
        ranking: &Ranking,
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Ranked>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let near = vector.map_or_else(Vec::new, |vector| known.vectors.search(vector, CANDIDATES, None));
        let cosine_of = |id: u64| vector.and_then(|vector| known.vectors.similarity(id, vector));
        let mut words = match ranking.mode {
            Mode::Vector => Vec::new(),
            Mode::Keyword | Mode::Fused => self.words.search(query, CANDIDATES, None).map_err(Error::unavailable)?,
        };
        if ranking.mode == Mode::Fused {
            // What only the meaning found may hold a word, too, far down among many that do.
            let found: std::collections::HashSet<u64> = words.iter().map(|hit| hit.id).collect();
            let missing: Vec<u64> = near.iter().map(|hit| hit.id).filter(|id| !found.contains(id)).collect();
            words.extend(self.words.scores(query, &missing).map_err(Error::unavailable)?);
        }
        let mut fused = fusion::fuse(&words, &near, &cosine_of, &ranking.weights);
        if vector.is_some() {
            let_words_stand_in(&mut fused);
        }
        fused.retain(|hit| ranking.finds(hit));
        if ranking.mode == Mode::Fused {
            fusion::lift(&mut fused, &|id| known.neighbours(id), &cosine_of, &ranking.weights);
        }
        let mut ranked = ranking.order(fused, |id| known.note(id), now);
        ranked.truncate(most);
        Ok(ranked)
    }

    pub(super) fn vectors(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).vectors.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    /// Commits the words, and goes on with the graph of a very large index.
    pub(super) fn flush(&self) {
        const LINKS_AT_ONCE: usize = 500;
        if self.words.pending() > 0
            && let Err(error) = self.words.flush()
        {
            tracing::warn!(%error, "the cache of words could not be written");
        }
        self.known.write().unwrap_or_else(PoisonError::into_inner).vectors.link(LINKS_AT_ONCE);
    }
}
