//! A project's memory, for people: look through it, ask it, forget, and undo what one agent or session wrote.

mod import;
mod report;

use axum::Json;
use axum::extract::State;
use guard::{Access, Event};
use knowledge::{Citation, Memory, Observation, ObservationFilter, Ranking, WeightMove, rounded};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{After, Page, Rows, next_cursor, query, request};
use super::path::{Id, OrgPath, no_such};
use super::rights::{MemoryRead, MemoryWrite};
use super::text::{AuthorName, Label, Question};
use super::wire::{HitCount, ObservationId, Time};
use crate::state::Shared;

/// Hits of a search when the caller does not say.
const HITS_DEFAULT: u32 = 10;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(search))
        .routes(routes!(roll_back))
        .routes(routes!(show, forget))
        .merge(import::routes())
        .merge(report::routes())
}

/// Something an agent noted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Observation)]
struct ObservationView {
    id: ObservationId,
    /// Empty when it was forgotten.
    content: String,
    r#type: String,
    #[schema(required)]
    confidence: Option<f64>,
    /// How well it has served, from 0 to 1.
    weight: f64,
    /// Other agents that said the same.
    corroborations: i64,
    /// Who said it: an agent's id, `label:` and a launcher's word, a session's id, or `import:` and who said it elsewhere.
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

/// What a hit owes its place to; the parts add up to the score.
#[derive(Serialize, ToSchema)]
#[schema(as = Why)]
struct WhyView {
    keyword: f64,
    vector: f64,
    neighbours: f64,
    recency: f64,
    weight: f64,
}

/// An observation that was found.
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

/// One move of a weight.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WeightMove)]
struct MoveView {
    /// The session that had recalled it.
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
    /// How its weight moved, oldest first.
    moves: Vec<MoveView>,
}

#[derive(Serialize, ToSchema)]
struct ForgottenAnswer {
    /// Observations that were forgotten.
    forgotten: u64,
}

/// Which observations.
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
            query("agentId", "Only what this agent said.", AuthorName::schema()),
            query("sessionId", "Only what was said in this session.", AuthorName::schema()),
            query("type", "Only of this type.", Label::schema()),
            query("asOf", "Only what was known at this time.", Time::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// What is asked.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// In plain words.
    query: Question,
    /// How many hits; 10 when left out.
    limit: Option<HitCount>,
}

/// Whose observations go.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "say whose observations to roll back: `agentId`, `sessionId`, or both")]
enum RollBack {
    Agent(OfAgent),
    Session(OfSession),
}

/// Those of an agent, or of an agent in a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct OfAgent {
    pub(super) agent_id: AuthorName,
    pub(super) session_id: Option<AuthorName>,
    /// Only what was said from then on.
    pub(super) since: Option<Time>,
}

/// Those of a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct OfSession {
    pub(super) session_id: AuthorName,
    /// Only what was said from then on.
    pub(super) since: Option<Time>,
}

/// The memory of a project that the caller may see.
async fn memory_of(access: &Access, project: &base::ProjectId) -> Result<Memory> {
    check(access, project).await?;
    Ok(Memory::new(access.rows().clone(), *project, access.clock().clone()))
}

/// The same, to be changed: the first change carries `event` into the audit trail.
async fn changing_memory_of(access: &Access, project: &base::ProjectId, event: Event) -> Result<Memory> {
    check(access, project).await?;
    Ok(Memory::new(access.rows_for(event), *project, access.clock().clone()))
}

async fn check(access: &Access, project: &base::ProjectId) -> Result<()> {
    let found = access.projects().get(project).await?;
    found.map(drop).ok_or_else(no_such::<base::ProjectId>)
}

/// Lists what a project's agents noted, newest first, without what was forgotten.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/memory", operation_id = "listObservations", tag = "memory",
    params(OrgPath, Id<base::ProjectId>, ObservationsQuery),
    responses((status = 200, description = "A page of observations.", body = ObservationsAnswer), Admitted<MemoryRead>)
)]
async fn list(
    access: Admitted<MemoryRead>,
    Id(project): Id<base::ProjectId>,
    Query(asked): Query<ObservationsQuery>,
) -> Result<Json<ObservationsAnswer>> {
    let filter = ObservationFilter {
        agent: asked.agent_id.map(|agent| agent.0),
        session: asked.session_id.map(|session| session.0),
        kind: asked.r#type.map(|kind| kind.0),
        as_of: asked.as_of.map(|time| time.0),
    };
    let page = memory_of(&access, &project).await?.list(&filter, &request(asked.limit, asked.cursor)).await?;
    let next_cursor = next_cursor(page.next.as_ref());
    Ok(Json(ObservationsAnswer { observations: page.items.into_iter().map(Into::into).collect(), next_cursor }))
}

