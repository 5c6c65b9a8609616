//! Agents: machine identities of an org.

use axum::Json;
use axum::extract::State;
use guard::{Agent, AgentSecret};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::allowlist::ToolList;
use super::body::{Body, Object};
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, shown};
use super::path::{Id, OrgPath, no_such};
use super::rights::{AgentsWrite, OrgRead};
use super::text::Name;
use super::wire::{AgentId, CallsPerMinute, ProjectId, Scopes, Time, given};
use super::words::ToolNames;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, change, delete)).routes(routes!(rotate))
}

/// An agent, without its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = Agent)]
struct AgentView {
    agent_id: AgentId,
    name: String,
    /// The project the agent works in. Without one it sees no project tools.
    #[serde(rename = "projectId")]
    #[schema(required)]
    project_id: Option<ProjectId>,
    agent_key: String,
    scopes: Scopes,
    tools: Vec<String>,
    tool_names: ToolNames,
    /// The agent's rate limit. `null` means the server's default.
    #[schema(required)]
    rate_limit: Option<RateLimit>,
    disabled: bool,
    #[serde(rename = "createdAt")]
    created_at: Time,
    #[serde(rename = "updatedAt")]
    updated_at: Time,
}

/// How often an agent may call.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RateLimit {
    per_minute: CallsPerMinute,
}

impl From<Agent> for AgentView {
    fn from(agent: Agent) -> Self {
        Self {
            agent_id: agent.id.into(),
            name: agent.name,
            project_id: agent.project.map(ProjectId),
            agent_key: agent.agent_key,
            scopes: Scopes(agent.scopes),
            tools: agent.tools.iter().cloned().collect(),
            tool_names: agent.tool_names.into(),
            rate_limit: agent.calls_per_minute.map(|calls| RateLimit { per_minute: CallsPerMinute(calls) }),
            disabled: agent.disabled,
            created_at: agent.created_at.into(),
            updated_at: agent.updated_at.into(),
        }
    }
}

/// An agent with its secret, right after it was created or rotated.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentSecret)]
struct SecretView {
    agent_id: AgentId,
    agent_key: String,
    /// Shown only once.
    agent_secret: String,
    scopes: Scopes,
    tools: Vec<String>,
}

