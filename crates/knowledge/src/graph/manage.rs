//! What people do with the graph: look through it, merge entities and undo that, and retract what one agent or session stated.

use base::{Cursor, EntityId, Error, Kind, Page, PageRequest, ProjectId, Result, Timestamp, TripletId};
use store::{OrgTx, Row, params};

use super::model::{Entity, Triplet, TripletRow};
use super::resolve::{merge, representative, unmerge};
use super::{KnowledgeGraph, sql};
use crate::embedding::{Coverage, TextKind};
use crate::index::Indexes;
use crate::memory::WeightMove;

/// How much the graph knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphStats {
    /// Entities that are themselves, not merged into others.
    pub entities: u64,
    /// Triplets that were ever stated.
    pub triplets: u64,
    /// Triplets that stand now.
    pub standing: u64,
    /// How much of it is known by meaning.
    pub coverage: Coverage,
}

/// Which triplets are listed.
#[derive(Clone, Debug, Default)]
pub struct TripletFilter {
    /// Only this agent's.
    pub agent: Option<String>,
    /// Only this session's.
    pub session: Option<String>,
    /// As it was known at this time.
    pub as_of: Option<Timestamp>,
    /// Also what was superseded, retracted, or is not true at the time.
    pub all: bool,
}

/// Someone who stated a triplet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Who.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// In these words.
    pub description: String,
    /// When, most recently.
    pub at: Timestamp,
}

/// A triplet and its story.
#[derive(Clone, Debug, PartialEq)]
pub struct TripletDetail {
    /// The triplet.
    pub triplet: Triplet,
    /// Everyone who stated it.
    pub mentions: Vec<Mention>,
    /// How its weight moved, oldest first.
    pub moves: Vec<WeightMove>,
}

/// An entity, and which one it turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEntity {
    /// The entity.
    pub entity: Entity,
    /// The one that it was merged into.
    pub merged_into: Option<EntityId>,
}

impl ListedEntity {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let merged_into = row.get::<Option<String>>(8)?;
        Ok(Self { entity: Entity::from_row(row)?, merged_into: merged_into.map(|id| EntityId::from_row(&id)) })
    }
}

/// An entity and what it is called.
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

/// A merge that was made, or would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The entity that is another.
    pub from: Entity,
    /// The one it is.
    pub into: Entity,
}

impl KnowledgeGraph {
    /// How much there is.
    pub async fn stats(&self, indexes: &Indexes) -> Result<GraphStats> {
        let count = |row: &Row<'_>| Ok(row.get::<i64>(0)?.unsigned_abs());
        let entities = self.rows.first(sql::COUNT_ENTITIES, &params![self.project], count).await?.unwrap_or(0);
        let counts = |row: &Row<'_>| Ok((row.get::<i64>(0)?.unsigned_abs(), row.get::<i64>(1)?.unsigned_abs()));
        let triplets = self.rows.first(sql::COUNT_TRIPLETS, &params![self.project, self.clock.now()], counts).await?;
        let (triplets, standing) = triplets.unwrap_or_default();
        let vectors = indexes.graph_texts(&self.rows, &self.project).await?.texts.vectors();
        let coverage = indexes.coverage(&self.rows, &self.project, TextKind::Graph, vectors, false).await?;
        Ok(GraphStats { entities, triplets, standing, coverage })
    }

    /// A page of triplets, newest first.
    pub async fn list(&self, indexes: &Indexes, filter: &TripletFilter, page: &PageRequest) -> Result<Page<Triplet>> {
        let (facts, at) = self.as_of(indexes, filter.as_of).await?;
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let rows = page.rows.saturating_add(1);
        let asked = params![self.project, before, filter.agent, filter.session, at, filter.all, rows];
        let numbers = self.rows.query(sql::LIST_TRIPLETS, &asked, |row| row.get::<i64>(0)).await?;
        let triplets = self.triplets(&facts, &numbers, at).await?;
        let place = |triplet: &Triplet| Cursor { created_at: triplet.provenance.at, id: triplet.number.to_string() };
        Ok(Page::from_rows(triplets, page.rows, place))
    }

    /// A page of entities, newest first, merged ones among them.
    pub async fn list_entities(&self, page: &PageRequest) -> Result<Page<ListedEntity>> {
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let rows = page.rows.saturating_add(1);
        let found = self.rows.query(sql::LIST_ENTITIES, &params![self.project, before, rows], ListedEntity::from_row).await?;
        let place =
            |ListedEntity { entity, .. }: &ListedEntity| Cursor { created_at: entity.created_at, id: entity.number.to_string() };
        Ok(Page::from_rows(found, page.rows, place))
    }

