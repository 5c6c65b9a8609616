//! The knowledge graph of one project as nodes and edges: what is walked. Names and words are in the rows.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use base::{ProjectId, Result, Timestamp};
use graph::{EdgeIndex, Graph, Node};
use store::{OrgStore, Row, params};
use tokio::sync::Mutex;

use super::ROWS_AT_ONCE;
use super::loaded::Loaded;
use crate::graph::{ENTITIES_CHANGED, TRIPLETS_CHANGED};
use crate::sql;

/// What is known of a triplet without asking the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fact {
    /// Its place among what the project knows.
    pub(crate) number: i64,
    /// Which relationship: see [`Facts::relationship`].
    pub(crate) relationship: u32,
    pub(crate) weight: f32,
    learned_ms: i64,
    superseded_ms: i64,
    valid_from_ms: i64,
    valid_to_ms: i64,
}

impl Fact {
    /// Whether it was known and true at a time.
    pub(crate) fn stands_at(&self, at: Timestamp) -> bool {
        let at = at.ms();
        self.learned_ms <= at && at < self.superseded_ms && self.valid_from_ms <= at && at < self.valid_to_ms
    }
}

/// Nodes and edges, and which rows they are.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) graph: Graph<Fact>,
    /// The entity and the weight of each node.
    entities: Vec<(i64, f32)>,
    nodes: HashMap<i64, Node>,
    edges: HashMap<i64, EdgeIndex>,
    relationships: HashMap<String, u32>,
    /// Merges that have not been made yet.
    waiting: Vec<(Node, Node)>,
}

impl Facts {
    /// The node of an entity, or of what it was merged into.
    pub(crate) fn node(&self, entity: i64) -> Option<Node> {
        self.nodes.get(&entity).map(|node| self.graph.representative(*node))
    }

    /// The entity of a node.
    pub(crate) fn entity(&self, node: Node) -> Option<i64> {
        self.entities.get(node as usize).map(|(number, _)| *number)
    }

    /// What an entity is today: itself, unless it was merged.
    pub(crate) fn representative(&self, entity: i64) -> i64 {
        self.node(entity).and_then(|node| self.entity(node)).unwrap_or(entity)
    }

    /// How well facts about the entity of a node have served.
    pub(crate) fn entity_weight(&self, node: Node) -> f32 {
        self.entities.get(node as usize).map_or(0.5, |(_, weight)| *weight)
    }

    /// Whether a number is an entity's.
    pub(crate) fn is_entity(&self, number: i64) -> bool {
        self.nodes.contains_key(&number)
    }

    /// The edge of a triplet.
    pub(crate) fn edge(&self, triplet: i64) -> Option<EdgeIndex> {
        self.edges.get(&triplet).copied()
    }

    /// The relationship of that name, if any triplet ever had it.
    pub(crate) fn relationship(&self, name: &str) -> Option<u32> {
        self.relationships.get(name).copied()
    }

    fn put_entity(&mut self, number: i64, weight: f32, merged_into: Option<i64>) {
        let node = self.node_or_new(number);
        if let Some(entity) = self.entities.get_mut(node as usize) {
            entity.1 = weight;
        }
        self.waiting.retain(|(waiting, _)| *waiting != node);
        if self.graph.representative(node) != node {
            self.graph.restore(node);
        }
        if let Some(into) = merged_into {
            let into = self.node_or_new(into);
            self.waiting.push((node, into));
        }
    }

    /// Merges what waits for it. Rows are met by their latest change, so a merge may be met before the split that makes room for
    /// it: such a one waits for the next look.
    fn merge_waiting(&mut self) {
        let (graph, mut progress) = (&mut self.graph, true);
        while progress {
            let before = self.waiting.len();
            self.waiting.retain(|(node, into)| {
                graph.redirect(*node, *into);
                graph.representative(*node) == *node
            });
            progress = self.waiting.len() < before;
        }
    }

    fn node_or_new(&mut self, number: i64) -> Node {
        if let Some(node) = self.nodes.get(&number) {
            return *node;
        }
        let node = self.graph.add_node();
        self.nodes.insert(number, node);
        self.entities.push((number, 0.5));
        node
    }

    fn put_triplet(&mut self, changed: &ChangedTriplet) {
        let next = u32::try_from(self.relationships.len()).unwrap_or(u32::MAX);
        let relationship = match self.relationships.get(&changed.relationship) {
            Some(known) => *known,
            None => *self.relationships.entry(changed.relationship.clone()).or_insert(next),
        };
        let fact = Fact { relationship, ..changed.fact };
        if let Some(edge) = self.edges.get(&fact.number) {
            if let Some(known) = self.graph.payload_mut(*edge) {
                *known = fact;
            }
            return;
        }
        let (source, target) = (self.node_or_new(changed.source), self.node_or_new(changed.target));
        let edge = self.graph.add_edge(source, target, fact);
        self.edges.insert(fact.number, edge);
    }

