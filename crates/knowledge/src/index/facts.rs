//! The knowledge graph of one project as nodes and edges, for walks. Names and texts stay in the rows.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use base::limits::GRAPH_LOOK_MAX;
use base::{OrgId, ProjectId, Result, Timestamp};
use graph::{Direction, EdgeIndex, Graph, Node};
use store::{OrgStore, Row, params};
use tokio::sync::Mutex;

use super::ROWS_AT_ONCE;
use super::loaded::Loaded;
use crate::graph::{ENTITIES_CHANGED, TRIPLETS_CHANGED};
use crate::sql;

/// The data of a triplet that is in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fact {
    /// Its number in the project.
    pub(crate) number: i64,
    /// The number of its relationship: see [`Facts::relationship`].
    pub(crate) relationship: u32,
    pub(crate) weight: f32,
    learned_ms: i64,
    superseded_ms: i64,
    valid_from_ms: i64,
    valid_to_ms: i64,
}

impl Fact {
    fn is_true_at(&self, at: Timestamp) -> bool {
        self.valid_from_ms <= at.ms() && at.ms() < self.valid_to_ms
    }

    fn is_known_at(&self, at: Timestamp) -> bool {
        self.learned_ms <= at.ms() && at.ms() < self.superseded_ms
    }

    /// Whether it had ended before it was learned, and nothing has superseded it since.
    fn is_history(&self) -> bool {
        self.valid_to_ms <= self.learned_ms && self.superseded_ms == i64::MAX
    }
}

/// Nodes and edges, and the numbers of their rows.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) graph: Graph<Fact>,
    /// The entity and the weight of each node.
    entities: Vec<(i64, f32)>,
    nodes: HashMap<i64, Node>,
    edges: HashMap<i64, EdgeIndex>,
    relationships: HashMap<String, u32>,
    /// Merges that are not applied yet.
    waiting: Vec<(Node, Node)>,
}

impl Facts {
    /// The node of an entity, or of the one it was merged into.
    pub(crate) fn node(&self, entity: i64) -> Option<Node> {
        self.nodes.get(&entity).map(|node| self.graph.representative(*node))
    }

    /// The entity of a node.
    pub(crate) fn entity(&self, node: Node) -> Option<i64> {
        self.entities.get(node as usize).map(|(number, _)| *number)
    }

    /// The current number of an entity: its own, unless it was merged.
    pub(crate) fn representative(&self, entity: i64) -> i64 {
        self.node(entity).and_then(|node| self.entity(node)).unwrap_or(entity)
    }

    /// How useful facts about the entity of a node were so far.
    pub(crate) fn entity_weight(&self, node: Node) -> f32 {
        self.entities.get(node as usize).map_or(0.5, |(_, weight)| *weight)
    }

    /// Whether a number belongs to an entity.
    pub(crate) fn is_entity(&self, number: i64) -> bool {
        self.nodes.contains_key(&number)
    }

    /// The edge of a triplet.
    pub(crate) fn edge(&self, triplet: i64) -> Option<EdgeIndex> {
        self.edges.get(&triplet).copied()
    }

    /// Whether a fact is part of the graph as of a time: it was known and true then.
    ///
    /// A fact that had ended before it was learned was never known while it was true. It belongs to the time when it was true,
    /// unless an earlier statement of it was known then.
    pub(crate) fn stands(&self, fact: &Fact, at: Timestamp) -> bool {
        fact.is_true_at(at) && (fact.is_known_at(at) || (fact.is_history() && !self.was_known(fact, at)))
    }

    /// Whether another statement of the same fact was known and true at a time.
    fn was_known(&self, fact: &Fact, at: Timestamp) -> bool {
        let own = self.edge(fact.number).and_then(|edge| self.graph.edge(edge));
        own.is_some_and(|own| {
            let others = self.graph.edges_of(own.source, Direction::Out).take(GRAPH_LOOK_MAX);
            let same = others.filter(|(_, target)| *target == own.target).filter_map(|(edge, _)| self.graph.edge(edge));
            same.map(|same| same.payload)
                .any(|same| same.relationship == fact.relationship && same.is_known_at(at) && same.is_true_at(at))
        })
    }

