//! What people do with memory: look through it, forget, and undo what one agent or session wrote.

use base::limits::FORGET_ROWS_MAX;
use base::{Cursor, Error, Kind, ObservationId, Page, PageRequest, Result, Timestamp};
use store::{OrgTx, Row, params};

use super::{Memory, Observation, WeightMove, sql};
use crate::graph::retract_of_observation;
use crate::{changes, sql as shared};

/// Which observations are listed.
#[derive(Clone, Debug, Default)]
pub struct ObservationFilter {
    /// Only this agent's.
    pub agent: Option<String>,
    /// Only this session's.
    pub session: Option<String>,
    /// Only of this type.
    pub kind: Option<String>,
    /// As it was known at this time.
    pub as_of: Option<Timestamp>,
}

/// What was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// How many observations.
    pub observations: u64,
}

impl Memory {
    /// A page of observations, newest first.
    pub async fn list(&self, filter: &ObservationFilter, page: &PageRequest) -> Result<Page<Observation>> {
        // A place that no observation ever had has nothing older.
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let as_of = filter.as_of.map_or(i64::MAX, Timestamp::ms);
        let rows = page.rows.saturating_add(1);
        let params = params![self.project, before, filter.agent, filter.session, filter.kind, as_of, rows];
        let found = self.rows.query(sql::LIST, &params, Observation::from_row).await?;
        Ok(Page::from_rows(found, page.rows, |found| Cursor { created_at: found.created_at, id: found.number.to_string() }))
    }

    /// How an observation's weight moved, oldest first.
    pub async fn moves(&self, observation: &Observation) -> Result<Vec<WeightMove>> {
        let moved = |row: &Row<'_>| {
            Ok(WeightMove {
                session: row.get(0)?,
                outcome: row.get(1)?,
                before: row.get(2)?,
                after: row.get(3)?,
                at: row.get(4)?,
            })
        };
        self.rows.query(sql::MOVES, &params![self.project, observation.number], moved).await
    }

    /// Forgets an observation: its text is gone, that there was one stays. Twice is the same as once.
    pub async fn forget(&self, id: &ObservationId, by: &str) -> Result<bool> {
        let (memory, id, by) = (self.clone(), *id, by.to_owned());
        self.rows
            .write(move |tx| {
                let found = tx.first(sql::BY_ID, &params![memory.project, id], Observation::from_row)?;
                let found = found.ok_or_else(|| Error::new(Kind::NotFound, format!("there is no observation `{id}`")))?;
                if found.forgotten_at.is_some() {
                    return Ok(false);
                }
                memory.forget_in(tx, found.number, &found.id, &by).map(|()| true)
            })
            .await
    }

    /// Forgets everything that an agent, a session, or an agent in a session wrote since a time. At most so many at once: ask
    /// again until nothing is left.
    pub async fn roll_back(&self, filter: &ObservationFilter, since: Option<Timestamp>, by: &str) -> Result<Forgotten> {
        if filter.agent.is_none() && filter.session.is_none() {
            return Err(Error::invalid("agent", "say whose observations to roll back: an agent's, a session's, or both"));
        }
        let (memory, filter, by) = (self.clone(), filter.clone(), by.to_owned());
        let since = since.map_or(i64::MIN, Timestamp::ms);
        self.rows
            .write(move |tx| {
                let whose = params![memory.project, filter.agent, filter.session, since, FORGET_ROWS_MAX];
                let row = |row: &Row<'_>| Ok((row.get::<i64>(0)?, ObservationId::from_row(row.text(1)?)));
                let found = tx.query(sql::OF_AUTHOR, &whose, row)?;
                for (number, id) in &found {
                    memory.forget_in(tx, *number, id, &by)?;
                }
                Ok(Forgotten { observations: found.len() as u64 })
            })
            .await
    }

    /// Forgets one, and with it the facts that were read from it and that nobody else has stated.
    fn forget_in(&self, tx: &mut OrgTx<'_, '_>, number: i64, id: &ObservationId, by: &str) -> Result<()> {
        let (change, now) = (changes::next(tx, &self.project)?, self.clock.now());
        retract_of_observation(tx, &self.project, id, now, by)?;
        tx.execute(sql::FORGET, &params![self.project, number, change, now, by])?;
        tx.execute(shared::DELETE_VECTOR, &params![self.project, number])?;
        tx.execute(shared::DEQUEUE, &params![self.project, number]).map(drop)
    }
}
