//! Management of memory: list it, forget observations, and undo what one agent or session wrote.

use base::limits::{FORGET_ROWS_MAX, PAGE_BYTES_MAX};
use base::{Cursor, ObservationId, Page, PageRequest, Result, Timestamp};
use store::{Change, OrgStore, OrgTx, Row, params};

use super::{Memory, Observation, WeightMove, sql};
use crate::decisions::{forget_of_author, forget_of_observation};
use crate::graph::retract_of_observation;
use crate::{Error, Undo, changes, sql as shared};

/// The number of observations read at once.
const ROWS_AT_ONCE: u32 = 32;

/// A filter for observations.
#[derive(Clone, Debug, Default)]
pub struct ObservationFilter {
    /// Only this agent's.
    pub agent: Option<String>,
    /// Only this session's.
    pub session: Option<String>,
    /// Only of this type.
    pub kind: Option<String>,
    /// As known at this time.
    pub as_of: Option<Timestamp>,
}

/// The result of forgetting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of observations.
    pub observations: u64,
    /// The number of decisions whose observation was not among them, because the text is another's too.
    pub decisions: u64,
}

impl<R: AsRef<OrgStore>> Memory<R> {
    /// A page of observations, newest first. It ends early if its texts are longer than [`PAGE_BYTES_MAX`] together. `hold`
    /// reserves the bytes of every few observations, and an error of `hold` ends the page.
    pub async fn list(
        &self,
        filter: &ObservationFilter,
        page: &PageRequest,
        hold: impl Fn(usize) -> Result<()>,
    ) -> Result<Page<Observation>> {
        let cursor_of = |found: &Observation| Cursor { created_at: found.created_at, id: found.number.to_string() };
        // A cursor for an unknown position has nothing older.
        let mut before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let as_of = filter.as_of.map_or(i64::MAX, Timestamp::ms);
        let (most, mut found, mut bytes) = (page.rows.saturating_add(1), Vec::new(), 0);
        loop {
            let rows = most.saturating_sub(u32::try_from(found.len()).unwrap_or(most)).min(ROWS_AT_ONCE);
            let params = params![self.project, before, filter.agent, filter.session, filter.kind, as_of, rows];
            let some = self.rows().query(sql::LIST, &params, Observation::from_row).await?;
            let is_last = some.len() < rows as usize;
            let more: usize = some.iter().map(|found| found.content.len()).sum();
            hold(more)?;
            bytes += more;
            before = some.last().map_or(before, |found| found.number);
            found.extend(some);
            if is_last || found.len() >= most as usize {
                return Ok(Page::from_rows(found, page.rows, cursor_of));
            }
            if bytes > PAGE_BYTES_MAX {
                let next = found.last().map(cursor_of);
                return Ok(Page { items: found, next });
            }
        }
    }

    /// The history of an observation's weight, oldest first.
    pub async fn moves(&self, observation: &Observation) -> Result<Vec<WeightMove>> {
        self.rows().query(sql::MOVES, &params![self.project, observation.number], WeightMove::from_row).await
    }
}

impl Memory<Change> {
    /// Forgets an observation: its text is deleted, but the row stays. Forgetting twice has no further effect.
    pub async fn forget(&self, id: &ObservationId, by: &str) -> Result<bool, Error> {
        let (memory, id, by) = (self.clone(), *id, by.to_owned());
        let forgotten = self
            .rows
            .write(move |tx| {
                let found = tx.first(sql::BY_ID, &params![memory.project, id], Observation::from_row)?;
                let found = found.ok_or_else(|| Error::UnknownObservation(id).through_store())?;
                if found.forgotten_at.is_some() {
                    return Ok(false);
                }
                memory.forget_in(tx, found.number, &found.id, &by).map(|()| true)
            })
            .await?;
        Ok(forgotten)
    }

    /// Forgets everything that an agent, a session, or an agent in a session wrote since a time, with their decisions. The
    /// number per call is limited, so repeat until nothing is left.
    pub async fn roll_back(&self, filter: &ObservationFilter, since: Option<Timestamp>, by: &str) -> Result<Forgotten, Error> {
        if filter.agent.is_none() && filter.session.is_none() {
            return Err(Error::NobodyNamed { undo: Undo::RollBack });
        }
        let (memory, filter, by) = (self.clone(), filter.clone(), by.to_owned());
        let since = since.map_or(i64::MIN, Timestamp::ms);
        let forgotten = self
            .rows
            .write(move |tx| {
                let whose = params![memory.project, filter.agent, filter.session, since, FORGET_ROWS_MAX];
                let row = |row: &Row<'_>| Ok((row.get::<i64>("number")?, ObservationId::from_row(row.text("id")?)));
                let found = tx.query(sql::OF_AUTHOR, &whose, row)?;
                for (number, id) in &found {
                    memory.forget_in(tx, *number, id, &by)?;
                }
                let decisions = forget_of_author(tx, &memory.project, &filter, since, memory.clock.now(), &by)?;
                Ok(Forgotten { observations: found.len() as u64, decisions })
            })
            .await?;
        Ok(forgotten)
    }

    /// Forgets one observation, its decisions, and the facts that were read from it, unless someone else stated them.
    fn forget_in(&self, tx: &mut OrgTx<'_, '_>, number: i64, id: &ObservationId, by: &str) -> Result<()> {
        let (change, now) = (changes::next(tx, &self.project)?, self.clock.now());
        retract_of_observation(tx, &self.project, id, now, by)?;
        forget_of_observation(tx, &self.project, id, now, by)?;
        tx.execute(sql::FORGET, &params![self.project, number, change, now, by])?;
        tx.execute(shared::DELETE_VECTOR, &params![self.project, number])?;
        tx.execute(shared::DEQUEUE, &params![self.project, number]).map(drop)
    }
}
