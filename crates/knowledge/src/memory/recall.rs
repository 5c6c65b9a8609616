//! Giving back what helps.

use base::{Error, ObservationId, Result};
use store::{Row, params};

use super::rank::Ranked;
use super::{Budget, Memory, Observation, Ranking, Why, WorkType, sql};
use crate::author::Author;
use crate::embedding::Coverage;
use crate::index::Indexes;

/// Observations read at once.
const ROWS_AT_ONCE: usize = 16;
/// Hits that are looked at in all: those after them are no help any more.
const HITS_MAX: usize = 96;
/// A number that nothing has.
const NOTHING: i64 = -1;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Recall {
    /// In plain words.
    pub query: String,
    /// For which kind of work.
    pub work: WorkType,
    /// What counts.
    pub ranking: Ranking,
}

/// One observation that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    /// The observation.
    pub observation: Observation,
    /// Its score.
    pub score: f32,
    /// What the score is made of.
    pub why: Why,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// Best first.
    pub observations: Vec<Citation>,
    /// What was given of what may be.
    pub budget: Budget,
    /// How much of the project is known by meaning.
    pub coverage: Coverage,
}

/// An observation, and what a session is known by when it sends it back.
struct Found {
    observation: Observation,
    hash: String,
    simhash: i64,
}

impl Memory {
    /// Finds what helps with the query, within the budget of the work, and remembers that `author`'s session was given it.
    pub async fn recall(&self, indexes: &Indexes, author: &Author, recall: Recall) -> Result<Recalled> {
        let mut budget = Budget::of(recall.work);
        let (ranked, coverage) = indexes.search(&self.rows, &self.project, &recall.query, recall.ranking, HITS_MAX).await?;
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

    /// The same order, without a budget and without a trace: for people, and to measure it.
    pub async fn search(&self, indexes: &Indexes, query: &str, ranking: Ranking, most: usize) -> Result<Vec<Citation>> {
        let (ranked, _) = indexes.search(&self.rows, &self.project, query, ranking, most).await?;
        let mut found = Vec::new();
        for hits in ranked.chunks(ROWS_AT_ONCE) {
            let cite =
                |(hit, found): (Ranked, Found)| Citation { observation: found.observation, score: hit.score, why: hit.why };
            found.extend(self.read(hits).await?.into_iter().map(cite));
        }
        Ok(found)
    }

    /// The rows of hits, in the order of the hits. What was forgotten a moment ago is left out.
    async fn read(&self, hits: &[Ranked]) -> Result<Vec<(Ranked, Found)>> {
        let mut numbers = [NOTHING; ROWS_AT_ONCE];
        for (place, hit) in numbers.iter_mut().zip(hits) {
            *place = hit.number.cast_signed();
        }
        let params: Vec<_> = std::iter::once(store::AsParam::as_param(&self.project))
            .chain(numbers.iter().map(store::AsParam::as_param))
            .collect();
        let found =
            |row: &Row<'_>| Ok(Found { observation: Observation::from_row(row)?, hash: row.get(11)?, simhash: row.get(12)? });
        let mut rows = self.rows.query(sql::BY_NUMBERS, &params, found).await?;
        let in_order = hits.iter().filter_map(|hit| {
            let place = rows.iter().position(|found| found.observation.number == hit.number.cast_signed())?;
            Some((*hit, rows.swap_remove(place)))
        });
        Ok(in_order.collect())
    }

    /// Writes down what the session was given. It need not be on disk before the answer leaves: what a power cut forgets is one
    /// vote of one session.
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

    /// The observation called `id`, forgotten or not.
    pub async fn get(&self, id: &ObservationId) -> Result<Observation> {
        let found = self.rows.first(sql::BY_ID, &params![self.project, id], Observation::from_row).await?;
        found.ok_or_else(|| Error::new(base::Kind::NotFound, format!("there is no observation `{id}`")))
    }
}
