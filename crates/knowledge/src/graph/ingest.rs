//! Stores facts, all of a call or none. A known fact is not stored twice. A newer value of a functional relationship supersedes
//! the older one. Other facts are kept next to each other.

use std::collections::HashSet;

use base::limits::FUNCTIONAL_TARGETS_MAX;
use base::{ObservationId, ProjectId, Result, Timestamp, TripletId};
use store::{Change, OrgTx, params};

use super::model::{CheckedTriplet, Entity, NewTriplet, TripletRow, WEIGHT_FIRST, sentence};
use super::resolve::Resolver;
use super::{KnowledgeGraph, sql};
use crate::embedding::TextKind;
use crate::{Error, Flaw, Part, sql as shared};
use base::Author;

/// The result of an ingest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Entities that were created.
    pub entities_created: u32,
    /// Facts that are new.
    pub triplets_created: u32,
    /// Facts that were already known.
    pub triplets_existing: u32,
    /// Older facts that were superseded.
    pub superseded: u32,
    /// The id of the fact for each triplet of the call, in order.
    pub ids: Vec<TripletId>,
}

impl KnowledgeGraph<Change> {
    /// Stores the facts that `author` states, all of them or none.
    pub async fn ingest(&self, author: &Author, new: Vec<NewTriplet>) -> Result<Ingested, Error> {
        let checked = NewTriplet::checked(new)?;
        let (project, clock, author) = (self.project, self.clock.clone(), author.clone());
        Ok(self.rows.write(move |tx| ingest_in(tx, project, &author, clock.now(), None, &checked)).await?)
    }
}

/// Stores facts in a transaction that may do more.
pub(crate) fn ingest_in(
    tx: &mut OrgTx<'_, '_>,
    project: ProjectId,
    author: &Author,
    now: Timestamp,
    observation: Option<ObservationId>,
    new: &[CheckedTriplet],
) -> Result<Ingested> {
    let mut intake = Intake {
        project,
        author,
        now,
        observation,
        resolver: Resolver::new(tx, project, author, now, new)?,
        stated: HashSet::new(),
        ingested: Ingested::default(),
    };
    for (place, triplet) in new.iter().enumerate() {
        let id = intake.take(tx, triplet, place)?;
        intake.ingested.ids.push(id);
    }
    let entities_created = intake.resolver.created();
    intake.resolver.numbers.finish(tx)?;
    Ok(Ingested { entities_created, ..intake.ingested })
}

struct Intake<'a> {
    project: ProjectId,
    author: &'a Author,
    now: Timestamp,
    observation: Option<ObservationId>,
    resolver: Resolver<'a>,
    /// The source, relationship and target of the facts that this call inserted.
    stated: HashSet<(i64, String, i64)>,
    ingested: Ingested,
}

/// The row of a fact, and when it is true.
struct Kept {
    number: i64,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// The two ends of a fact.
struct Ends {
    source: Entity,
    target: Entity,
}

impl Intake<'_> {
    fn take(&mut self, tx: &mut OrgTx<'_, '_>, new: &CheckedTriplet, place: usize) -> Result<TripletId> {
        let source = self.resolver.resolve(tx, &new.source)?;
        let target = self.resolver.resolve(tx, &new.target)?;
        // An alias of the target may have merged the source into another entity.
        let source = self.resolver.current(tx, source)?;
        let ends = Ends { source, target };
        let (kept, id) = match self.same(tx, &ends, new)? {
            Some(same) if is_as_long_true(&same, new) => (self.confirm(tx, &same, &ends, new)?, same.id),
            Some(same) => {
                let completed = completed(&same, new, place)?;
                let (kept, id) = self.insert(tx, &ends, &completed, same.weight)?;
                self.supersede(tx, &same, kept.number, self.now)?;
                (kept, id)
            }
            None => self.insert(tx, &ends, new, WEIGHT_FIRST)?,
        };
        // A fact of the past does not affect the present.
        if new.functional && kept.until.is_none_or(|end| end > self.now) {
            let from = kept.from.unwrap_or(self.now).max(self.now);
            for other in self.others(tx, &ends, &new.relationship, &kept, place)? {
                self.supersede(tx, &other, kept.number, from)?;
            }
        }
        Ok(id)
    }

    /// The same fact, if it is current.
    fn same(&self, tx: &mut OrgTx<'_, '_>, ends: &Ends, new: &CheckedTriplet) -> Result<Option<TripletRow>> {
        let is_new = self.resolver.is_new(&ends.source) || self.resolver.is_new(&ends.target);
        if is_new && !self.stated.contains(&(ends.source.number, new.relationship.clone(), ends.target.number)) {
            return Ok(None);
        }
        let targets = self.resolver.members(tx, ends.target.number)?;
        for source in self.resolver.members(tx, ends.source.number)? {
            for target in &targets {
                let asked = params![self.project, source, new.relationship, target, self.now, new.valid_to];
                if let Some(same) = tx.first(sql::SAME, &asked, TripletRow::from_row)? {
                    return Ok(Some(same));
                }
            }
        }
        Ok(None)
    }

