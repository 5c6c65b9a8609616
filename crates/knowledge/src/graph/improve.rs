//! Ratings of facts: a rating moves a weight a tenth of the way, once per session and triplet.

use base::{ProjectId, Result, Timestamp, TripletId};
use store::{Change, OrgTx, params};

use super::model::{Entity, TripletRow};
use super::nearest::{misspelled, no_entity_called};
use super::resolve::{called, members, representative};
use super::{KnowledgeGraph, name, sql};
use crate::memory::WorkOutcome;
use crate::{Asked, Error, changes};
use base::Author;

/// How far one rating moves a weight.
const ALPHA: f64 = 0.1;

/// A rating of facts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judgement {
    /// By the outcome of the work that used them.
    Outcome(WorkOutcome),
    /// By a number from 0 to 1.
    Score(f64),
}

impl Judgement {
    /// The value that the weight moves towards. Rework counts as much for a fact as against it.
    fn signal(self) -> f64 {
        match self {
            Self::Outcome(WorkOutcome::Accepted) => 1.0,
            Self::Outcome(WorkOutcome::Rework) => 0.5,
            Self::Outcome(WorkOutcome::Rejected) => 0.0,
            Self::Score(score) => score,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Outcome(outcome) => outcome.word(),
            Self::Score(_) => "score",
        }
    }

    /// The weight after the rating.
    pub fn moves(self, weight: f64) -> f64 {
        ALPHA * self.signal() + (1.0 - ALPHA) * weight
    }
}

/// A reference to a triplet.
#[derive(Clone, Debug)]
pub enum TripletRef {
    /// By its id.
    Id(TripletId),
    /// By its parts.
    Fact {
        /// A name of its source.
        source: String,
        /// Its relationship.
        relationship: String,
        /// A name of its target.
        target: String,
    },
}

/// A rated triplet.
#[derive(Clone, Debug, PartialEq)]
pub struct ImprovedTriplet {
    /// The triplet.
    pub id: TripletId,
    /// Its source.
    pub source: String,
    /// How the two are related.
    pub relationship: String,
    /// Its target.
    pub target: String,
    /// The weight before.
    pub before: f64,
    /// The weight after.
    pub after: f64,
    /// Whether this session had already rated it, so that nothing changed.
    pub repeated: bool,
}

/// An entity of a rated triplet.
#[derive(Clone, Debug, PartialEq)]
pub struct ImprovedEntity {
    /// The entity.
    pub entity: Entity,
    /// The weight before.
    pub before: f64,
    /// The weight after all of its triplets.
    pub after: f64,
}

/// The result of a rating.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Improved {
    /// The triplets, in the order given.
    pub triplets: Vec<ImprovedTriplet>,
    /// Their entities, without duplicates.
    pub entities: Vec<ImprovedEntity>,
}

impl KnowledgeGraph<Change> {
    /// Rates triplets, all of them or none.
    pub async fn improve(&self, author: &Author, meant: Vec<TripletRef>, judgement: Judgement) -> Result<Improved, Error> {
        if let Judgement::Score(score) = judgement
            && !(0.0..=1.0).contains(&score)
        {
            return Err(Error::BadScore);
        }
        let (project, clock, session) = (self.project, self.clock.clone(), author.session.clone());
        let improved = self
            .rows
            .write(move |tx| {
                let mut court = Court { project, session: &session, judgement, now: clock.now(), improved: Improved::default() };
                for (position, meant) in meant.iter().enumerate() {
                    let triplet = court.find(tx, meant, position)?;
                    court.judge(tx, &triplet)?;
                }
                Ok(court.improved)
            })
            .await?;
        Ok(improved)
    }
}

struct Court<'a> {
    project: ProjectId,
    session: &'a str,
    judgement: Judgement,
    now: Timestamp,
    improved: Improved,
}

