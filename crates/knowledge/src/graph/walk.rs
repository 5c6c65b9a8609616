//! Neighbours of an entity, and paths between entities.

use std::sync::Arc;

use base::limits::{GRAPH_FAN_OUT_MAX, NEIGHBOUR_TRIPLETS_MAX};
use base::{Error, Result, Timestamp};
use graph::{Direction, Hop, Node, lightest_path, neighbours, shortest_path};
use store::OrgStore;

use super::model::{Entity, Triplet};
use super::{KnowledgeGraph, name, resolve};
use crate::index::{Fact, Facts, FactsIndex, Indexes, Wanted};
use crate::memory::Mode;

/// The minimum cosine of a similar name.
const NEAR_COSINE_MIN: f32 = 0.3;
/// The number of names to suggest for an unknown one.
const NEAREST_NAMES: usize = 3;
/// The minimum weight for costs: a fact that everyone rejected is expensive, but not infinitely.
const WEIGHT_LEAST: f64 = 1e-6;

/// The direction of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Towards {
    /// Both directions.
    #[default]
    Both,
    /// From source to target.
    Out,
    /// From target to source.
    In,
}

impl From<Towards> for Direction {
    fn from(towards: Towards) -> Self {
        match towards {
            Towards::Both => Direction::Both,
            Towards::Out => Direction::Out,
            Towards::In => Direction::In,
        }
    }
}

/// A neighbourhood query.
#[derive(Clone, Debug)]
pub struct NeighboursQuery {
    /// A name of the entity.
    pub entity: String,
    /// The maximum number of hops.
    pub depth: u32,
    /// Follow only this relationship.
    pub relationship: Option<String>,
    /// The direction to follow.
    pub towards: Towards,
    /// The maximum number of entities.
    pub limit: usize,
    /// As known at this time.
    pub as_of: Option<Timestamp>,
}

/// The neighbourhood of an entity.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// Nearest first, each with its number of hops.
    pub entities: Vec<(Entity, u32)>,
    /// The triplets between them and the entity.
    pub triplets: Vec<Triplet>,
    /// Whether there are more entities or triplets.
    pub truncated: bool,
}

/// A path query.
#[derive(Clone, Debug)]
pub struct PathQuery {
    /// A name of the first entity.
    pub from: String,
    /// A name of the last entity.
    pub to: String,
    /// The maximum number of triplets.
    pub depth: u32,
    /// Follow triplets only from source to target.
    pub directed: bool,
    /// A triplet costs one over its weight, instead of one.
    pub weighted: bool,
    /// As known at this time.
    pub as_of: Option<Timestamp>,
}

