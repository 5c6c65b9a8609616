//! API types of the knowledge graph: triplets, entities and their history.

use knowledge::{Entity, GraphHit, GraphStats, ListedEntity, Mention, Suggestion, Triplet, WeightMove, rounded};
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{EntityId, ObservationId, Time, TripletId};

/// A fact stated by agents.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Triplet)]
pub(super) struct TripletView {
    id: TripletId,
    /// The entity the fact is about, under its current name.
    source_entity: String,
    source_id: EntityId,
    /// The entity's type. Empty if unknown.
    source_type: String,
    /// The relationship, in snake_case.
    relationship: String,
    target_entity: String,
    target_id: EntityId,
    target_type: String,
    /// The fact as a sentence. Empty if none was given.
    description: String,
    /// Whether the source can have only one such target at a time.
    functional: bool,
    /// How useful the fact has been, from 0 to 1.
    weight: f64,
    provenance: ProvenanceView,
    #[schema(required)]
    valid_from: Option<Time>,
    #[schema(required)]
    valid_to: Option<Time>,
    /// When the fact was superseded or retracted, or when it will be.
    #[schema(required)]
    superseded_at: Option<Time>,
    /// Other current facts with the same source and relationship but another target.
    conflicts_with: Vec<TripletId>,
}

/// The origin of a fact.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Provenance)]
struct ProvenanceView {
    /// The observation that stated it.
    #[schema(required)]
    observation_id: Option<ObservationId>,
    session_id: String,
    /// Who stated it first: an agent's id, `label:` and the launcher's label, or a session's id.
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

/// The subject or object of facts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Entity)]
pub(super) struct EntityView {
    id: EntityId,
    /// The name as it was first written.
    name: String,
    /// The entity's type. Empty if unknown.
    r#type: String,
    /// How useful facts about it have been, from 0 to 1.
    weight: f64,
    /// The entity it was merged into.
    #[schema(required)]
    merged_into: Option<EntityId>,
    created_at: Time,
}

impl EntityView {
    /// An entity and the entity it is merged into.
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

/// Somebody who stated a fact.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Mention)]
pub(super) struct MentionView {
    agent_id: String,
    session_id: String,
    /// The sentence used. Empty if none was given.
    description: String,
    /// The most recent time.
    at: Time,
}

impl From<Mention> for MentionView {
    fn from(mention: Mention) -> Self {
        let Mention { agent, session, description, at } = mention;
        Self { agent_id: agent, session_id: session, description, at: at.into() }
    }
}

/// One weight change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GraphMove)]
pub(super) struct GraphMoveView {
    /// The session that rated it.
    session_id: String,
    /// `accepted`, `rework` or `rejected`, or `score` for a numeric rating.
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

/// A matching triplet.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphHit)]
pub(super) struct GraphHitView {
    triplet: TripletView,
    /// How well it matches, from 0 to 1.
    score: f64,
}

impl From<GraphHit> for GraphHitView {
    fn from(hit: GraphHit) -> Self {
        Self { triplet: hit.triplet.into(), score: rounded(hit.score) }
    }
}

/// Two entities that may be the same.
#[derive(Serialize, ToSchema)]
#[schema(as = Suggestion)]
pub(super) struct SuggestionView {
    /// The older entity.
    into: EntityView,
    /// The entity that may be the same.
    from: EntityView,
    /// The similarity of their names, from 0 to 1.
    similarity: f64,
}

impl From<Suggestion> for SuggestionView {
    fn from(suggestion: Suggestion) -> Self {
        // Merged entities are never suggested.
        let view = |entity| EntityView::new(entity, None);
        Self { into: view(suggestion.into), from: view(suggestion.from), similarity: rounded(suggestion.similarity) }
    }
}

/// The size of a graph.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphStats)]
pub(super) struct GraphStatsView {
    /// Entities, without merged ones.
    entities: u64,
    /// All triplets ever stated.
    triplets: u64,
    /// Current triplets.
    standing: u64,
    /// Texts that have an embedding.
    embedded: u64,
    /// Texts that still need one.
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