    /// The relationship with this name, if any triplet ever had it.
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

    /// Applies waiting merges. Rows come in the order of their latest change, so a merge may come before the split that it
    /// depends on. It then waits for the next update.
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

    /// The approximate memory in bytes.
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
        let ms = |name: &str| row.get::<Option<Timestamp>>(name).map(|time| time.map(Timestamp::ms));
        let fact = Fact {
            number: row.get("number")?,
            relationship: 0,
            weight: row.get::<f64>("weight")? as f32,
            learned_ms: ms("learned_at")?.unwrap_or(i64::MIN),
            superseded_ms: ms("superseded_at")?.unwrap_or(i64::MAX),
            valid_from_ms: ms("valid_from")?.unwrap_or(i64::MIN),
            valid_to_ms: ms("valid_to")?.unwrap_or(i64::MAX),
        };
        Ok(Self {
            change: row.get("change")?,
            source: row.get("source")?,
            relationship: row.get("relationship")?,
            target: row.get("target")?,
            fact,
        })
    }
}

/// Facts that follow changes of the rows.
#[derive(Default)]
pub(crate) struct FactsIndex {
    facts: RwLock<Facts>,
    /// Held while following changes, so that concurrent callers wait for the same rows.
    seen: Mutex<Seen>,
    /// The approximate memory in bytes, and the number of triplets, stored here so that reading them need not wait for a walk.
    bytes: AtomicUsize,
    triplets: AtomicUsize,
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
        let weight = row.get::<f64>("weight")? as f32;
        Ok(Self { number: row.get("number")?, change: row.get("change")?, weight, merged_into: row.get("merged_into")? })
    }
}

impl FactsIndex {
    /// The facts, for a short read.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Facts> {
        self.facts.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies changes since the last call. Entities come before triplets, both up to the same change, so the ends of a triplet
    /// always exist.
    pub(super) async fn catch_up(self: &Arc<Self>, rows: &OrgStore, project: &ProjectId) -> Result<()> {
        let mut seen = self.seen.lock().await;
        let last = rows.first(sql::LAST_CHANGE, &params![project], |row| row.get::<i64>("number")).await?.unwrap_or(0);
        while seen.entities < last {
            let asked = params![project, seen.entities, last, ROWS_AT_ONCE];
            let changed = rows.query(ENTITIES_CHANGED, &asked, ChangedEntity::from_row).await?;
            let until = changed.last().filter(|_| changed.len() as i64 >= ROWS_AT_ONCE).map_or(last, |entity| entity.change);
            self.change(rows.org(), move |facts| {
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
            self.change(rows.org(), move |facts| changed.iter().for_each(|triplet| facts.put_triplet(triplet))).await?;
            seen.triplets = until;
        }
        Ok(())
    }

    /// Changes the facts on a blocking thread, because it may have to wait for a long walk.
    async fn change(self: &Arc<Self>, org: &OrgId, change: impl FnOnce(&mut Facts) + Send + 'static) -> Result<()> {
        let index = Arc::clone(self);
        let work = move || {
            let mut facts = index.facts.write().unwrap_or_else(PoisonError::into_inner);
            change(&mut facts);
            index.bytes.store(facts.bytes(), Ordering::Relaxed);
            index.triplets.store(facts.graph.edge_count(), Ordering::Relaxed);
        };
        store::compute(org, work).await
    }

    /// Whether there are no triplets.
    pub(crate) fn is_empty(&self) -> bool {
        self.triplets.load(Ordering::Relaxed) == 0
    }

    /// Reads the facts on a blocking thread.
    pub(crate) async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        org: &OrgId,
        question: impl FnOnce(&Facts) -> T + Send + 'static,
    ) -> Result<T> {
        store::compute(org, move || question(&self.read())).await
    }
}

impl Loaded for FactsIndex {
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
