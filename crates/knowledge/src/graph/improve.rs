//! What facts learn from being judged: a weight moves a tenth of the way towards the judgement, once for each session and triplet.

use base::{Error, ProjectId, Result, Timestamp, TripletId};
use store::{OrgTx, params};

use super::model::{Entity, TripletRow};
use super::resolve::{called, members, representative};
use super::{KnowledgeGraph, name, sql};
use crate::author::Author;
use crate::changes;
use crate::memory::Outcome;

/// How far one judgement moves a weight.
const ALPHA: f64 = 0.1;

/// How well facts served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judgement {
    /// By what became of the work that used them.
    Outcome(Outcome),
    /// By a number from 0 to 1.
    Score(f64),
}

impl Judgement {
    /// What the weight moves towards. Work that had to be done again says as much for a fact as against it.
    fn signal(self) -> f64 {
        match self {
            Self::Outcome(Outcome::Accepted) => 1.0,
            Self::Outcome(Outcome::Rework) => 0.5,
            Self::Outcome(Outcome::Rejected) => 0.0,
            Self::Score(score) => score,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Outcome(outcome) => outcome.word(),
            Self::Score(_) => "score",
        }
    }

    /// The weight after it.
    pub fn moves(self, weight: f64) -> f64 {
        ALPHA * self.signal() + (1.0 - ALPHA) * weight
    }
}

/// A triplet that is meant.
#[derive(Clone, Debug)]
pub enum TripletRef {
    /// By its id.
    Id(TripletId),
    /// By what it says.
    Fact {
        /// A name of its source.
        source: String,
        /// Its relationship.
        relationship: String,
        /// A name of its target.
        target: String,
    },
}

/// A triplet that was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct ImprovedTriplet {
    /// The triplet.
    pub id: TripletId,
    /// What it is about.
    pub source: String,
    /// How the two are related.
    pub relationship: String,
    /// What it is related to.
    pub target: String,
    /// The weight before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// Whether this session had judged it before, so that nothing moved.
    pub repeated: bool,
}

/// An entity whose triplets were judged.
#[derive(Clone, Debug, PartialEq)]
pub struct ImprovedEntity {
    /// The entity.
    pub entity: Entity,
    /// The weight before.
    pub before: f64,
    /// And after all of its triplets had moved it.
    pub after: f64,
}

/// What a judgement moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Improved {
    /// The triplets, in the order they were named.
    pub triplets: Vec<ImprovedTriplet>,
    /// Their entities, each once.
    pub entities: Vec<ImprovedEntity>,
}

impl KnowledgeGraph {
    /// Judges triplets, all of them or none.
    pub async fn improve(&self, author: &Author, meant: Vec<TripletRef>, judgement: Judgement) -> Result<Improved> {
        if let Judgement::Score(score) = judgement
            && !(0.0..=1.0).contains(&score)
        {
            return Err(Error::invalid("score", "`score` is a number from 0 to 1"));
        }
        let (project, clock, session) = (self.project, self.clock.clone(), author.session.clone());
        self.rows
            .write(move |tx| {
                let mut court = Court { project, session: &session, judgement, now: clock.now(), improved: Improved::default() };
                for (place, meant) in meant.iter().enumerate() {
                    let triplet = court.find(tx, meant, &format!("triplets[{place}]"))?;
                    court.judge(tx, &triplet)?;
                }
                Ok(court.improved)
            })
            .await
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
    /// The triplet that is meant. One that another project has is not there.
    fn find(&self, tx: &mut OrgTx<'_, '_>, meant: &TripletRef, parameter: &str) -> Result<TripletRow> {
        let (found, missing) = match meant {
            TripletRef::Id(id) => {
                let found = tx.first(sql::TRIPLET_BY_ID, &params![self.project, id], TripletRow::from_row)?;
                (found, "there is no triplet of this id".to_owned())
            }
            TripletRef::Fact { source, relationship, target } => {
                let relationship = name::relationship(relationship);
                let found = self.find_fact(tx, [source, target], &relationship, parameter)?;
                (found, format!("there is no triplet `{source} {relationship} {target}`"))
            }
        };
        found.ok_or_else(|| Error::invalid(parameter, missing))
    }

    fn find_fact(
        &self,
        tx: &mut OrgTx<'_, '_>,
        ends: [&String; 2],
        relationship: &str,
        parameter: &str,
    ) -> Result<Option<TripletRow>> {
        let mut numbers = [Vec::new(), Vec::new()];
        for (end, numbers) in ends.iter().zip(&mut numbers) {
            for entity in called(tx, &self.project, &name::cleaned(end))? {
                numbers.extend(members(tx, &self.project, entity.number)?);
            }
            if numbers.is_empty() {
                return Err(Error::invalid(parameter, format!("there is no entity called `{end}`")).with("entity", end.as_str()));
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
    fn weights_move_as_promised() {
        for (judgement, after) in [
            (Judgement::Outcome(Outcome::Accepted), 0.55),
            (Judgement::Outcome(Outcome::Rework), 0.5),
            (Judgement::Outcome(Outcome::Rejected), 0.45),
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
