//! Recalls observations that help with a query.

use base::limits::PAGE_BYTES_MAX;
use base::{ObservationId, Result};
use store::{Change, OrgStore, Row, params};

use super::rank::Ranked;
use super::{Budget, Memory, Observation, Ranking, Why, WorkType, sql};
use crate::Error;
use crate::embedding::Coverage;
use crate::index::Indexes;
use base::Author;

/// The number of observations read at once.
const ROWS_AT_ONCE: usize = 16;
/// The maximum number of hits to consider. Later ones do not help.
const HITS_MAX: usize = 96;
/// A number that no row has.
const NOTHING: i64 = -1;

/// A recall.
#[derive(Clone, Debug)]
pub struct Recall {
    /// The query in plain words.
    pub query: String,
    /// The work type.
    pub work: WorkType,
    /// The weights of the ranking.
    pub ranking: Ranking,
}

/// An observation that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    /// The observation.
    pub observation: Observation,
    /// Its score.
    pub score: f32,
    /// The parts of the score.
    pub why: Why,
}

/// The result of a recall.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// Best first.
    pub observations: Vec<Citation>,
    /// The token budget and usage.
    pub budget: Budget,
    /// How much of the project is embedded.
    pub coverage: Coverage,
}

/// An observation, and the hashes that recognise it if a session sends it back.
struct Found {
    observation: Observation,
    hash: String,
    simhash: i64,
}

impl<R: AsRef<OrgStore>> Memory<R> {
    /// Finds observations without a token budget and without recording the recall, for people and for measurements. The result
    /// is at most [`PAGE_BYTES_MAX`] long; `hold` reserves the bytes.
    pub async fn search(
        &self,
        indexes: &Indexes,
        query: &str,
        ranking: Ranking,
        most: usize,
        hold: impl Fn(usize) -> Result<()>,
    ) -> Result<Vec<Citation>> {
        let _question = indexes.questions.ask();
        let (ranked, _) = indexes.search(self.rows(), &self.project, query, ranking, most).await?;
        let (mut found, mut bytes) = (Vec::new(), 0);
        for hits in ranked.chunks(ROWS_AT_ONCE) {
            let cite =
                |(hit, found): (Ranked, Found)| Citation { observation: found.observation, score: hit.score, why: hit.why };
            let some: Vec<Citation> = self.read(hits).await?.into_iter().map(cite).collect();
            let more: usize = some.iter().map(|found| found.observation.content.len()).sum();
            hold(more)?;
            bytes += more;
            found.extend(some);
            if bytes > PAGE_BYTES_MAX {
                break;
            }
        }
        Ok(found)
    }

    /// The rows of hits, in the order of the hits. Observations that were just forgotten are left out.
    async fn read(&self, hits: &[Ranked]) -> Result<Vec<(Ranked, Found)>> {
        let mut numbers = [NOTHING; ROWS_AT_ONCE];
        for (place, hit) in numbers.iter_mut().zip(hits) {
            *place = hit.number.cast_signed();
        }
        let params: Vec<_> = std::iter::once(store::AsParam::as_param(&self.project))
            .chain(numbers.iter().map(store::AsParam::as_param))
            .collect();
        let found = |row: &Row<'_>| {
            Ok(Found { observation: Observation::from_row(row)?, hash: row.get("hash")?, simhash: row.get("simhash")? })
        };
        let mut rows = self.rows().query(sql::BY_NUMBERS, &params, found).await?;
        let in_order = hits.iter().filter_map(|hit| {
            let place = rows.iter().position(|found| found.observation.number == hit.number.cast_signed())?;
            Some((*hit, rows.swap_remove(place)))
        });
        Ok(in_order.collect())
    }

    /// The observation with this id, forgotten or not.
    pub async fn get(&self, id: &ObservationId) -> Result<Observation, Error> {
        let found = self.rows().first(sql::BY_ID, &params![self.project, id], Observation::from_row).await?;
        found.ok_or(Error::UnknownObservation(*id))
    }
}

impl Memory<Change> {
    /// Finds observations in the same order, within the token budget, and records that `author`'s session got them.
    pub async fn recall(&self, indexes: &Indexes, author: &Author, recall: Recall) -> Result<Recalled> {
        let _question = indexes.questions.ask();
        let mut budget = Budget::of(recall.work);
        let (ranked, coverage) = indexes.search(self.rows(), &self.project, &recall.query, recall.ranking, HITS_MAX).await?;
        let mut given = Vec::new();
        for hits in ranked.chunks(ROWS_AT_ONCE) {
            for (hit, found) in self.read(hits).await? {
                if budget.take(&found.observation.content) {
                    given.push((hit, found));
                }
            }
            if budget.used >= budget.tokens {
                break;
            }
        }
        self.give(author, &given).await?;
        let cite = |(hit, found): (Ranked, Found)| Citation { observation: found.observation, score: hit.score, why: hit.why };
        Ok(Recalled { observations: given.into_iter().map(cite).collect(), budget, coverage })
    }

    /// Records what the session got. It need not be on disk before the answer leaves: a power cut loses at most one session's
    /// vote.
    async fn give(&self, author: &Author, given: &[(Ranked, Found)]) -> Result<()> {
        if given.is_empty() {
            return Ok(());
        }
        let (session, project, now) = (author.session.clone(), self.project, self.clock.now());
        let given: Vec<_> =
            given.iter().map(|(_, found)| (found.observation.number, found.hash.clone(), found.simhash)).collect();
        let note = self.rows.note(move |tx| {
            for (number, hash, simhash) in &given {
                tx.execute(sql::GIVE, &params![session, project, number, hash, simhash, now])?;
            }
            Ok(())
        });
        note.await
    }
}