    /// One triplet, standing or not, and its story.
    pub async fn triplet(&self, indexes: &Indexes, id: &TripletId) -> Result<TripletDetail> {
        let (facts, at) = self.as_of(indexes, None).await?;
        let row = self.rows.first(sql::TRIPLET_BY_ID, &params![self.project, id], TripletRow::from_row).await?;
        let number = row.ok_or_else(|| Error::new(Kind::NotFound, format!("there is no triplet `{id}`")))?.number;
        let triplet = self.triplets(&facts, &[number], at).await?.pop();
        let triplet = triplet.ok_or_else(|| Error::internal("a triplet that was just read is gone"))?;
        let mention =
            |row: &Row<'_>| Ok(Mention { agent: row.get(0)?, session: row.get(1)?, description: row.get(2)?, at: row.get(3)? });
        let mentions = self.rows.query(sql::MENTIONS, &params![self.project, number], mention).await?;
        Ok(TripletDetail { triplet, mentions, moves: self.moves(number).await? })
    }

    /// One entity, and what it is called.
    pub async fn entity(&self, id: &EntityId) -> Result<EntityDetail> {
        let found = self.rows.first(sql::ENTITY_BY_ID, &params![self.project, id], ListedEntity::from_row).await?;
        let ListedEntity { entity, merged_into } = found.ok_or_else(|| no_entity(id))?;
        let names = self.rows.query(sql::NAMES_OF, &params![self.project, entity.number], |row| row.get::<String>(0)).await?;
        Ok(EntityDetail { moves: self.moves(entity.number).await?, entity, merged_into, names })
    }

    async fn moves(&self, number: i64) -> Result<Vec<WeightMove>> {
        let moved = |row: &Row<'_>| {
            Ok(WeightMove {
                session: row.get(0)?,
                outcome: row.get(1)?,
                before: row.get(2)?,
                after: row.get(3)?,
                at: row.get(4)?,
            })
        };
        self.rows.query(sql::MOVES, &params![self.project, number], moved).await
    }

    /// Says that an entity is another one: facts about either are facts about both. Undone by [`KnowledgeGraph::split`].
    pub async fn merge(&self, from: &EntityId, into: &EntityId, dry_run: bool, by: &str) -> Result<Merged> {
        let (project, from, into, by, now) = (self.project, *from, *into, by.to_owned(), self.clock.now());
        let decide = move |tx: &mut OrgTx<'_, '_>| -> Result<Merged> {
            let from = by_id(tx, &project, &from)?;
            let into = by_id(tx, &project, &into)?;
            if from.merged_into.is_some() {
                return Err(Error::new(
                    Kind::Conflict,
                    format!("`{}` is merged into another already: split it first", from.name),
                ));
            }
            let into = representative(tx, &project, into.number)?;
            if from.number == into.number {
                return Err(Error::new(Kind::Conflict, format!("`{}` is that entity already", from.name)));
            }
            Ok(Merged { from, into })
        };
        if dry_run {
            return self.rows.read(decide).await;
        }
        self.rows
            .write(move |tx| {
                let merged = decide(tx)?;
                merge(tx, &project, &merged.from, &merged.into, (&by, &by), now)?;
                Ok(merged)
            })
            .await
    }

    /// Undoes a merge, and says what the entity had been merged into. No alias merges it again.
    pub async fn split(&self, id: &EntityId) -> Result<Merged> {
        let (project, id) = (self.project, *id);
        self.rows
            .write(move |tx| {
                let from = by_id(tx, &project, &id)?;
                let Some(into) = from.merged_into else {
                    return Err(Error::new(Kind::Conflict, format!("`{}` is not merged into another", from.name)));
                };
                let into = representative(tx, &project, into)?;
                unmerge(tx, &project, from.number, true)?;
                Ok(Merged { from, into })
            })
            .await
    }
}

fn by_id(tx: &mut OrgTx<'_, '_>, project: &ProjectId, id: &EntityId) -> Result<Entity> {
    tx.first(sql::ENTITY_BY_ID, &params![project, id], Entity::from_row)?.ok_or_else(|| no_entity(id))
}

fn no_entity(id: &EntityId) -> Error {
    Error::new(Kind::NotFound, format!("there is no entity `{id}`"))
}
