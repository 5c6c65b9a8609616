//! Retracts what one agent or session stated. Facts that were superseded by it become current again, and reads as of an earlier
//! time do not change.

use base::limits::FORGET_ROWS_MAX;
use base::{ObservationId, ProjectId, Result, Timestamp, TripletId};
use store::{Change, OrgTx, params};

use super::model::{TripletRow, sentence};
use super::resolve::{members, representative, unmerge};
use super::{KnowledgeGraph, sql};
use crate::embedding::TextKind;
use crate::{Error, Undo, changes, sql as shared};

/// Whose triplets to retract.
#[derive(Clone, Debug, Default)]
pub struct RetractFilter {
    /// This agent's triplets.
    pub agent: Option<String>,
    /// This session's triplets.
    pub session: Option<String>,
    /// Only triplets from this time on.
    pub since: Option<Timestamp>,
}

impl RetractFilter {
    fn names(&self, triplet: &TripletRow) -> bool {
        let from = &triplet.provenance;
        self.agent.as_ref().is_none_or(|agent| *agent == from.agent)
            && self.session.as_ref().is_none_or(|session| *session == from.session)
            && self.since.is_none_or(|since| since <= from.at)
    }
}

/// The result of a retraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retracted {
    /// Triplets that are no longer current.
    pub triplets: u64,
    /// Older triplets that are current again, because the retracted ones had superseded them.
    pub restored: u64,
    /// Merges that were undone.
    pub split: u64,
}

impl KnowledgeGraph<Change> {
    /// Retracts what an agent, a session, or an agent in a session stated and nobody else did, and undoes their merges. The
    /// number per call is limited, so repeat until nothing is left.
    pub async fn retract(&self, filter: &RetractFilter, by: &str) -> Result<Retracted, Error> {
        if filter.agent.is_none() && filter.session.is_none() {
            return Err(Error::NobodyNamed { undo: Undo::Retract });
        }
        let (project, clock, filter, by) = (self.project, self.clock.clone(), filter.clone(), by.to_owned());
        let retracted = self
            .rows
            .write(move |tx| {
                let (now, since) = (clock.now(), filter.since.map_or(i64::MIN, Timestamp::ms));
                let mut retraction =
                    Retraction { project, now, by: &by, is_theirs: &|row| filter.names(row), retracted: Retracted::default() };
                let merges = params![project, filter.agent, filter.session, since, FORGET_ROWS_MAX];
                for entity in tx.query(sql::MERGED_BY, &merges, |row| row.get::<i64>("number"))? {
                    unmerge(tx, &project, entity, false, &by, now)?;
                    retraction.retracted.split += 1;
                }
                let whose = params![project, filter.agent, filter.session, since, now, FORGET_ROWS_MAX];
                let found = tx.query(sql::OF_AUTHOR, &whose, TripletRow::from_row)?;
                retraction.retract(tx, &found)?;
                // Triplets that others superseded must not return if those are retracted later.
                for row in tx.query(sql::SUPERSEDED_OF_AUTHOR, &whose, TripletRow::from_row)? {
                    if !retraction.is_said_by_others(tx, &row)? {
                        tx.execute(sql::RETRACT_SUPERSEDED, &params![project, row.number, by])?;
                    }
                }
                Ok(retraction.retracted)
            })
            .await?;
        Ok(retracted)
    }
}

/// Retracts the facts that were read from a forgotten observation.
pub(crate) fn retract_of_observation(
    tx: &mut OrgTx<'_, '_>,
    project: &ProjectId,
    observation: &ObservationId,
    now: Timestamp,
    by: &str,
) -> Result<Retracted> {
    let found = tx.query(sql::OF_OBSERVATION, &params![project, observation, now], TripletRow::from_row)?;
    let is_theirs = |row: &TripletRow| row.provenance.observation.as_ref() == Some(observation);
    let mut retraction = Retraction { project: *project, now, by, is_theirs: &is_theirs, retracted: Retracted::default() };
    retraction.retract(tx, &found)?;
    Ok(retraction.retracted)
}