/// A path.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its triplets, in order.
    pub triplets: Vec<Triplet>,
    /// Its cost: the number of triplets, or the sum of one over their weights.
    pub cost: f64,
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// The neighbourhood of an entity.
    pub async fn neighbours(&self, indexes: &Indexes, asked: NeighboursQuery) -> Result<Neighbours> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        let starts = self.entities_called(indexes, &asked.entity, "entity").await?;
        let relationship = asked.relationship.as_deref().map(name::relationship);
        let hop = Hop {
            direction: asked.towards.into(),
            depth: asked.depth,
            // A caller with a higher limit gets more neighbours of one entity.
            fan_out_max: GRAPH_FAN_OUT_MAX.max(asked.limit),
            nodes_max: asked.limit,
        };
        let question = move |facts: &Facts| {
            let relationship = relationship.map(|name| facts.relationship(&name));
            let allow = |fact: &Fact| fact.stands_at(at) && relationship.is_none_or(|only| only == Some(fact.relationship));
            let nodes: Vec<Node> = starts.iter().filter_map(|start| facts.node(start.number)).collect();
            let reached = neighbours(&facts.graph, &nodes, &hop, allow, |fact| fact.weight);
            let entities = reached.nodes.iter().filter(|(_, hops)| *hops > 0);
            let entities: Vec<(i64, u32)> =
                entities.filter_map(|(node, hops)| facts.entity(*node).map(|entity| (entity, *hops))).collect();
            let triplets = reached.edges.iter().filter_map(|(edge, _)| facts.graph.edge(*edge));
            let triplets: Vec<i64> = triplets.map(|edge| edge.payload.number).collect();
            (entities, triplets, reached.truncated)
        };
        let (reached, mut numbers, mut truncated) = Arc::clone(&facts).ask(self.rows().org(), question).await?;
        truncated |= numbers.len() > NEIGHBOUR_TRIPLETS_MAX;
        numbers.truncate(NEIGHBOUR_TRIPLETS_MAX);
        let mut known = self.entities(reached.iter().map(|(entity, _)| *entity)).await?;
        let entities = reached.into_iter().filter_map(|(entity, hops)| Some((known.remove(&entity)?, hops))).collect();
        Ok(Neighbours { entities, triplets: self.triplets(&facts, &numbers, at).await?, truncated })
    }

    /// A shortest path between two entities, if there is one.
    pub async fn path(&self, indexes: &Indexes, asked: PathQuery) -> Result<Option<Path>> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        let from = self.entities_called(indexes, &asked.from, "from").await?;
        let to = self.entities_called(indexes, &asked.to, "to").await?;
        let question = move |facts: &Facts| {
            let nodes = |ends: &[Entity]| ends.iter().filter_map(|end| facts.node(end.number)).collect::<Vec<Node>>();
            let (from, to) = (nodes(&from), nodes(&to));
            let direction = if asked.directed { Direction::Out } else { Direction::Both };
            let allow = |fact: &Fact| fact.stands_at(at);
            let found = if asked.weighted {
                let cost = |fact: &Fact| 1.0 / f64::from(fact.weight).max(WEIGHT_LEAST);
                lightest_path(&facts.graph, &from, &to, asked.depth, direction, allow, cost)
            } else {
                let hops = shortest_path(&facts.graph, &from, &to, asked.depth, direction, allow);
                hops.map(|edges| (edges.len() as f64, edges)).map(|(cost, edges)| (edges, cost))
            };
            found.map(|(edges, cost)| {
                let edges = edges.iter().filter_map(|edge| facts.graph.edge(*edge));
                (edges.map(|edge| edge.payload.number).collect::<Vec<i64>>(), cost)
            })
        };
        match Arc::clone(&facts).ask(self.rows().org(), question).await? {
            Some((numbers, cost)) => Ok(Some(Path { triplets: self.triplets(&facts, &numbers, at).await?, cost })),
            None => Ok(None),
        }
    }

    /// The graph, and the time to read it at.
    pub(super) async fn as_of(&self, indexes: &Indexes, as_of: Option<Timestamp>) -> Result<(Arc<FactsIndex>, Timestamp)> {
        Ok((indexes.facts(self.rows(), &self.project).await?, as_of.unwrap_or_else(|| self.clock.now())))
    }

    /// The entities of a name. There are several if entities of different types share it.
    pub(super) async fn entities_called(&self, indexes: &Indexes, called: &str, parameter: &str) -> Result<Vec<Entity>> {
        let (project, asked) = (self.project, name::cleaned(called));
        let found = self.rows().read(move |tx| resolve::called(tx, &project, &asked)).await?;
        if found.is_empty() {
            return Err(self.no_such_entity(indexes, called, parameter).await);
        }
        Ok(found)
    }

    /// The error for an unknown name, with the most similar names.
    async fn no_such_entity(&self, indexes: &Indexes, called: &str, parameter: &str) -> Error {
        let near = self.nearest_names(indexes, called).await.unwrap_or_default();
        let hint = match near.as_slice() {
            [] => "the graph has no similar name".to_owned(),
            near => format!("did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        // The name in the query may be long, so the message cuts it.
        let shown: String = called.chars().take(100).collect();
        Error::invalid(parameter, format!("there is no entity called `{shown}`: {hint}")).with("entity", shown.as_str())
    }

    async fn nearest_names(&self, indexes: &Indexes, called: &str) -> Result<Vec<String>> {
        let texts = indexes.graph_texts(self.rows(), &self.project).await?;
        let facts = indexes.facts(self.rows(), &self.project).await?;
        let (vector, query) = (indexes.query_vector(self.rows().org(), called, Mode::Fused).await?, called.to_owned());
        let work = move || {
            let facts = facts.read();
            let is_entity = |number: u64| facts.is_entity(number.cast_signed());
            let weights = search::fusion::Weights::default();
            let wanted =
                Wanted { query: &query, vector: vector.as_ref(), mode: Mode::Fused, weights: &weights, filter: Some(&is_entity) };
            let hits = texts.texts.find(&wanted)?.hits.into_iter().filter(|hit| hit.is_hit(NEAR_COSINE_MIN));
            let mut near: Vec<i64> = Vec::new();
            for entity in hits.map(|hit| facts.representative(hit.id.cast_signed())) {
                if !near.contains(&entity) && near.len() < NEAREST_NAMES {
                    near.push(entity);
                }
            }
            Ok::<_, Error>(near)
        };
        let near = store::compute(self.rows().org(), work).await??;
        let mut known = self.entities(near.iter().copied()).await?;
        Ok(near.iter().filter_map(|entity| known.remove(entity)).map(|entity| entity.name).collect())
    }
}
