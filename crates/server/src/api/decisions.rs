//! The decisions that a project's agents recorded.

use axum::Json;
use knowledge::{Decision, DecisionFilter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::Result;
use super::extract::{Nothing, Query};
use super::in_project::InProject;
use super::page::{After, Page, Rows, query, request, shown};
use super::path::Id;
use super::rights::MemoryRead;
use super::text::{AuthorName, Label};
use super::wire::{DecisionId, ObservationId, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(show))
}

/// A decision with its reasons.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
struct DecisionView {
    id: DecisionId,
    /// What was decided. Empty if the decision was forgotten.
    decision: String,
    /// Why. Empty if the decision was forgotten.
    reasoning: String,
    /// What was known at that time.
    #[schema(required, value_type = Option<Object>)]
    context: Option<Map<String, Value>>,
    #[schema(required)]
    confidence: Option<f64>,
    /// Options that were not chosen.
    alternatives: Vec<String>,
    /// The expected impact: `low`, `medium`, `high` or `critical`.
    #[schema(required, value_type = Option<String>)]
    impact: Option<&'static str>,
    agent_id: String,
    session_id: String,
    /// The observation with the same text. Forgetting it forgets the decision.
    observation_id: ObservationId,
    created_at: Time,
    #[schema(required)]
    forgotten_at: Option<Time>,
}

impl From<Decision> for DecisionView {
    fn from(found: Decision) -> Self {
        Self {
            id: found.id.into(),
            decision: found.decision,
            reasoning: found.reasoning,
            context: found.context,
            confidence: found.confidence,
            alternatives: found.alternatives,
            impact: found.impact.map(knowledge::Impact::word),
            agent_id: found.agent,
            session_id: found.session,
            observation_id: found.observation.into(),
            created_at: found.created_at.into(),
            forgotten_at: found.forgotten_at.map(Into::into),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DecisionsAnswer {
    decisions: Vec<DecisionView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct DecisionAnswer {
    decision: DecisionView,
}

/// Query parameters of the decisions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct DecisionsQuery {
    agent_id: Option<AuthorName>,
    session_id: Option<AuthorName>,
    since: Option<Time>,
    until: Option<Time>,
    text: Option<Label>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for DecisionsQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query("agentId", "Only decisions by this agent.", AuthorName::schema()),
            query("sessionId", "Only decisions from this session.", AuthorName::schema()),
            query("since", "Only decisions at or after this time.", Time::schema()),
            query("until", "Only decisions before this time.", Time::schema()),
            query("text", "Only decisions with this word or phrase in their texts.", Label::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// Lists a project's decisions, newest first, without forgotten ones. A page may have fewer rows than `limit`; follow `nextCursor`.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/decisions", operation_id = "listDecisions", tag = "memory",
    params(InProject<MemoryRead>, DecisionsQuery),
    responses((status = 200, description = "A page of decisions.", body = DecisionsAnswer), InProject<MemoryRead>)
)]
async fn list(access: InProject<MemoryRead>, Query(asked): Query<DecisionsQuery>) -> Result<Json<DecisionsAnswer>> {
    let filter = DecisionFilter {
        agent: asked.agent_id.map(|agent| agent.0),
        session: asked.session_id.map(|session| session.0),
        since: asked.since.map(|time| time.0),
        until: asked.until.map(|time| time.0),
        text: asked.text.map(|text| text.0),
    };
    let page = access.decisions().list(&filter, &request(asked.limit, asked.cursor)).await?;
    let (decisions, next_cursor) = shown(page);
    Ok(Json(DecisionsAnswer { decisions, next_cursor }))
}

/// Shows one decision, forgotten or not.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/decisions/{decisionId}", operation_id = "showDecision", tag = "memory",
    params(InProject<MemoryRead>, Id<base::DecisionId>),
    responses((status = 200, description = "The decision.", body = DecisionAnswer), InProject<MemoryRead>)
)]
async fn show(access: InProject<MemoryRead>, Id(id): Id<base::DecisionId>, _: Query<Nothing>) -> Result<Json<DecisionAnswer>> {
    Ok(Json(DecisionAnswer { decision: access.decisions().get(&id).await?.into() }))
}