impl Court<'_> {
    /// Finds a triplet. A triplet of another project is not found.
    fn find(&self, tx: &mut OrgTx<'_, '_>, meant: &TripletRef, position: usize) -> Result<TripletRow> {
        let (found, missing) = match meant {
            TripletRef::Id(id) => {
                let found = tx.first(sql::TRIPLET_BY_ID, &params![self.project, id], TripletRow::from_row)?;
                (found, Error::UnknownListedTriplet { position })
            }
            TripletRef::Fact { source, relationship, target } => {
                let relationship = name::relationship(relationship);
                let found = self.find_fact(tx, [source, target], &relationship, position)?;
                (found, Error::UnknownFact { position, fact: format!("{source} {relationship} {target}") })
            }
        };
        found.ok_or_else(|| missing.through_store())
    }

    fn find_fact(
        &self,
        tx: &mut OrgTx<'_, '_>,
        ends: [&String; 2],
        relationship: &str,
        position: usize,
    ) -> Result<Option<TripletRow>> {
        let mut numbers = [Vec::new(), Vec::new()];
        for (end, numbers) in ends.iter().zip(&mut numbers) {
            for entity in called(tx, &self.project, &name::cleaned(end))? {
                numbers.extend(members(tx, &self.project, entity.number)?);
            }
            if numbers.is_empty() {
                let near = misspelled(tx, &self.project, end)?;
                return Err(no_entity_called(end, Asked::InTriplet(position), near).through_store());
            }
        }
        let [sources, targets] = numbers;
        for source in &sources {
            for target in &targets {
                let asked = params![self.project, source, relationship, target, self.now];
                if let Some(found) = tx.first(sql::STATED, &asked, TripletRow::from_row)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    fn judge(&mut self, tx: &mut OrgTx<'_, '_>, triplet: &TripletRow) -> Result<()> {
        let source = representative(tx, &self.project, triplet.source)?;
        let target = representative(tx, &self.project, triplet.target)?;
        let repeated = tx.first(sql::VOTED, &params![self.project, triplet.number, self.session], |_| Ok(()))?.is_some();
        let after = if repeated { triplet.weight } else { self.judgement.moves(triplet.weight) };
        if !repeated {
            let change = changes::next(tx, &self.project)?;
            tx.execute(sql::WEIGH_TRIPLET, &params![self.project, triplet.number, after, change])?;
            self.record(tx, triplet.number, triplet.number, change, triplet.weight, after)?;
        }
        self.improved.triplets.push(ImprovedTriplet {
            id: triplet.id,
            source: source.name.clone(),
            relationship: triplet.relationship.clone(),
            target: target.name.clone(),
            before: triplet.weight,
            after,
            repeated,
        });
        let is_loop = source.number == target.number;
        for entity in std::iter::once(source).chain((!is_loop).then_some(target)) {
            self.judge_entity(tx, entity, triplet.number, repeated)?;
        }
        Ok(())
    }

    fn judge_entity(&mut self, tx: &mut OrgTx<'_, '_>, entity: Entity, triplet: i64, repeated: bool) -> Result<()> {
        let (number, before) = (entity.number, entity.weight);
        let after = if repeated { before } else { self.judgement.moves(before) };
        if !repeated {
            let change = changes::next(tx, &self.project)?;
            tx.execute(sql::WEIGH_ENTITY, &params![self.project, number, after, change])?;
            self.record(tx, number, triplet, change, before, after)?;
        }
        match self.improved.entities.iter_mut().find(|known| known.entity.number == number) {
            Some(known) => known.after = after,
            None => self.improved.entities.push(ImprovedEntity { entity, before, after }),
        }
        Ok(())
    }

    fn record(&self, tx: &mut OrgTx<'_, '_>, number: i64, triplet: i64, change: i64, before: f64, after: f64) -> Result<()> {
        let (word, signal) = (self.judgement.word(), self.judgement.signal());
        let moved = params![self.project, number, self.session, triplet, change, word, signal, before, after, self.now];
        tx.execute(sql::RECORD_MOVE, &moved).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weights_move_by_the_documented_formula() {
        for (judgement, after) in [
            (Judgement::Outcome(WorkOutcome::Accepted), 0.55),
            (Judgement::Outcome(WorkOutcome::Rework), 0.5),
            (Judgement::Outcome(WorkOutcome::Rejected), 0.45),
            (Judgement::Score(0.8), 0.53),
        ] {
            assert!((judgement.moves(0.5) - after).abs() < 1e-12, "{judgement:?}");
        }
    }

    proptest! {
        #[test]
        fn a_weight_stays_between_zero_and_one(scores in prop::collection::vec(0.0_f64..=1.0, 0..200)) {
            let weight = scores.iter().fold(0.5, |weight, score| Judgement::Score(*score).moves(weight));
            prop_assert!((0.0..=1.0).contains(&weight));
        }
    }
}
