//! Usage figures: costs by tool, agent, project or hour, and recent calls.

use axum::Json;
use axum::extract::State;
use base::Timestamp;
use guard::{Cost, CostFilter, CostGroup, Task, TaskFilter};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::Result;
use super::extract::{Admitted, Query};
use super::page::{After, Page, Rows, query, request, shown};
use super::path::OrgPath;
use super::rights::{MetricsRead, OrgRead};
use super::text::Label;
use super::wire::Time;
use super::words::{CostBy, TaskState};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(costs)).routes(routes!(tasks))
}

/// Totals of calls.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CostSum)]
struct SumView {
    /// The number of calls, whatever their outcome.
    calls: i64,
    /// Calls that did not complete: failed, refused or cancelled.
    failed: i64,
    /// Total duration.
    duration_ms: f64,
}

impl From<&Cost> for SumView {
    fn from(cost: &Cost) -> Self {
        Self { calls: cost.calls, failed: cost.failed, duration_ms: cost.duration_us as f64 / 1_000.0 }
    }
}

/// Totals for one tool, agent, project or hour. Only the member for `groupBy` is present.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Cost)]
struct CostView {
    /// The tool. `unknown` for names that are not tools.
    #[schema(required)]
    verb: Option<String>,
    /// The registered agent. `null` for calls without one.
    #[schema(required)]
    agent_id: Option<String>,
    /// The project. `null` for calls without one.
    #[schema(required)]
    project_id: Option<String>,
    /// Start of the hour.
    #[schema(required)]
    hour: Option<Time>,
    /// The number of calls, whatever their outcome.
    calls: i64,
    /// Calls that did not complete: failed, refused or cancelled.
    failed: i64,
    /// Total duration.
    duration_ms: f64,
}

impl CostView {
    fn of(group: CostGroup, cost: Cost) -> Self {
        let SumView { calls, failed, duration_ms } = (&cost).into();
        let name = |asked: CostGroup| Some(&cost.group).filter(|name| group == asked && !name.is_empty()).cloned();
        let hour = name(CostGroup::Hour).and_then(|ms| ms.parse().ok());
        Self {
            verb: name(CostGroup::Verb),
            agent_id: name(CostGroup::Agent),
            project_id: name(CostGroup::Project),
            hour: hour.map(|ms| Time(Timestamp::from_ms(ms))),
            calls,
            failed,
            duration_ms,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct CostsAnswer {
    /// Largest first; hours newest first. At most 1000.
    costs: Vec<CostView>,
    total: SumView,
}

/// Query parameters of the costs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CostsQuery {
    since: Option<Time>,
    until: Option<Time>,
    group_by: Option<CostBy>,
}

impl IntoParams for CostsQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            query("since", "Starts with the hour that contains this time.", Time::schema()),
            query("until", "Only hours that start before this time.", Time::schema()),
            query("groupBy", "Group totals by this. Default: by tool.", CostBy::schema()),
        ]
    }
}

/// A finished call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Task)]
struct TaskView {
    /// The sequence number in the audit trail.
    sequence: i64,
    #[schema(required)]
    request_id: Option<String>,
    verb: String,
    #[schema(required)]
    session_id: Option<String>,
    #[schema(required)]
    agent_id: Option<String>,
    #[schema(required)]
    project_id: Option<String>,
    state: TaskState,
    started_at: Time,
    ended_at: Time,
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        Self {
            sequence: task.sequence,
            request_id: task.request_id,
            verb: task.verb,
            session_id: task.session_id,
            agent_id: task.agent_id,
            project_id: task.project_id,
            state: task.state.into(),
            started_at: task.started_at.into(),
            ended_at: task.ended_at.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TasksAnswer {
    tasks: Vec<TaskView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Query parameters of the calls.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TasksQuery {
    state: Option<TaskState>,
    verb: Option<Label>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for TasksQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query("state", "Only calls with this outcome.", TaskState::schema()),
            query("verb", "Only calls of this tool.", Label::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// Sums up calls: how many, how many did not complete, and how long they took. Includes every call answered before the request.
#[utoipa::path(
    get, path = "/api/org/{orgId}/costs", operation_id = "listCosts", tag = "figures", params(OrgPath, CostsQuery),
    responses((status = 200, description = "The totals.", body = CostsAnswer), Admitted<MetricsRead>)
)]
async fn costs(
    State(state): State<Shared>,
    access: Admitted<MetricsRead>,
    Query(asked): Query<CostsQuery>,
) -> Result<Json<CostsAnswer>> {
    let group = asked.group_by.map_or(CostGroup::Verb, |by| by.0);
    let filter = CostFilter { since: asked.since.map(|time| time.0), until: asked.until.map(|time| time.0) };
    let (costs, total) = state.guard.figures(&access)?.costs(group, &filter).await?;
    let costs = costs.into_iter().map(|cost| CostView::of(group, cost)).collect();
    Ok(Json(CostsAnswer { costs, total: (&total).into() }))
}

/// Lists the calls of the last seven days. Older calls are in the audit trail.
#[utoipa::path(
    get, path = "/api/org/{orgId}/tasks", operation_id = "listTasks", tag = "figures", params(OrgPath, TasksQuery),
    responses((status = 200, description = "A page of calls.", body = TasksAnswer), Admitted<OrgRead>)
)]
async fn tasks(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    Query(asked): Query<TasksQuery>,
) -> Result<Json<TasksAnswer>> {
    let filter = TaskFilter { state: asked.state.map(|state| state.0), verb: asked.verb.map(|verb| verb.0) };
    let page = state.guard.figures(&access)?.tasks(&filter, &request(asked.limit, asked.cursor)).await?;
    let (tasks, next_cursor) = shown(page);
    Ok(Json(TasksAnswer { tasks, next_cursor }))
}
