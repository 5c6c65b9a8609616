//! Loads triplets by number, in the given order and with the current names of their entities.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::limits::CONFLICTS_MAX;
use base::{Error, Result, Timestamp, TripletId};
use graph::{Direction, Node};
use store::{AsParam, OrgStore, Param, Row};

use super::model::{Entity, Triplet, TripletRow};
use super::{KnowledgeGraph, sql};
use crate::index::{Facts, FactsIndex};

/// A number that no row has.
const NOTHING: i64 = -1;

/// What the graph knows about a triplet besides its row.
pub(super) struct Placed {
    pub(super) number: i64,
    /// The current numbers of its source and target, if the graph has it.
    ends: Option<[i64; 2]>,
    /// Triplets with the same source and relationship but another target.
    conflicts: Vec<i64>,
}

/// Looks up triplets in the graph, as of a time.
pub(super) fn placed(facts: &Facts, numbers: impl IntoIterator<Item = i64>, at: Timestamp) -> Vec<Placed> {
    let mut siblings = Siblings::default();
    let place = |number: i64| {
        let edge = facts.edge(number).and_then(|edge| facts.graph.edge(edge));
        let ends = edge.and_then(|edge| Some([facts.entity(edge.source)?, facts.entity(edge.target)?]));
        Placed { number, ends, conflicts: siblings.conflicts_of(facts, number, at) }
    };
    numbers.into_iter().map(place).collect()
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// The triplets with these numbers, in order, as of a time.
    pub(super) async fn triplets(&self, facts: &Arc<FactsIndex>, numbers: &[i64], at: Timestamp) -> Result<Vec<Triplet>> {
        let numbers = numbers.to_vec();
        let placed = Arc::clone(facts).ask(self.rows().org(), move |facts| placed(facts, numbers, at)).await?;
        self.loaded(placed).await
    }

    /// Loads triplets and their entities, in order. Triplets without a row are left out.
    pub(super) async fn loaded(&self, placed: Vec<Placed>) -> Result<Vec<Triplet>> {
        let numbers: Vec<i64> = placed.iter().map(|placed| placed.number).collect();
        let rows = self.in_order(sql::TRIPLETS, &numbers, TripletRow::from_row, |row: &TripletRow| row.number).await?;
        let mut places: HashMap<i64, Placed> = placed.into_iter().map(|placed| (placed.number, placed)).collect();
        let rows: Vec<(TripletRow, [i64; 2], Vec<i64>)> = rows
            .into_iter()
            .map(|row| {
                let (ends, conflicts) = places.remove(&row.number).map_or_else(Default::default, |p| (p.ends, p.conflicts));
                let ends = ends.unwrap_or([row.source, row.target]);
                (row, ends, conflicts)
            })
            .collect();
        let entities = self.entities(rows.iter().flat_map(|(_, ends, _)| *ends)).await?;
        let ids = self.triplet_ids(&rows).await?;
        let end = |number: i64| {
            let missing = || Error::internal(format_args!("a triplet refers to entity {number}, which does not exist"));
            entities.get(&number).cloned().ok_or_else(missing)
        };
        rows.into_iter()
            .map(|(row, [source, target], conflicts)| {
                Ok(Triplet {
                    source: end(source)?,
                    target: end(target)?,
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

    /// The ids of the triplets in conflict. Most of them are already loaded.
    async fn triplet_ids(&self, read: &[(TripletRow, [i64; 2], Vec<i64>)]) -> Result<HashMap<i64, TripletId>> {
        let mut ids: HashMap<i64, TripletId> = read.iter().map(|(row, ..)| (row.number, row.id)).collect();
        let conflicts = read.iter().flat_map(|(.., conflicts)| conflicts.iter().copied());
        let missing: HashSet<i64> = conflicts.filter(|number| !ids.contains_key(number)).collect();
        let missing: Vec<i64> = missing.into_iter().collect();
        let id = |row: &Row<'_>| Ok((row.get::<i64>("number")?, TripletId::from_row(row.text("id")?)));
        ids.extend(self.in_order(sql::TRIPLET_IDS, &missing, id, |(number, _)| *number).await?);
        Ok(ids)
    }

    /// Rows with these numbers, in order. Missing ones are left out.
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
            for row in self.rows().query(statement, &params, map).await? {
                found.insert(number_of(&row), row);
            }
        }
        Ok(numbers.iter().filter_map(|number| found.remove(number)).collect())
    }
}

/// The facts per source and relationship, each looked up once.
#[derive(Default)]
struct Siblings(HashMap<(Node, u32), Vec<(i64, Node)>>);

impl Siblings {
    /// Facts with the same source and relationship but another target, current at the same time.
    fn conflicts_of(&mut self, facts: &Facts, triplet: i64, at: Timestamp) -> Vec<i64> {
        let own = facts.edge(triplet).and_then(|edge| facts.graph.edge(edge)).filter(|own| facts.stands(own.payload, at));
        let Some(own) = own else { return Vec::new() };
        let relationship = own.payload.relationship;
        let siblings = self.0.entry((own.source, relationship)).or_insert_with(|| {
            let edges = facts.graph.edges_of(own.source, Direction::Out).filter_map(|(edge, _)| facts.graph.edge(edge));
            let standing = edges.filter(|edge| edge.payload.relationship == relationship && facts.stands(edge.payload, at));
            // One more than are listed, because the fact itself is among them.
            standing.take(CONFLICTS_MAX + 1).map(|edge| (edge.payload.number, edge.target)).collect()
        });
        let others = siblings.iter().filter(|(_, target)| *target != own.target);
        others.take(CONFLICTS_MAX).map(|(number, _)| *number).collect()
    }
}
