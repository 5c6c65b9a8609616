//! Taking facts in: all of a call or none. What is known already is one fact; a newer value of a functional relationship takes the
//! place of the older one; everything else stands side by side.

use base::{ObservationId, ProjectId, Result, Timestamp, TripletId};
use store::{OrgTx, params};

use super::model::{CheckedTriplet, Entity, NewTriplet, TripletRow, WEIGHT_FIRST, sentence};
use super::resolve::{Resolver, members, representative};
use super::{KnowledgeGraph, sql};
use crate::author::Author;
use crate::embedding::TextKind;
use crate::{changes, sql as shared};

/// What became of the facts of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Entities that nobody had named before.
    pub entities_created: u32,
    /// Facts that are new.
    pub triplets_created: u32,
    /// Facts that were known.
    pub triplets_existing: u32,
    /// Older facts that newer ones took the place of.
    pub superseded: u32,
    /// The fact that each of the call's triplets is now, in their order.
    pub ids: Vec<TripletId>,
}

impl KnowledgeGraph {
    /// Keeps what `author` states, all of it or nothing.
    pub async fn ingest(&self, author: &Author, new: Vec<NewTriplet>) -> Result<Ingested> {
        let checked = NewTriplet::checked(new)?;
        let (project, clock, author) = (self.project, self.clock.clone(), author.clone());
        self.rows.write(move |tx| ingest_in(tx, project, &author, clock.now(), None, &checked)).await
    }
}

/// Takes facts in, in a transaction that may have more to do.
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
        resolver: Resolver::new(project, author, now),
        ingested: Ingested::default(),
    };
    for triplet in new {
        let id = intake.take(tx, triplet)?;
        intake.ingested.ids.push(id);
    }
    Ok(Ingested { entities_created: intake.resolver.created, ..intake.ingested })
}

struct Intake<'a> {
    project: ProjectId,
    author: &'a Author,
    now: Timestamp,
    observation: Option<ObservationId>,
    resolver: Resolver<'a>,
    ingested: Ingested,
}

/// The two ends of a fact.
struct Ends {
    source: Entity,
    target: Entity,
}

impl Intake<'_> {
    fn take(&mut self, tx: &mut OrgTx<'_, '_>, new: &CheckedTriplet) -> Result<TripletId> {
        let source = self.resolver.resolve(tx, &new.source)?;
        let target = self.resolver.resolve(tx, &new.target)?;
        // An alias of the target may have merged the source away.
        let source = representative(tx, &self.project, source.number)?;
        let ends = Ends { source, target };
        let (number, id) = match self.same(tx, &ends, &new.relationship)? {
            Some(same) if is_as_long_true(&same, new) => self.confirm(tx, &same, &ends, new)?,
            Some(same) => {
                let (number, id) = self.insert(tx, &ends, new, same.weight)?;
                self.supersede(tx, &same, number, self.now)?;
                (number, id)
            }
            None => self.insert(tx, &ends, new, WEIGHT_FIRST)?,
        };
        // What was true in the past says nothing of what is true now.
        if new.functional && new.valid_to.is_none_or(|end| end > self.now) {
            let from = new.valid_from.unwrap_or(self.now).max(self.now);
            for other in self.others(tx, &ends, &new.relationship, number)? {
                self.supersede(tx, &other, number, from)?;
            }
        }
        Ok(id)
    }

    /// The same fact, if it stands.
    fn same(&self, tx: &mut OrgTx<'_, '_>, ends: &Ends, relationship: &str) -> Result<Option<TripletRow>> {
        let targets = members(tx, &self.project, ends.target.number)?;
        for source in members(tx, &self.project, ends.source.number)? {
            for target in &targets {
                let asked = params![self.project, source, relationship, target, self.now];
                if let Some(same) = tx.first(sql::SAME, &asked, TripletRow::from_row)? {
                    return Ok(Some(same));
                }
            }
        }
        Ok(None)
    }

    /// Other values of the relationship that stand.
    fn others(&self, tx: &mut OrgTx<'_, '_>, ends: &Ends, relationship: &str, new: i64) -> Result<Vec<TripletRow>> {
        let mut others = Vec::new();
        for source in members(tx, &self.project, ends.source.number)? {
            others.extend(tx.query(
                sql::STANDING,
                &params![self.project, source, relationship, self.now],
                TripletRow::from_row,
            )?);
        }
        others.retain(|other| other.number != new);
        Ok(others)
    }

    fn insert(&mut self, tx: &mut OrgTx<'_, '_>, ends: &Ends, new: &CheckedTriplet, weight: f64) -> Result<(i64, TripletId)> {
        let (number, id) = (changes::next(tx, &self.project)?, TripletId::new(self.now));
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
        tx.execute(shared::ENQUEUE, &params![self.project, number, TextKind::Graph])?;
        self.mention(tx, number, &new.description)?;
        self.ingested.triplets_created += 1;
        Ok((number, id))
    }

    /// Said again: by whom is kept, and a description that is new is the one that is shown.
    fn confirm(
        &mut self,
        tx: &mut OrgTx<'_, '_>,
        same: &TripletRow,
        ends: &Ends,
        new: &CheckedTriplet,
    ) -> Result<(i64, TripletId)> {
        self.ingested.triplets_existing += 1;
        self.mention(tx, same.number, &new.description)?;
        let is_reworded = !new.description.is_empty() && new.description != same.description;
        let functional = same.functional || new.functional;
        if is_reworded || functional != same.functional {
            let description = if is_reworded { &new.description } else { &same.description };
            let text = sentence(&ends.source.name, &same.relationship, &ends.target.name, description);
            let change = changes::next(tx, &self.project)?;
            tx.execute(sql::REWORD_TRIPLET, &params![self.project, same.number, description, text, functional, change])?;
            tx.execute(shared::ENQUEUE, &params![self.project, same.number, TextKind::Graph])?;
        }
        Ok((same.number, same.id))
    }

    fn mention(&self, tx: &mut OrgTx<'_, '_>, number: i64, description: &str) -> Result<()> {
        let (agent, session) = (&self.author.agent, &self.author.session);
        tx.execute(sql::MENTION, &params![self.project, number, agent, session, description, self.now]).map(drop)
    }

    fn supersede(&mut self, tx: &mut OrgTx<'_, '_>, old: &TripletRow, by: i64, from: Timestamp) -> Result<()> {
        let change = changes::next(tx, &self.project)?;
        tx.execute(sql::SUPERSEDE, &params![self.project, old.number, from, by, None::<String>, change])?;
        self.ingested.superseded += 1;
        Ok(())
    }
}

/// Whether a fact says nothing new about when it is true. Times that are left out say nothing.
fn is_as_long_true(known: &TripletRow, new: &CheckedTriplet) -> bool {
    (new.valid_from.is_none() || new.valid_from == known.valid_from) && (new.valid_to.is_none() || new.valid_to == known.valid_to)
}
