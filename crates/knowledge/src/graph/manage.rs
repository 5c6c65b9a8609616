//! Management of the graph: list it, merge and split entities, and retract what one agent or session stated.

use base::{Cursor, EntityId, Page, PageRequest, ProjectId, Result, Timestamp, TripletId};
use store::{Change, OrgStore, OrgTx, Row, params};

use super::model::{Entity, Triplet, TripletRow};
use super::resolve::{merge, representative, unmerge};
use super::{KnowledgeGraph, sql};
use crate::embedding::{Coverage, TextKind};
use crate::index::Indexes;
use crate::memory::WeightMove;
use crate::{Error, changes};

/// The size of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphStats {
    /// Entities, without merged ones.
    pub entities: u64,
    /// All triplets that were ever stated.
    pub triplets: u64,
    /// Triplets that are current.
    pub standing: u64,
    /// How much of it is embedded.
    pub coverage: Coverage,
}

/// A filter for triplets.
#[derive(Clone, Debug, Default)]
pub struct TripletFilter {
    /// Only this agent's.
    pub agent: Option<String>,
    /// Only this session's.
    pub session: Option<String>,
    /// As known at this time.
    pub as_of: Option<Timestamp>,
    /// Include triplets that were superseded, retracted, or are not true at the time.
    pub all: bool,
}

/// A statement of a triplet by someone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The agent.
    pub agent: String,
    /// The session.
    pub session: String,
    /// Its description.
    pub description: String,
    /// When it was last stated.
    pub at: Timestamp,
}

/// A triplet and its history.
#[derive(Clone, Debug, PartialEq)]
pub struct TripletDetail {
    /// The triplet.
    pub triplet: Triplet,
    /// Everyone who stated it.
    pub mentions: Vec<Mention>,
    /// How its weight moved, oldest first.
    pub moves: Vec<WeightMove>,
}

/// An entity, and the one that it was merged into.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEntity {
    /// The entity.
    pub entity: Entity,
    /// The one that it was merged into.
    pub merged_into: Option<EntityId>,
}

impl ListedEntity {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let merged_into = row.get::<Option<String>>("merged_into_id")?;
        Ok(Self { entity: Entity::from_row(row)?, merged_into: merged_into.map(|id| EntityId::from_row(&id)) })
    }
}

/// An entity and its names.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityDetail {
    /// The entity.
    pub entity: Entity,
    /// The one that it was merged into.
    pub merged_into: Option<EntityId>,
    /// Its name and aliases.
    pub names: Vec<String>,
    /// How its weight moved, oldest first.
    pub moves: Vec<WeightMove>,
}

