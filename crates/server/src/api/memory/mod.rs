//! A project's memory: browse, search, forget, and roll back one agent or session.

mod import;
mod report;

use axum::Json;
use axum::extract::State;
use base::EventKind;
use base::limits::HITS_DEFAULT;
use guard::Event;
use knowledge::{Citation, Observation, ObservationFilter, Ranking, WeightMove, rounded};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Nothing, Query};
use super::in_project::{Author, InProject, RollBack};
use super::page::{After, Page, Rows, query, request, shown};
use super::path::Id;
use super::rights::{MemoryRead, MemoryWrite};
use super::text::{AuthorName, Label, Question};
use super::wire::{HitCount, ObservationId, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(search))
        .routes(routes!(roll_back))
        .routes(routes!(show, forget))
        .merge(import::routes())
        .merge(report::routes())
}

/// A note by an agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Observation)]
struct ObservationView {
    id: ObservationId,
    /// Empty if the observation was forgotten.
    content: String,
    r#type: String,
    #[schema(required)]
    confidence: Option<f64>,
    /// How useful it has been, from 0 to 1.
    weight: f64,
    /// The number of other agents that noted the same.
    corroborations: i64,
    /// The author: an agent's id, `label:` and the launcher's label, a session's id, or `import:` and the original author.
    agent_id: String,
    session_id: String,
    created_at: Time,
    #[schema(required)]
    forgotten_at: Option<Time>,
}

impl From<Observation> for ObservationView {
    fn from(found: Observation) -> Self {
        Self {
            id: found.id.into(),
            content: found.content,
            r#type: found.kind,
            confidence: found.confidence,
            weight: found.weight,
            corroborations: found.corroborations,
            agent_id: found.agent,
            session_id: found.session,
            created_at: found.created_at.into(),
            forgotten_at: found.forgotten_at.map(Into::into),
        }
    }
}

/// The parts of a hit's score. They add up to `score`.
#[derive(Serialize, ToSchema)]
#[schema(as = Why)]
struct WhyView {
    keyword: f64,
    vector: f64,
    neighbours: f64,
    recency: f64,
    weight: f64,
}

/// A matching observation.
#[derive(Serialize, ToSchema)]
#[schema(as = Hit)]
struct HitView {
    observation: ObservationView,
    score: f64,
    why: WhyView,
}

impl From<Citation> for HitView {
    fn from(citation: Citation) -> Self {
        let why = citation.why;
        Self {
            observation: citation.observation.into(),
            score: rounded(citation.score),
            why: WhyView {
                keyword: rounded(why.keyword),
                vector: rounded(why.vector),
                neighbours: rounded(why.neighbours),
                recency: rounded(why.recency),
                weight: rounded(why.weight),
            },
        }
    }
}

/// One weight change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WeightMove)]
struct MoveView {
    /// The session that recalled it.
    session_id: String,
    /// How that session ended.
    outcome: String,
    before: f64,
    after: f64,
    at: Time,
}

