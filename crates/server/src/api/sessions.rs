//! Sessions: opened with their own key, ended with an outcome.

use axum::Json;
use axum::extract::State;
use base::Allowlist;
use guard::{OpenedSession, Session};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use store::OrgTx;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::allowlist::ToolList;
use super::body::{Body, OptionalBody};
use super::document::Conflict;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{After, Page, Rows, next_cursor, query, request};
use super::path::{Id, OrgPath, no_such};
use super::rights::{OrgRead, SessionsWrite};
use super::text::Label;
use super::wire::{AgentId, ProjectId, SessionId, Time, TtlSeconds};
use super::words::{Outcome, State as SessionState, ToolNames};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(open, list)).routes(routes!(show)).routes(routes!(end))
}

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
struct SessionView {
    session_id: SessionId,
    project_id: ProjectId,
    #[schema(required)]
    agent_id: Option<AgentId>,
    #[schema(required)]
    agent_label: Option<String>,
    #[schema(required)]
    work_type: Option<String>,
    #[schema(inline)]
    state: SessionState,
    #[schema(required)]
    outcome: Option<Outcome>,
    /// The tools it is limited to. `null` if it was opened without a list.
    #[schema(required)]
    tools: Option<Vec<String>>,
    #[serde(rename = "tool_names")]
    tool_names: ToolNames,
    created_at: Time,
    expires_at: Time,
    #[schema(required)]
    ended_at: Option<Time>,
}