impl From<AgentSecret> for SecretView {
    fn from(made: AgentSecret) -> Self {
        let AgentSecret { agent, secret } = made;
        Self {
            agent_id: agent.id.into(),
            agent_key: agent.agent_key,
            agent_secret: secret,
            scopes: Scopes(agent.scopes),
            tools: agent.tools.iter().cloned().collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct AgentAnswer {
    agent: AgentView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AgentsAnswer {
    agents: Vec<AgentView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAgent {
    name: Name,
    /// The project the agent works in. Without one it sees no project tools.
    #[serde(rename = "projectId")]
    project_id: Option<ProjectId>,
    /// The agent's scopes, at most the caller's.
    scopes: Scopes,
    /// The tools the agent may see, in any spelling.
    tools: ToolList,
    tool_names: Option<ToolNames>,
    #[schema(value_type = Option<RateLimit>)]
    rate_limit: Option<Object<RateLimit>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AgentChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    scopes: Option<Scopes>,
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    tools: Option<ToolList>,
    /// Disables the agent and revokes its tokens.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    disabled: Option<bool>,
    /// A new rate limit, or `null` for the server's default.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<RateLimit>)]
    rate_limit: Option<Option<Object<RateLimit>>>,
}

/// Registers an agent. The secret is shown only once.
#[utoipa::path(
    post, path = "/api/org/{orgId}/agents", operation_id = "createAgent", tag = "agents", params(OrgPath),
    request_body = NewAgent,
    responses((status = 201, description = "Registered.", body = SecretView), Admitted<AgentsWrite>, Body<NewAgent>)
)]
async fn create(
    State(state): State<Shared>,
    access: Admitted<AgentsWrite>,
    _: Query<Nothing>,
    Body(new): Body<NewAgent>,
) -> Result<(StatusCode, Json<SecretView>)> {
    let menu = state.menu(access.org()).await?;
    let agent = guard::NewAgent {
        name: new.name.0,
        project: new.project_id.map(|id| id.0),
        scopes: new.scopes.0,
        tools: new.tools.canonical(&menu)?,
        tool_names: new.tool_names.map_or_else(Default::default, |names| names.0),
        calls_per_minute: new.rate_limit.map(|rate| rate.0.per_minute.0),
    };
    let made = access.agents().create(agent).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Lists agents. A key limited to some projects sees only the agents of those projects.
#[utoipa::path(
    get, path = "/api/org/{orgId}/agents", operation_id = "listAgents", tag = "agents", params(OrgPath, Page),
    responses((status = 200, description = "A page of agents.", body = AgentsAnswer), Admitted<OrgRead>)
)]
async fn list(access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<AgentsAnswer>> {
    let page = access.agents().list(&page.request()).await?;
    let (agents, next_cursor) = shown(page);
    Ok(Json(AgentsAnswer { agents, next_cursor }))
}

/// Shows one agent.
#[utoipa::path(
    get, path = "/api/org/{orgId}/agents/{agentId}", operation_id = "getAgent", tag = "agents",
    params(OrgPath, Id<base::AgentId>),
    responses((status = 200, description = "The agent.", body = AgentAnswer), Admitted<OrgRead>)
)]
async fn show(access: Admitted<OrgRead>, Id(id): Id<base::AgentId>, _: Query<Nothing>) -> Result<Json<AgentAnswer>> {
    answer(access.agents().get(&id).await?)
}

/// Changes an agent. The change applies from the agent's next request.
#[utoipa::path(
    patch, path = "/api/org/{orgId}/agents/{agentId}", operation_id = "changeAgent", tag = "agents",
    params(OrgPath, Id<base::AgentId>), request_body = AgentChange,
    responses(
        (status = 200, description = "The changed agent.", body = AgentAnswer), Admitted<AgentsWrite>, Body<AgentChange>
    )
)]
async fn change(
    State(state): State<Shared>,
    access: Admitted<AgentsWrite>,
    Id(id): Id<base::AgentId>,
    _: Query<Nothing>,
    Body(change): Body<AgentChange>,
) -> Result<Json<AgentAnswer>> {
    let menu = state.menu(access.org()).await?;
    let change = guard::AgentChange {
        scopes: change.scopes.map(|scopes| scopes.0),
        tools: change.tools.map(|tools| tools.canonical(&menu)).transpose()?,
        disabled: change.disabled,
        calls_per_minute: change.rate_limit.map(|rate| rate.map(|rate| rate.0.per_minute.0)),
    };
    answer(access.agents().change(&id, change).await?)
}

/// Rotates an agent's secret. The new secret is shown only once. The old secret and all tokens stop working immediately.
#[utoipa::path(
    post, path = "/api/org/{orgId}/agents/{agentId}/rotate", operation_id = "rotateAgent", tag = "agents",
    params(OrgPath, Id<base::AgentId>),
    responses((status = 200, description = "The new secret.", body = SecretView), Admitted<AgentsWrite>)
)]
async fn rotate(access: Admitted<AgentsWrite>, Id(id): Id<base::AgentId>, _: Query<Nothing>) -> Result<Json<SecretView>> {
    let rotated = access.agents().rotate(&id).await?.ok_or_else(no_such::<base::AgentId>)?;
    Ok(Json(rotated.into()))
}

/// Removes an agent and its tokens.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/agents/{agentId}", operation_id = "deleteAgent", tag = "agents",
    params(OrgPath, Id<base::AgentId>),
    responses((status = 204, description = "Removed."), Admitted<AgentsWrite>)
)]
async fn delete(access: Admitted<AgentsWrite>, Id(id): Id<base::AgentId>, _: Query<Nothing>) -> Result<StatusCode> {
    if access.agents().delete(&id).await? { Ok(StatusCode::NO_CONTENT) } else { Err(no_such::<base::AgentId>()) }
}

fn answer(agent: Option<Agent>) -> Result<Json<AgentAnswer>> {
    let agent = agent.ok_or_else(no_such::<base::AgentId>)?;
    Ok(Json(AgentAnswer { agent: agent.into() }))
}