/// A merge, done or previewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The merged entity.
    pub from: Entity,
    /// The entity that it is merged into.
    pub into: Entity,
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// The size of the graph.
    pub async fn stats(&self, indexes: &Indexes) -> Result<GraphStats> {
        let count = |row: &Row<'_>| Ok(row.get::<i64>("count")?.unsigned_abs());
        let entities = self.rows().first(sql::COUNT_ENTITIES, &params![self.project], count).await?.unwrap_or(0);
        let counts = |row: &Row<'_>| Ok((row.get::<i64>("count")?.unsigned_abs(), row.get::<i64>("standing")?.unsigned_abs()));
        let triplets = self.rows().first(sql::COUNT_TRIPLETS, &params![self.project, self.clock.now()], counts).await?;
        let (triplets, standing) = triplets.unwrap_or_default();
        let vectors = indexes.graph_texts(self.rows(), &self.project).await?.texts.vectors();
        let waiting = indexes.waiting_of(self.rows(), &self.project, TextKind::Graph).await?;
        let coverage = Coverage { embedded: vectors as u64, waiting, words_only: false };
        Ok(GraphStats { entities, triplets, standing, coverage })
    }

    /// A page of triplets, newest first.
    pub async fn list(&self, indexes: &Indexes, filter: &TripletFilter, page: &PageRequest) -> Result<Page<Triplet>> {
        let (facts, at) = self.as_of(indexes, filter.as_of).await?;
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let rows = page.rows.saturating_add(1);
        let asked = params![self.project, before, filter.agent, filter.session, at, filter.all, rows];
        let numbers = self.rows().query(sql::LIST_TRIPLETS, &asked, |row| row.get::<i64>("number")).await?;
        let triplets = self.triplets(&facts, &numbers, at).await?;
        let place = |triplet: &Triplet| Cursor { created_at: triplet.provenance.at, id: triplet.number.to_string() };
        Ok(Page::from_rows(triplets, page.rows, place))
    }

    /// A page of entities, newest first, including merged ones.
    pub async fn list_entities(&self, page: &PageRequest) -> Result<Page<ListedEntity>> {
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let rows = page.rows.saturating_add(1);
        let found = self.rows().query(sql::LIST_ENTITIES, &params![self.project, before, rows], ListedEntity::from_row).await?;
        let place =
            |ListedEntity { entity, .. }: &ListedEntity| Cursor { created_at: entity.created_at, id: entity.number.to_string() };
        Ok(Page::from_rows(found, page.rows, place))
    }

    /// One triplet and its history, even if it is no longer current.
    pub async fn triplet(&self, indexes: &Indexes, id: &TripletId) -> Result<TripletDetail, Error> {
        let (facts, at) = self.as_of(indexes, None).await?;
        let row = self.rows().first(sql::TRIPLET_BY_ID, &params![self.project, id], TripletRow::from_row).await?;
        let number = row.ok_or(Error::UnknownTriplet(*id))?.number;
        let triplet = self.triplets(&facts, &[number], at).await?.pop();
        let triplet = triplet.ok_or_else(|| base::Error::internal("a triplet disappeared while it was read"))?;
        let mention = |row: &Row<'_>| {
            Ok(Mention {
                agent: row.get("agent_id")?,
                session: row.get("session_id")?,
                description: row.get("description")?,
                at: row.get("said_at")?,
            })
        };
        let mentions = self.rows().query(sql::MENTIONS, &params![self.project, number], mention).await?;
        Ok(TripletDetail { triplet, mentions, moves: self.moves(number).await? })
    }

    /// One entity and its names.
    pub async fn entity(&self, id: &EntityId) -> Result<EntityDetail, Error> {
        let found = self.rows().first(sql::ENTITY_BY_ID, &params![self.project, id], ListedEntity::from_row).await?;
        let ListedEntity { entity, merged_into } = found.ok_or(Error::UnknownEntity(*id))?;
        let names =
            self.rows().query(sql::NAMES_OF, &params![self.project, entity.number], |row| row.get::<String>("name")).await?;
        Ok(EntityDetail { moves: self.moves(entity.number).await?, entity, merged_into, names })
    }

    async fn moves(&self, number: i64) -> Result<Vec<WeightMove>> {
        self.rows().query(sql::MOVES, &params![self.project, number], WeightMove::from_row).await
    }

    /// A preview of [`KnowledgeGraph::merge`].
    pub async fn try_merge(&self, from: &EntityId, into: &EntityId) -> Result<Merged, Error> {
        let (project, from, into) = (self.project, *from, *into);
        Ok(self.rows().read(move |tx| mergeable(tx, &project, &from, &into)).await?)
    }
}

impl KnowledgeGraph<Change> {
    /// Merges an entity into another: facts about either are facts about both. [`KnowledgeGraph::split`] undoes it.
    pub async fn merge(&self, from: &EntityId, into: &EntityId, by: &str) -> Result<Merged, Error> {
        let (project, from, into, by, now) = (self.project, *from, *into, by.to_owned(), self.clock.now());
        let merged = self
            .rows
            .write(move |tx| {
                let merged = mergeable(tx, &project, &from, &into)?;
                let change = changes::next(tx, &project)?;
                merge(tx, &project, &merged.from, &merged.into, (&by, &by), now, change)?;
                Ok(merged)
            })
            .await?;
        Ok(merged)
    }

    /// Undoes a merge, and returns the entity that it was merged into. No alias merges it again.
    pub async fn split(&self, id: &EntityId, by: &str) -> Result<Merged, Error> {
        let (project, id, by, now) = (self.project, *id, by.to_owned(), self.clock.now());
        let split = self
            .rows
            .write(move |tx| {
                let from = by_id(tx, &project, &id)?;
                let Some(into) = from.merged_into else {
                    return Err(Error::NotMerged { name: from.name }.through_store());
                };
                let into = representative(tx, &project, into)?;
                unmerge(tx, &project, from.number, true, &by, now)?;
                Ok(Merged { from, into })
            })
            .await?;
        Ok(split)
    }
}

/// Two entities that can be merged.
fn mergeable(tx: &mut OrgTx<'_, '_>, project: &ProjectId, from: &EntityId, into: &EntityId) -> Result<Merged> {
    let (from, into) = (by_id(tx, project, from)?, by_id(tx, project, into)?);
    if from.merged_into.is_some() {
        return Err(Error::AlreadyMerged { name: from.name }.through_store());
    }
    let into = representative(tx, project, into.number)?;
    if from.number == into.number {
        return Err(Error::SameEntity { name: from.name }.through_store());
    }
    Ok(Merged { from, into })
}

fn by_id(tx: &mut OrgTx<'_, '_>, project: &ProjectId, id: &EntityId) -> Result<Entity> {
    tx.first(sql::ENTITY_BY_ID, &params![project, id], Entity::from_row)?.ok_or_else(|| Error::UnknownEntity(*id).through_store())
}