    /// Other values of the relationship that are current while this one is true.
    fn others(
        &self,
        tx: &mut OrgTx<'_, '_>,
        ends: &Ends,
        relationship: &str,
        kept: &Kept,
        place: usize,
    ) -> Result<Vec<TripletRow>> {
        let mut others = Vec::new();
        for source in self.resolver.members(tx, ends.source.number)? {
            let most = i64::try_from(FUNCTIONAL_TARGETS_MAX + 2).unwrap_or(i64::MAX);
            let asked = params![self.project, source, relationship, self.now, most];
            others.extend(tx.query(sql::STANDING, &asked, TripletRow::from_row)?);
        }
        let begins_after = |other: &TripletRow| other.valid_from.zip(kept.until).is_some_and(|(from, until)| from >= until);
        others.retain(|other| other.number != kept.number && !begins_after(other));
        if others.len() > FUNCTIONAL_TARGETS_MAX {
            let relationship = relationship.to_owned();
            return Err(Error::NotFunctional { position: place, relationship }.through_store());
        }
        Ok(others)
    }

    fn insert(&mut self, tx: &mut OrgTx<'_, '_>, ends: &Ends, new: &CheckedTriplet, weight: f64) -> Result<(Kept, TripletId)> {
        let (number, id) = (self.resolver.numbers.next(), TripletId::new(self.now));
        let text = sentence(&ends.source.name, &new.relationship, &ends.target.name, &new.description);
        tx.execute(
            sql::INSERT_TRIPLET,
            &params![
                self.project,
                number,
                id,
                ends.source.number,
                new.relationship,
                ends.target.number,
                new.description,
                text,
                new.functional,
                weight,
                self.author.agent,
                self.author.session,
                self.observation,
                self.now,
                new.valid_from,
                new.valid_to
            ],
        )?;
        tx.execute(shared::ENQUEUE, &params![self.project, number, TextKind::Graph, number])?;
        self.mention(tx, number, &new.description)?;
        self.stated.insert((ends.source.number, new.relationship.clone(), ends.target.number));
        self.ingested.triplets_created += 1;
        Ok((Kept { number, from: new.valid_from, until: new.valid_to }, id))
    }

    /// A repeated fact: its author is recorded, and a new description replaces the old one.
    fn confirm(&mut self, tx: &mut OrgTx<'_, '_>, same: &TripletRow, ends: &Ends, new: &CheckedTriplet) -> Result<Kept> {
        self.ingested.triplets_existing += 1;
        self.mention(tx, same.number, &new.description)?;
        let is_reworded = !new.description.is_empty() && new.description != same.description;
        let functional = same.functional || new.functional;
        if is_reworded || functional != same.functional {
            let description = if is_reworded { &new.description } else { &same.description };
            let text = sentence(&ends.source.name, &same.relationship, &ends.target.name, description);
            let change = self.resolver.numbers.next();
            tx.execute(sql::REWORD_TRIPLET, &params![self.project, same.number, description, text, functional, change])?;
            tx.execute(shared::ENQUEUE, &params![self.project, same.number, TextKind::Graph, change])?;
        }
        // It is the only value again, even if another one was scheduled.
        if new.functional && same.superseded_at.is_some() {
            let change = self.resolver.numbers.next();
            tx.execute(sql::STAND, &params![self.project, same.number, change])?;
        }
        Ok(Kept { number: same.number, from: same.valid_from, until: same.valid_to })
    }

    fn mention(&self, tx: &mut OrgTx<'_, '_>, number: i64, description: &str) -> Result<()> {
        let (agent, session) = (&self.author.agent, &self.author.session);
        tx.execute(sql::MENTION, &params![self.project, number, agent, session, description, self.now]).map(drop)
    }

    /// An earlier end that was already scheduled stays.
    fn supersede(&mut self, tx: &mut OrgTx<'_, '_>, old: &TripletRow, by: i64, from: Timestamp) -> Result<()> {
        if old.superseded_at.is_some_and(|end| end <= from) {
            return Ok(());
        }
        let change = self.resolver.numbers.next();
        tx.execute(sql::SUPERSEDE, &params![self.project, old.number, from, by, None::<String>, change])?;
        self.ingested.superseded += 1;
        Ok(())
    }
}

/// Whether a fact brings no new validity times. Absent times mean no change.
fn is_as_long_true(known: &TripletRow, new: &CheckedTriplet) -> bool {
    (new.valid_from.is_none() || new.valid_from == known.valid_from) && (new.valid_to.is_none() || new.valid_to == known.valid_to)
}

/// A known fact with new validity times. Absent ones keep their value.
fn completed(known: &TripletRow, new: &CheckedTriplet, place: usize) -> Result<CheckedTriplet> {
    let (valid_from, valid_to) = (new.valid_from.or(known.valid_from), new.valid_to.or(known.valid_to));
    if valid_from.zip(valid_to).is_some_and(|(from, to)| from > to) {
        let refusal = Error::BadTriplet { position: place, part: Part::ValidTo, flaw: Flaw::BeforeStart };
        return Err(refusal.through_store());
    }
    let description = if new.description.is_empty() { &known.description } else { &new.description };
    let functional = new.functional || known.functional;
    Ok(CheckedTriplet { valid_from, valid_to, description: description.clone(), functional, ..new.clone() })
}
