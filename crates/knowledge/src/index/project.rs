//! The index of one project's observations, and how it follows the rows.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use base::{ProjectId, Result, Timestamp};
use search::fusion::{Fused, Neighbourhood};
use search::vectors::Query;
use store::{OrgStore, Row, params};
use tokio::sync::Mutex;

use super::ROWS_AT_ONCE;
use super::known::{Known, Note};
use super::loaded::Loaded;
use super::recent::Recent;
use super::texts::{Texts, Wanted};
use crate::embedding::TextKind;
use crate::memory::{CHANGED_SINCE, Mode, Ranked, Ranking, indexed_text};
use crate::sql;

/// Keywords, vectors and metadata of one project.
pub(super) struct ProjectIndex {
    texts: Texts,
    known: RwLock<Known>,
    recent: Recent,
    /// Held while following changes, so that concurrent callers wait for the same rows.
    seen: Mutex<Seen>,
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
        let created_at = row.get::<Timestamp>("created_at")?;
        Ok(Self {
            number: row.get("number")?,
            change: row.get("change")?,
            session: row.get("session_id")?,
            text: indexed_text(row.text("content")?, row.text("type")?, row.text("agent_id")?, created_at),
            note: Note { created_at, weight: row.get::<f64>("weight")? as f32 },
            forgotten: row.get::<Option<Timestamp>>("forgotten_at")?.is_some(),
        })
    }
}

impl ProjectIndex {
    pub(super) fn open(folder: Option<&Path>, dimension: usize) -> Result<Self> {
        let texts = Texts::open(TextKind::Observation, folder, dimension)?;
        Ok(Self { texts, known: RwLock::default(), recent: Recent::new(), seen: Mutex::default() })
    }

    /// Applies changes since the last call and returns whether there were any. It includes every write that was acknowledged before.
    pub(super) async fn catch_up(&self, rows: &OrgStore, project: &ProjectId, model: &str) -> Result<bool> {
        let mut seen = self.seen.lock().await;
        let last = rows.first(sql::LAST_CHANGE, &params![project], |row| row.get::<i64>("number")).await?.unwrap_or(0);
        if last <= seen.anything {
            return Ok(false);
        }
        loop {
            let since = seen.observations;
            let changed = rows.query(CHANGED_SINCE, &params![project, since, ROWS_AT_ONCE], Changed::from_row).await?;
            seen.observations = changed.last().map_or(since, |last| last.change);
            self.follow(&changed)?;
            if (changed.len() as i64) < ROWS_AT_ONCE {
                break;
            }
        }
        seen.vectors = self.texts.follow_vectors(rows, project, model, seen.vectors).await?;
        seen.anything = last;
        self.recent.clear();
        Ok(true)
    }

    fn follow(&self, changed: &[Changed]) -> Result<()> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for item in changed {
            let number = item.number.cast_unsigned();
            if item.forgotten {
                known.remove(number);
                self.texts.remove(item.number, item.change)?;
                continue;
            }
            // A text never changes, only its weight does.
            if !known.contains(number) && item.change > self.texts.words_until {
                self.texts.put(item.number, &item.text, item.change)?;
            }
            known.put(number, &item.session, item.note);
        }
        Ok(())
    }

    /// Ranks by keywords, by meaning if there is a vector, or by both.
    pub(super) fn rank(
        &self,
        query: &str,
        vector: Option<&Query>,
        ranking: &Ranking,
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Ranked>> {
        // Without its vector a query has other hits, and gets it the next time.
        let is_complete = vector.is_some() || ranking.mode == Mode::Keyword;
        let find = || self.hits(query, vector, ranking);
        let hits = if is_complete { self.recent.hits(query, ranking, find)? } else { find()?.into() };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut ranked = ranking.order(&hits, |id| known.note(id), now);
        ranked.truncate(most);
        Ok(ranked)
    }

    /// The hits before age and learned weight count.
    fn hits(&self, query: &str, vector: Option<&Query>, ranking: &Ranking) -> Result<Vec<Fused>> {
        let wanted = Wanted { query, vector, mode: ranking.mode, weights: &ranking.weights, filter: None };
        let mut found = self.texts.find(&wanted)?;
        found.hits.retain(|hit| hit.is_hit(ranking.cosine_min));
        if ranking.mode == Mode::Fused {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            let around = Neighbourhood {
                neighbours_of: &|id, step| known.neighbours(id, step + 1),
                cosine_of: &|id| vector.and_then(|vector| self.texts.cosine(id, vector)),
                alike: &|one, other| self.texts.alike(one, other),
            };
            found.lift(&around, &ranking.weights);
        }
        Ok(found.hits)
    }

    pub(super) fn vectors(&self) -> usize {
        self.texts.vectors()
    }
}

impl Loaded for ProjectIndex {
    fn bytes(&self) -> usize {
        self.texts.bytes() + self.recent.bytes() + self.known.read().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    fn flush(&self) {
        self.texts.flush();
    }
}