impl SessionView {
    fn new(session: Session, now: base::Timestamp) -> Self {
        let tools = match &session.allowlist {
            Allowlist::All => None,
            Allowlist::Only(names) => Some(names.iter().cloned().collect()),
        };
        Self {
            state: session.state(now).into(),
            session_id: session.id.into(),
            project_id: session.project.into(),
            agent_id: session.agent.map(AgentId),
            agent_label: session.agent_label,
            work_type: session.work_type,
            outcome: session.outcome.map(Outcome),
            tools,
            tool_names: session.tool_names.into(),
            created_at: session.created_at.into(),
            expires_at: session.expires_at.into(),
            ended_at: session.ended_at.map(Time),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct SessionAnswer {
    session: SessionView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionsAnswer {
    sessions: Vec<SessionView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A new session with its key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OpenedAnswer {
    session_id: SessionId,
    project_id: ProjectId,
    expires_at: Time,
    /// The session's MCP URL.
    mcp_url: String,
    mcp_config: McpConfig,
}

/// An entry for an MCP client's configuration file. Its key works only for this session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct McpConfig {
    mcp_servers: McpServers,
}

#[derive(Serialize, ToSchema)]
struct McpServers {
    toolcrib: McpServer,
}

#[derive(Serialize, ToSchema)]
struct McpServer {
    /// Always `http`.
    r#type: &'static str,
    url: String,
    headers: McpHeaders,
}

#[derive(Serialize, ToSchema)]
struct McpHeaders {
    #[serde(rename = "Authorization")]
    authorization: String,
}

impl OpenedAnswer {
    fn new(opened: OpenedSession, public_url: &str) -> Self {
        let OpenedSession { session, full_key } = opened;
        let mcp_url = format!("{public_url}/api/mcp/{}", session.id);
        let headers = McpHeaders { authorization: format!("Bearer {full_key}") };
        let toolcrib = McpServer { r#type: "http", url: mcp_url.clone(), headers };
        Self {
            session_id: session.id.into(),
            project_id: session.project.into(),
            expires_at: session.expires_at.into(),
            mcp_url,
            mcp_config: McpConfig { mcp_servers: McpServers { toolcrib } },
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewSession {
    project_id: ProjectId,
    /// The registered agent that the session runs.
    agent_id: Option<AgentId>,
    /// The launcher's label for its agent.
    agent_label: Option<Label>,
    work_type: Option<Label>,
    /// The only tools it may see, in any spelling. Default: all tools that its scopes allow.
    tools: Option<ToolList>,
    #[serde(rename = "tool_names")]
    tool_names: Option<ToolNames>,
    /// The session's lifetime. Default: one day, unless the operator changed it.
    ttl_seconds: Option<TtlSeconds>,
}

/// Query parameters of the sessions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionPage {
    state: Option<SessionState>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for SessionPage {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![query("state", "Only sessions currently in this state.", SessionState::schema())];
        parameters.extend(Page::into_params(place));
        parameters
    }
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SessionEnd {
    /// The outcome of its work.
    outcome: Option<Outcome>,
}

/// Opens a session and creates a key that works only for it. The key is shown only once, in `mcpConfig`.
#[utoipa::path(
    post, path = "/api/org/{orgId}/sessions", operation_id = "openSession", tag = "sessions", params(OrgPath),
    request_body = NewSession,
    responses((status = 201, description = "Opened.", body = OpenedAnswer), Admitted<SessionsWrite>, Body<NewSession>)
)]
async fn open(
    State(state): State<Shared>,
    access: Admitted<SessionsWrite>,
    _: Query<Nothing>,
    Body(new): Body<NewSession>,
) -> Result<(StatusCode, Json<OpenedAnswer>)> {
    let menu = state.menu(access.org()).await?;
    let session = guard::NewSession {
        project: new.project_id.0,
        agent: new.agent_id.map(|id| id.0),
        agent_label: new.agent_label.map(|label| label.0),
        work_type: new.work_type.map(|label| label.0),
        tools: new.tools.map(|tools| tools.canonical(&menu)).transpose()?,
        tool_names: new.tool_names.map_or_else(Default::default, |names| names.0),
        ttl_seconds: new.ttl_seconds.map(|seconds| seconds.0),
    };
    let opened = access.sessions().open(session).await?;
    Ok((StatusCode::CREATED, Json(OpenedAnswer::new(opened, &state.public_url))))
}

/// Lists the sessions of projects that the caller covers.
#[utoipa::path(
    get, path = "/api/org/{orgId}/sessions", operation_id = "listSessions", tag = "sessions", params(OrgPath, SessionPage),
    responses((status = 200, description = "A page of sessions.", body = SessionsAnswer), Admitted<OrgRead>)
)]
async fn list(access: Admitted<OrgRead>, Query(page): Query<SessionPage>) -> Result<Json<SessionsAnswer>> {
    let state = page.state.map(|state| state.0);
    let page = access.sessions().list(&request(page.limit, page.cursor), state).await?;
    let now = access.clock().now();
    let sessions = page.items.into_iter().map(|session| SessionView::new(session, now)).collect();
    Ok(Json(SessionsAnswer { sessions, next_cursor: next_cursor(page.next.as_ref()) }))
}

/// Shows one session.
#[utoipa::path(
    get, path = "/api/org/{orgId}/sessions/{sessionId}", operation_id = "getSession", tag = "sessions",
    params(OrgPath, Id<base::SessionId>),
    responses((status = 200, description = "The session.", body = SessionAnswer), Admitted<OrgRead>)
)]
async fn show(access: Admitted<OrgRead>, Id(id): Id<base::SessionId>, _: Query<Nothing>) -> Result<Json<SessionAnswer>> {
    answer(access.sessions().get(&id).await?, access.clock().now())
}

/// Ends a session. Its key is revoked and its door answers 410 immediately. Ending it twice is a conflict.
#[utoipa::path(
    post, path = "/api/org/{orgId}/sessions/{sessionId}/end", operation_id = "endSession", tag = "sessions",
    params(OrgPath, Id<base::SessionId>), request_body = Option<SessionEnd>,
    responses(
        (status = 200, description = "The ended session.", body = SessionAnswer),
        Admitted<SessionsWrite>, OptionalBody<SessionEnd>, Conflict
    )
)]
async fn end(
    access: Admitted<SessionsWrite>,
    Id(id): Id<base::SessionId>,
    _: Query<Nothing>,
    OptionalBody(end): OptionalBody<SessionEnd>,
) -> Result<Json<SessionAnswer>> {
    let outcome = end.outcome.map(|outcome| outcome.0);
    // The outcome adjusts the weights of what the session recalled.
    let learns = outcome.and_then(|outcome| knowledge::WorkOutcome::parse(outcome.word()));
    let also = move |tx: &mut OrgTx<'_, '_>, now| learns.map_or(Ok(()), |learns| learns.move_recalled(tx, id.as_str(), now));
    let ended = access.sessions().end(&id, outcome, also).await?;
    answer(ended, access.clock().now())
}

fn answer(session: Option<Session>, now: base::Timestamp) -> Result<Json<SessionAnswer>> {
    let session = session.ok_or_else(no_such::<base::SessionId>)?;
    Ok(Json(SessionAnswer { session: SessionView::new(session, now) }))
}