/// Asks a project's memory as an agent would, without a budget and without a trace in what was recalled.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/memory/search", operation_id = "searchMemory", tag = "memory",
    params(OrgPath, Id<base::ProjectId>), request_body = Search,
    responses((status = 200, description = "What was found, and why.", body = HitsAnswer), Admitted<MemoryRead>, Body<Search>)
)]
async fn search(
    State(state): State<Shared>,
    access: Admitted<MemoryRead>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
    Body(asked): Body<Search>,
) -> Result<Json<HitsAnswer>> {
    let memory = memory_of(&access, &project).await?;
    let most = asked.limit.map_or(HITS_DEFAULT, |count| count.0) as usize;
    let hits = memory.search(&state.services.indexes, &asked.query.0, Ranking::default(), most).await?;
    Ok(Json(HitsAnswer { hits: hits.into_iter().map(Into::into).collect() }))
}

/// Shows one observation, forgotten or not, and how its weight moved.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/memory/{observationId}", operation_id = "showObservation", tag = "memory",
    params(OrgPath, Id<base::ProjectId>, Id<base::ObservationId>),
    responses((status = 200, description = "The observation.", body = ObservationAnswer), Admitted<MemoryRead>)
)]
async fn show(
    access: Admitted<MemoryRead>,
    Id(project): Id<base::ProjectId>,
    Id(id): Id<base::ObservationId>,
    _: Query<Nothing>,
) -> Result<Json<ObservationAnswer>> {
    let memory = memory_of(&access, &project).await?;
    let observation = memory.get(&id).await?;
    let moves = memory.moves(&observation).await?.into_iter().map(Into::into).collect();
    Ok(Json(ObservationAnswer { observation: observation.into(), moves }))
}

/// Forgets an observation: its text is gone for good, that there was one stays. Forgetting twice is the same as once.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/projects/{projectId}/memory/{observationId}", operation_id = "forgetObservation",
    tag = "memory", params(OrgPath, Id<base::ProjectId>, Id<base::ObservationId>),
    responses((status = 200, description = "It is forgotten.", body = ForgottenAnswer), Admitted<MemoryWrite>)
)]
async fn forget(
    access: Admitted<MemoryWrite>,
    Id(project): Id<base::ProjectId>,
    Id(id): Id<base::ObservationId>,
    _: Query<Nothing>,
) -> Result<Json<ForgottenAnswer>> {
    let event = Event::new("memory.forgotten", "observation", id).with("projectId", project.as_str());
    let memory = changing_memory_of(&access, &project, event).await?;
    let forgotten = u64::from(memory.forget(&id, &access.who().label()).await?);
    Ok(Json(ForgottenAnswer { forgotten }))
}

/// Forgets everything that an agent or a session wrote, at most 500 observations at once: call it until none is left.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/memory/rollback", operation_id = "rollBackMemory", tag = "memory",
    params(OrgPath, Id<base::ProjectId>), request_body = RollBack,
    responses((status = 200, description = "What was forgotten.", body = ForgottenAnswer), Admitted<MemoryWrite>, Body<RollBack>)
)]
async fn roll_back(
    access: Admitted<MemoryWrite>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
    Body(asked): Body<RollBack>,
) -> Result<Json<ForgottenAnswer>> {
    let (agent, session, since) = match asked {
        RollBack::Agent(of) => (Some(of.agent_id.0), of.session_id.map(|session| session.0), of.since),
        RollBack::Session(of) => (None, Some(of.session_id.0), of.since),
    };
    let event = Event::new("memory.rolled_back", "project", project)
        .with_some("agentId", agent.as_deref())
        .with_some("sessionId", session.as_deref());
    let memory = changing_memory_of(&access, &project, event).await?;
    let filter = ObservationFilter { agent, session, ..ObservationFilter::default() };
    let gone = memory.roll_back(&filter, since.map(|time| time.0), &access.who().label()).await?;
    Ok(Json(ForgottenAnswer { forgotten: gone.observations }))
}