    /// Memory held, about.
    pub(crate) fn bytes(&self) -> usize {
        const MAP_ENTRY_BYTES: usize = 24;
        let rows = self.entities.capacity() * size_of::<(i64, f32)>();
        let maps = (self.nodes.capacity() + self.edges.capacity()) * MAP_ENTRY_BYTES;
        self.graph.bytes() + rows + maps
    }
}

struct ChangedTriplet {
    change: i64,
    source: i64,
    relationship: String,
    target: i64,
    fact: Fact,
}

impl ChangedTriplet {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let ms = |column: usize| row.get::<Option<Timestamp>>(column).map(|time| time.map(Timestamp::ms));
        let fact = Fact {
            number: row.get(0)?,
            relationship: 0,
            weight: row.get::<f64>(5)? as f32,
            learned_ms: ms(6)?.unwrap_or(i64::MIN),
            superseded_ms: ms(7)?.unwrap_or(i64::MAX),
            valid_from_ms: ms(8)?.unwrap_or(i64::MIN),
            valid_to_ms: ms(9)?.unwrap_or(i64::MAX),
        };
        Ok(Self { change: row.get(1)?, source: row.get(2)?, relationship: row.get(3)?, target: row.get(4)?, fact })
    }
}

/// Facts that follow the rows.
#[derive(Default)]
pub(crate) struct FactsIndex {
    facts: RwLock<Facts>,
    /// Held while following: whoever asks meanwhile waits for the same rows.
    seen: Mutex<Seen>,
    /// Memory held, about: whoever tidies up must not wait for a walk.
    bytes: AtomicUsize,
}

/// The last changes that were followed.
#[derive(Default)]
struct Seen {
    entities: i64,
    triplets: i64,
}

/// A changed entity.
struct ChangedEntity {
    number: i64,
    change: i64,
    weight: f32,
    merged_into: Option<i64>,
}

impl ChangedEntity {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let weight = row.get::<f64>(2)? as f32;
        Ok(Self { number: row.get(0)?, change: row.get(1)?, weight, merged_into: row.get(3)? })
    }
}

impl FactsIndex {
    /// The facts, for one look that does not take long.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Facts> {
        self.facts.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what has changed since the last look. Entities before triplets, both up to the same change: no triplet is met
    /// before its ends.
    pub(super) async fn catch_up(self: &Arc<Self>, rows: &OrgStore, project: &ProjectId) -> Result<()> {
        let mut seen = self.seen.lock().await;
        let last = rows.first(sql::LAST_CHANGE, &params![project], |row| row.get::<i64>(0)).await?.unwrap_or(0);
        while seen.entities < last {
            let asked = params![project, seen.entities, last, ROWS_AT_ONCE];
            let changed = rows.query(ENTITIES_CHANGED, &asked, ChangedEntity::from_row).await?;
            let until = changed.last().filter(|_| changed.len() as i64 >= ROWS_AT_ONCE).map_or(last, |entity| entity.change);
            self.change(move |facts| {
                changed.iter().for_each(|entity| facts.put_entity(entity.number, entity.weight, entity.merged_into));
                facts.merge_waiting();
            })
            .await?;
            seen.entities = until;
        }
        while seen.triplets < last {
            let asked = params![project, seen.triplets, last, ROWS_AT_ONCE];
            let changed = rows.query(TRIPLETS_CHANGED, &asked, ChangedTriplet::from_row).await?;
            let until = changed.last().filter(|_| changed.len() as i64 >= ROWS_AT_ONCE).map_or(last, |triplet| triplet.change);
            self.change(move |facts| changed.iter().for_each(|triplet| facts.put_triplet(triplet))).await?;
            seen.triplets = until;
        }
        Ok(())
    }

    /// Changes the facts where a thread may wait: a long walk may be under way.
    async fn change(self: &Arc<Self>, change: impl FnOnce(&mut Facts) + Send + 'static) -> Result<()> {
        let index = Arc::clone(self);
        let work = move || {
            let mut facts = index.facts.write().unwrap_or_else(PoisonError::into_inner);
            change(&mut facts);
            index.bytes.store(facts.bytes(), Ordering::Relaxed);
        };
        store::compute(work).await
    }

    /// Works on the facts where a thread may be busy.
    pub(crate) async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        question: impl FnOnce(&Facts) -> T + Send + 'static,
    ) -> Result<T> {
        store::compute(move || question(&self.read())).await
    }
}

impl Loaded for FactsIndex {
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