struct Retraction<'a> {
    project: ProjectId,
    now: Timestamp,
    by: &'a str,
    /// Whether a triplet was stated by the retracted author.
    is_theirs: &'a dyn Fn(&TripletRow) -> bool,
    retracted: Retracted,
}

impl Retraction<'_> {
    fn retract(&mut self, tx: &mut OrgTx<'_, '_>, found: &[TripletRow]) -> Result<()> {
        for triplet in found {
            let change = changes::next(tx, &self.project)?;
            tx.execute(sql::SUPERSEDE, &params![self.project, triplet.number, self.now, None::<i64>, self.by, change])?;
            self.retracted.triplets += 1;
        }
        found.iter().try_for_each(|triplet| self.restore_before(tx, triplet.number))
    }

    /// Restores what a triplet had superseded. If that was retracted too, restores what came before it.
    fn restore_before(&mut self, tx: &mut OrgTx<'_, '_>, number: i64) -> Result<()> {
        let mut gone = vec![number];
        while let Some(number) = gone.pop() {
            for old in tx.query(sql::SUPERSEDED_BY, &params![self.project, number], TripletRow::from_row)? {
                if (self.is_theirs)(&old) && !self.is_said_by_others(tx, &old)? {
                    tx.execute(sql::RETRACT_SUPERSEDED, &params![self.project, old.number, self.by])?;
                    gone.push(old.number);
                } else if old.superseded_at.is_some_and(|end| end > self.now) {
                    let change = changes::next(tx, &self.project)?;
                    tx.execute(sql::STAND, &params![self.project, old.number, change])?;
                    self.retracted.restored += 1;
                } else if !self.stands(tx, &old)? {
                    self.learn_again(tx, &old)?;
                    self.retracted.restored += 1;
                }
            }
        }
        Ok(())
    }

    fn is_said_by_others(&self, tx: &mut OrgTx<'_, '_>, triplet: &TripletRow) -> Result<bool> {
        let asked = params![self.project, triplet.number, triplet.provenance.agent];
        Ok(tx.first(sql::SAID_BY_OTHERS, &asked, |_| Ok(()))?.is_some())
    }

    /// Whether the same fact is current in another row, because someone stated it again.
    fn stands(&self, tx: &mut OrgTx<'_, '_>, old: &TripletRow) -> Result<bool> {
        let source = representative(tx, &self.project, old.source)?.number;
        let target = representative(tx, &self.project, old.target)?.number;
        let targets = members(tx, &self.project, target)?;
        for source in members(tx, &self.project, source)? {
            for target in &targets {
                let asked = params![self.project, source, old.relationship, target, self.now];
                if tx.first(sql::STATED, &asked, |_| Ok(()))?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A superseded fact becomes current again, from now on.
    fn learn_again(&self, tx: &mut OrgTx<'_, '_>, old: &TripletRow) -> Result<()> {
        let (number, id) = (changes::next(tx, &self.project)?, TripletId::new(self.now));
        let source = representative(tx, &self.project, old.source)?;
        let target = representative(tx, &self.project, old.target)?;
        let text = sentence(&source.name, &old.relationship, &target.name, &old.description);
        let from = &old.provenance;
        tx.execute(
            sql::INSERT_TRIPLET,
            &params![
                self.project,
                number,
                id,
                old.source,
                old.relationship,
                old.target,
                old.description,
                text,
                old.functional,
                old.weight,
                from.agent,
                from.session,
                from.observation,
                self.now,
                old.valid_from,
                old.valid_to
            ],
        )?;
        tx.execute(shared::ENQUEUE, &params![self.project, number, TextKind::Graph, number])?;
        let mention = params![self.project, number, from.agent, from.session, old.description, self.now];
        tx.execute(sql::MENTION, &mention).map(drop)
    }
}
