//! Neighbours of an entity, and paths between entities.

use std::sync::Arc;

use base::limits::{GRAPH_FAN_OUT_MAX, NEIGHBOUR_TRIPLETS_MAX};
use base::{Result, Timestamp};
use graph::{Direction, Hop, Node, lightest_path, neighbours, shortest_path};
use store::{OrgStore, OrgTx};

use super::model::{Entity, Triplet};
use super::read::placed;
use super::{KnowledgeGraph, name, resolve};
use crate::index::{Fact, Facts, FactsIndex, Indexes};
use crate::{Asked, Error};

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
    pub async fn neighbours(&self, indexes: &Indexes, asked: NeighboursQuery) -> Result<Neighbours, Error> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        let [starts] = self.entities_called(indexes, [(Asked::Centre, &asked.entity)]).await?;
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
            let allow = |fact: &Fact| facts.stands(fact, at) && relationship.is_none_or(|only| only == Some(fact.relationship));
            let nodes: Vec<Node> = starts.iter().filter_map(|start| facts.node(start.number)).collect();
            let reached = neighbours(&facts.graph, &nodes, &hop, allow, |fact| fact.weight);
            let entities = reached.nodes.iter().filter(|(_, hops)| *hops > 0);
            let entities: Vec<(i64, u32)> =
                entities.filter_map(|(node, hops)| facts.entity(*node).map(|entity| (entity, *hops))).collect();
            let triplets = reached.edges.iter().filter_map(|(edge, _)| facts.graph.edge(*edge));
            let triplets = triplets.map(|edge| edge.payload.number).take(NEIGHBOUR_TRIPLETS_MAX);
            let truncated = reached.truncated || reached.edges.len() > NEIGHBOUR_TRIPLETS_MAX;
            (entities, placed(facts, triplets, at), truncated)
        };
        let (reached, triplets, truncated) = facts.ask(self.rows().org(), question).await?;
        let mut known = self.entities(reached.iter().map(|(entity, _)| *entity)).await?;
        let entities = reached.into_iter().filter_map(|(entity, hops)| Some((known.remove(&entity)?, hops))).collect();
        Ok(Neighbours { entities, triplets: self.loaded(triplets).await?, truncated })
    }

    /// A shortest path between two entities, if there is one.
    pub async fn path(&self, indexes: &Indexes, asked: PathQuery) -> Result<Option<Path>, Error> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        let [from, to] = self.entities_called(indexes, [(Asked::From, &asked.from), (Asked::To, &asked.to)]).await?;
        let question = move |facts: &Facts| {
            let nodes = |ends: &[Entity]| ends.iter().filter_map(|end| facts.node(end.number)).collect::<Vec<Node>>();
            let (from, to) = (nodes(&from), nodes(&to));
            let direction = if asked.directed { Direction::Out } else { Direction::Both };
            let allow = |fact: &Fact| facts.stands(fact, at);
            let found = if asked.weighted {
                let cost = |fact: &Fact| 1.0 / f64::from(fact.weight).max(WEIGHT_LEAST);
                lightest_path(&facts.graph, &from, &to, asked.depth, direction, allow, cost)
            } else {
                let hops = shortest_path(&facts.graph, &from, &to, asked.depth, direction, allow);
                hops.map(|edges| (edges.len() as f64, edges)).map(|(cost, edges)| (edges, cost))
            };
            found.map(|(edges, cost)| {
                let edges = edges.iter().filter_map(|edge| facts.graph.edge(*edge));
                (placed(facts, edges.map(|edge| edge.payload.number), at), cost)
            })
        };
        match facts.ask(self.rows().org(), question).await? {
            Some((triplets, cost)) => Ok(Some(Path { triplets: self.loaded(triplets).await?, cost })),
            None => Ok(None),
        }
    }

    /// The graph, and the time to read it at.
    pub(super) async fn as_of(&self, indexes: &Indexes, as_of: Option<Timestamp>) -> Result<(Arc<FactsIndex>, Timestamp)> {
        Ok((indexes.facts(self.rows(), &self.project).await?, as_of.unwrap_or_else(|| self.clock.now())))
    }

    /// The entities of each name, which comes with its place in the question. There are several if entities of different types
    /// share it.
    async fn entities_called<const N: usize>(
        &self,
        indexes: &Indexes,
        names: [(Asked, &str); N],
    ) -> Result<[Vec<Entity>; N], Error> {
        let (project, asked) = (self.project, names.map(|(_, called)| name::cleaned(called)));
        let read = move |tx: &mut OrgTx<'_, '_>| {
            let mut found = [const { Vec::new() }; N];
            for (found, asked) in found.iter_mut().zip(&asked) {
                *found = resolve::called(tx, &project, asked)?;
            }
            Ok(found)
        };
        let found: [Vec<Entity>; N] = self.rows().read(read).await?;
        match names.iter().zip(&found).find(|(_, found)| found.is_empty()) {
            Some(((asked, called), _)) => Err(self.no_such_entity(indexes, called, *asked).await),
            None => Ok(found),
        }
    }
}
