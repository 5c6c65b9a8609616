//! The knowledge graph as the API speaks of it: triplets, entities, and what became of them.

use knowledge::{Entity, GraphHit, GraphStats, ListedEntity, Mention, Suggestion, Triplet, WeightMove, rounded};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{EntityId, ObservationId, Time, TripletId};

/// A fact that agents stated.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Triplet)]
pub(super) struct TripletView {
    id: TripletId,
    /// What it is about: the name it has today.
    source_entity: String,
    source_id: EntityId,
    /// What kind of thing that is; empty when nobody said.
    source_type: String,
    /// How the two are related, in snake_case.
    relationship: String,
    target_entity: String,
    target_id: EntityId,
    target_type: String,
    /// The fact in a sentence; empty when nobody gave one.
    description: String,
    /// Whether the source has one such target at a time.
    functional: bool,
    /// How well it has served, from 0 to 1.
    weight: f64,
    provenance: ProvenanceView,
    #[schema(required)]
    valid_from: Option<Time>,
    #[schema(required)]
    valid_to: Option<Time>,
    /// Since when, or from when on, it does not stand any more: something newer took its place, or it was retracted.
    #[schema(required)]
    superseded_at: Option<Time>,
    /// Facts with the same source and relationship and another target that stand beside it.
    conflicts_with: Vec<TripletId>,
}

/// Where a fact comes from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Provenance)]
struct ProvenanceView {
    /// The observation that stated it.
    #[schema(required)]
    observation_id: Option<ObservationId>,
    session_id: String,
    /// Who stated it first: an agent's id, `label:` and a launcher's word, or a session's id.
    agent_id: String,
    timestamp: Time,
}

impl From<Triplet> for TripletView {
    fn from(found: Triplet) -> Self {
        Self {
            id: found.id.into(),
            source_entity: found.source.name,
            source_id: found.source.id.into(),
            source_type: found.source.kind,
            relationship: found.relationship,
            target_entity: found.target.name,
            target_id: found.target.id.into(),
            target_type: found.target.kind,
            description: found.description,
            functional: found.functional,
            weight: rounded(found.weight),
            provenance: ProvenanceView {
                observation_id: found.provenance.observation.map(Into::into),
                session_id: found.provenance.session,
                agent_id: found.provenance.agent,
                timestamp: found.provenance.at.into(),
            },
            valid_from: found.valid_from.map(Into::into),
            valid_to: found.valid_to.map(Into::into),
            superseded_at: found.superseded_at.map(Into::into),
            conflicts_with: found.conflicts_with.into_iter().map(Into::into).collect(),
        }
    }
}

/// Something that facts are about.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Entity)]
pub(super) struct EntityView {
    id: EntityId,
    /// As it was first written.
    name: String,
    /// What kind of thing it is; empty when nobody said.
    r#type: String,
    /// How well facts about it have served, from 0 to 1.
    weight: f64,
    /// The entity that it turned out to be.
    #[schema(required)]
    merged_into: Option<EntityId>,
    created_at: Time,
}

impl EntityView {
    /// An entity and what it is merged into, as both are now.
    pub(super) fn new(entity: Entity, merged_into: Option<base::EntityId>) -> Self {
        Self {
            id: entity.id.into(),
            name: entity.name,
            r#type: entity.kind,
            weight: rounded(entity.weight),
            merged_into: merged_into.map(Into::into),
            created_at: entity.created_at.into(),
        }
    }
}

impl From<ListedEntity> for EntityView {
    fn from(listed: ListedEntity) -> Self {
        Self::new(listed.entity, listed.merged_into)
    }
}

/// Someone who stated a fact.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Mention)]
pub(super) struct MentionView {
    agent_id: String,
    session_id: String,
    /// In these words; empty when there were none.
    description: String,
    /// When, most recently.
    at: Time,
}

impl From<Mention> for MentionView {
    fn from(mention: Mention) -> Self {
        let Mention { agent, session, description, at } = mention;
        Self { agent_id: agent, session_id: session, description, at: at.into() }
    }
}

/// One move of a weight.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GraphMove)]
pub(super) struct GraphMoveView {
    /// The session that judged it.
    session_id: String,
    /// `accepted`, `rework` or `rejected`, or `score` where a number was given.
    outcome: String,
    before: f64,
    after: f64,
    at: Time,
}

impl From<WeightMove> for GraphMoveView {
    fn from(moved: WeightMove) -> Self {
        Self {
            session_id: moved.session,
            outcome: moved.outcome,
            before: rounded(moved.before),
            after: rounded(moved.after),
            at: moved.at.into(),
        }
    }
}

/// A triplet that was found.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphHit)]
pub(super) struct GraphHitView {
    triplet: TripletView,
    /// How well it answers, from 0 to 1.
    score: f64,
}

impl From<GraphHit> for GraphHitView {
    fn from(hit: GraphHit) -> Self {
        Self { triplet: hit.triplet.into(), score: rounded(hit.score) }
    }
}

/// Two entities that may be one.
#[derive(Serialize, ToSchema)]
#[schema(as = Suggestion)]
pub(super) struct SuggestionView {
    /// The one that was named first.
    into: EntityView,
    /// The one that may be the same.
    from: EntityView,
    /// How much of their letters they share, from 0 to 1.
    similarity: f64,
}

impl From<Suggestion> for SuggestionView {
    fn from(suggestion: Suggestion) -> Self {
        // What is merged already is not suggested.
        let view = |entity| EntityView::new(entity, None);
        Self { into: view(suggestion.into), from: view(suggestion.from), similarity: rounded(suggestion.similarity) }
    }
}

/// How much a graph knows.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphStats)]
pub(super) struct GraphStatsView {
    /// Entities that are themselves, not merged into others.
    entities: u64,
    /// Triplets that were ever stated.
    triplets: u64,
    /// Triplets that stand now.
    standing: u64,
    /// Texts of it that are known by meaning.
    embedded: u64,
    /// Texts that will be.
    waiting: u64,
}

impl From<GraphStats> for GraphStatsView {
    fn from(stats: GraphStats) -> Self {
        Self {
            entities: stats.entities,
            triplets: stats.triplets,
            standing: stats.standing,
            embedded: stats.coverage.embedded,
            waiting: stats.coverage.waiting,
        }
    }
}
