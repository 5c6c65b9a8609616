//! From numbers to triplets: rows are read in the order they are wanted, with the names that entities have today.

use std::collections::{HashMap, HashSet};

use base::limits::{CONFLICTS_MAX, GRAPH_LOOK_MAX};
use base::{Error, Result, Timestamp, TripletId};
use graph::Direction;
use store::{AsParam, Param, Row};

use super::model::{Entity, Triplet, TripletRow};
use super::{KnowledgeGraph, sql};
use crate::index::{Facts, FactsIndex};

/// A number that nothing has.
const NOTHING: i64 = -1;

impl KnowledgeGraph {
    /// The triplets of these numbers, in their order, as they stand at a time.
    pub(super) async fn triplets(&self, facts: &FactsIndex, numbers: &[i64], at: Timestamp) -> Result<Vec<Triplet>> {
        let rows = self.in_order(sql::TRIPLETS, numbers, TripletRow::from_row, |row: &TripletRow| row.number).await?;
        let (ends, conflicts) = {
            let facts = facts.read();
            let ends: HashMap<i64, i64> =
                rows.iter().flat_map(|row| [row.source, row.target]).map(|end| (end, facts.representative(end))).collect();
            let conflicts: Vec<Vec<i64>> = rows.iter().map(|row| conflicts_of(&facts, row, at)).collect();
            (ends, conflicts)
        };
        let entities = self.entities(ends.values().copied()).await?;
        let ids = self.triplet_ids(&rows, conflicts.iter().flatten().copied()).await?;
        let end = |number: &i64| {
            let found = ends.get(number).and_then(|entity| entities.get(entity));
            found.cloned().ok_or_else(|| Error::internal(format_args!("a triplet names entity {number}, which is not there")))
        };
        rows.into_iter()
            .zip(conflicts)
            .map(|(row, conflicts)| {
                Ok(Triplet {
                    source: end(&row.source)?,
                    target: end(&row.target)?,
                    id: row.id,
                    number: row.number,
                    relationship: row.relationship,
                    description: row.description,
                    functional: row.functional,
                    weight: row.weight,
                    provenance: row.provenance,
                    superseded_at: row.superseded_at,
                    valid_from: row.valid_from,
                    valid_to: row.valid_to,
                    conflicts_with: conflicts.iter().filter_map(|number| ids.get(number)).copied().collect(),
                })
            })
            .collect()
    }

    /// Entities by their numbers.
    pub(super) async fn entities(&self, numbers: impl Iterator<Item = i64>) -> Result<HashMap<i64, Entity>> {
        let mut numbers: Vec<i64> = numbers.collect::<HashSet<_>>().into_iter().collect();
        numbers.sort_unstable();
        let found = self.in_order(sql::ENTITIES, &numbers, Entity::from_row, |entity: &Entity| entity.number).await?;
        Ok(found.into_iter().map(|entity| (entity.number, entity)).collect())
    }

    /// The ids of triplets, most of which have been read.
    async fn triplet_ids(&self, read: &[TripletRow], numbers: impl Iterator<Item = i64>) -> Result<HashMap<i64, TripletId>> {
        let mut ids: HashMap<i64, TripletId> = read.iter().map(|row| (row.number, row.id)).collect();
        let missing: HashSet<i64> = numbers.filter(|number| !ids.contains_key(number)).collect();
        let missing: Vec<i64> = missing.into_iter().collect();
        let found = self.in_order(sql::TRIPLETS, &missing, TripletRow::from_row, |row: &TripletRow| row.number).await?;
        ids.extend(found.into_iter().map(|row| (row.number, row.id)));
        Ok(ids)
    }

    /// Rows of these numbers, in their order; what is not there is left out.
    async fn in_order<T>(
        &self,
        statement: &'static str,
        numbers: &[i64],
        map: impl Fn(&Row<'_>) -> Result<T> + Send + Copy,
        number_of: impl Fn(&T) -> i64,
    ) -> Result<Vec<T>> {
        let mut found: HashMap<i64, T> = HashMap::with_capacity(numbers.len());
        for some in numbers.chunks(sql::NUMBERS_AT_ONCE) {
            let filled = some.iter().chain(std::iter::repeat(&NOTHING)).take(sql::NUMBERS_AT_ONCE);
            let params: Vec<Param<'_>> = std::iter::once(self.project.as_param()).chain(filled.map(AsParam::as_param)).collect();
            for row in self.rows.query(statement, &params, map).await? {
                found.insert(number_of(&row), row);
            }
        }
        Ok(numbers.iter().filter_map(|number| found.remove(number)).collect())
    }
}

/// Facts with the same source and relationship and another target, standing at the same time.
fn conflicts_of(facts: &Facts, row: &TripletRow, at: Timestamp) -> Vec<i64> {
    let Some(own) = facts.edge(row.number).and_then(|edge| facts.graph.edge(edge)) else {
        return Vec::new();
    };
    if !own.payload.stands_at(at) {
        return Vec::new();
    }
    // Looking through all targets of a hub would take long, and so many are no contradiction to be listed.
    let others = facts.graph.edges_of(own.source, Direction::Out).take(GRAPH_LOOK_MAX);
    let others = others.filter(|(_, target)| *target != own.target);
    let others = others.filter_map(|(edge, _)| facts.graph.edge(edge)).map(|edge| edge.payload);
    let conflicting = others.filter(|other| other.relationship == own.payload.relationship && other.stands_at(at));
    conflicting.take(CONFLICTS_MAX).map(|other| other.number).collect()
}