impl From<WeightMove> for MoveView {
    fn from(moved: WeightMove) -> Self {
        Self { session_id: moved.session, outcome: moved.outcome, before: moved.before, after: moved.after, at: moved.at.into() }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ObservationsAnswer {
    observations: Vec<ObservationView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct HitsAnswer {
    /// Best first.
    hits: Vec<HitView>,
}

#[derive(Serialize, ToSchema)]
struct ObservationAnswer {
    observation: ObservationView,
    /// Weight changes, oldest first.
    moves: Vec<MoveView>,
}

#[derive(Serialize, ToSchema)]
struct ForgottenAnswer {
    /// The number of forgotten observations. A rollback counts decisions too whose text is also another's.
    forgotten: u64,
}

/// Query parameters of the observations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ObservationsQuery {
    agent_id: Option<AuthorName>,
    session_id: Option<AuthorName>,
    r#type: Option<Label>,
    as_of: Option<Time>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for ObservationsQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query("agentId", "Only observations by this agent.", AuthorName::schema()),
            query("sessionId", "Only observations from this session.", AuthorName::schema()),
            query("type", "Only observations of this type.", Label::schema()),
            query("asOf", "Only observations known at this time.", Time::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// A search of the memory.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The question, in plain words.
    query: Question,
    /// The number of hits. Default: 10.
    limit: Option<HitCount>,
}

/// Lists a project's observations, newest first, without forgotten ones.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/memory", operation_id = "listObservations", tag = "memory",
    params(InProject<MemoryRead>, ObservationsQuery),
    responses((status = 200, description = "A page of observations.", body = ObservationsAnswer), InProject<MemoryRead>)
)]
async fn list(access: InProject<MemoryRead>, Query(asked): Query<ObservationsQuery>) -> Result<Json<ObservationsAnswer>> {
    let filter = ObservationFilter {
        agent: asked.agent_id.map(|agent| agent.0),
        session: asked.session_id.map(|session| session.0),
        kind: asked.r#type.map(|kind| kind.0),
        as_of: asked.as_of.map(|time| time.0),
    };
    let page = access.memory().list(&filter, &request(asked.limit, asked.cursor), |bytes| access.hold(bytes)).await?;
    let (observations, next_cursor) = shown(page);
    Ok(Json(ObservationsAnswer { observations, next_cursor }))
}

/// Searches a project's memory as an agent would, but without a token budget. It does not count as a recall.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/memory/search", operation_id = "searchMemory", tag = "memory",
    params(InProject<MemoryRead>), request_body = Search,
    responses((status = 200, description = "The hits, with the reasons.", body = HitsAnswer), InProject<MemoryRead>, Body<Search>)
)]
async fn search(
    State(state): State<Shared>,
    access: InProject<MemoryRead>,
    _: Query<Nothing>,
    Body(asked): Body<Search>,
) -> Result<Json<HitsAnswer>> {
    let memory = access.memory();
    let most = asked.limit.map_or(HITS_DEFAULT, |count| count.0) as usize;
    let hits =
        memory.search(&state.services.indexes, &asked.query.0, Ranking::default(), most, |bytes| access.hold(bytes)).await?;
    Ok(Json(HitsAnswer { hits: hits.into_iter().map(Into::into).collect() }))
}

/// Shows one observation, forgotten or not, with its weight changes.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/memory/{observationId}", operation_id = "showObservation", tag = "memory",
    params(InProject<MemoryRead>, Id<base::ObservationId>),
    responses((status = 200, description = "The observation.", body = ObservationAnswer), InProject<MemoryRead>)
)]
async fn show(
    access: InProject<MemoryRead>,
    Id(id): Id<base::ObservationId>,
    _: Query<Nothing>,
) -> Result<Json<ObservationAnswer>> {
    let memory = access.memory();
    let observation = memory.get(&id).await?;
    let moves = memory.moves(&observation).await?.into_iter().map(Into::into).collect();
    Ok(Json(ObservationAnswer { observation: observation.into(), moves }))
}

/// Forgets an observation. Its text is permanently deleted; its id and metadata stay. Repeating the call has no effect.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/projects/{projectId}/memory/{observationId}", operation_id = "forgetObservation",
    tag = "memory", params(InProject<MemoryWrite>, Id<base::ObservationId>),
    responses((status = 200, description = "Forgotten.", body = ForgottenAnswer), InProject<MemoryWrite>)
)]
async fn forget(
    access: InProject<MemoryWrite>,
    Id(id): Id<base::ObservationId>,
    _: Query<Nothing>,
) -> Result<Json<ForgottenAnswer>> {
    let event = Event::new(EventKind::MemoryForgotten, "observation", id).with("projectId", access.project().as_str());
    let memory = access.changing_memory(event);
    let forgotten = u64::from(memory.forget(&id, &access.who().label()).await?);
    Ok(Json(ForgottenAnswer { forgotten }))
}

/// Forgets everything an agent or session noted or decided, at most 500 observations per call; repeat until none is left.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/memory/rollback", operation_id = "rollBackMemory", tag = "memory",
    params(InProject<MemoryWrite>), request_body = RollBack,
    responses((status = 200, description = "The result.", body = ForgottenAnswer), InProject<MemoryWrite>, Body<RollBack>)
)]
async fn roll_back(
    access: InProject<MemoryWrite>,
    _: Query<Nothing>,
    Body(asked): Body<RollBack>,
) -> Result<Json<ForgottenAnswer>> {
    let author = Author::from(asked);
    let memory = access.changing_memory(access.rolled_back(EventKind::MemoryRolledBack, &author));
    let Author { agent, session, since } = author;
    let filter = ObservationFilter { agent, session, ..ObservationFilter::default() };
    let gone = memory.roll_back(&filter, since, &access.who().label()).await?;
    Ok(Json(ForgottenAnswer { forgotten: gone.observations + gone.decisions }))
}
