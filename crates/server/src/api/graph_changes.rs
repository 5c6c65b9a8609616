//! What people change in a project's knowledge graph: which entities are one, and what of one agent or session stands.

use axum::Json;
use axum::extract::State;
use guard::{Access, Event};
use knowledge::{KnowledgeGraph, Merged, RetractFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::graph::{check, graph_of};
use super::graph_views::EntityView;
use super::memory::{OfAgent, OfSession};
use super::path::{Id, OrgPath};
use super::rights::GraphWrite;
use super::wire::EntityId;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(merge)).routes(routes!(split)).routes(routes!(roll_back))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MergedAnswer {
    /// The entity that is another.
    from: EntityView,
    /// The one it is.
    into: EntityView,
    /// Whether nothing was changed.
    dry_run: bool,
}

#[derive(Serialize, ToSchema)]
struct SplitAnswer {
    /// The entity that is itself again.
    from: EntityView,
    /// The one it had been merged into.
    into: EntityView,
}

#[derive(Serialize, ToSchema)]
struct RetractedAnswer {
    /// Triplets that do not stand any more.
    retracted: u64,
    /// Older ones that stand again, because what had taken their place is gone.
    restored: u64,
    /// Merges of entities that were undone.
    split: u64,
}

/// What an entity turned out to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Merge {
    /// The entity that it is; where that one was merged itself, what it was merged into.
    into: EntityId,
    /// Only says what would be merged.
    dry_run: Option<bool>,
}

/// Whose triplets are retracted.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "say whose triplets to roll back: `agentId`, `sessionId`, or both")]
enum GraphRollBack {
    Agent(OfAgent),
    Session(OfSession),
}

/// The graph of a project that the caller may see, to be changed: the first change carries `event` into the audit trail.
async fn changing_graph_of(access: &Access, project: &base::ProjectId, event: Event) -> Result<KnowledgeGraph> {
    check(access, project).await?;
    Ok(KnowledgeGraph::new(access.rows_for(event), *project, access.clock().clone()))
}

/// Says that an entity is another one: facts about either are facts about both, until it is split again.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}/merge", operation_id = "mergeEntity",
    tag = "graph", params(OrgPath, Id<base::ProjectId>, Id<base::EntityId>), request_body = Merge,
    responses((status = 200, description = "They are one.", body = MergedAnswer), Admitted<GraphWrite>, Body<Merge>)
)]
async fn merge(
    access: Admitted<GraphWrite>,
    Id(project): Id<base::ProjectId>,
    Id(id): Id<base::EntityId>,
    _: Query<Nothing>,
    Body(asked): Body<Merge>,
) -> Result<Json<MergedAnswer>> {
    let (into, dry_run) = (asked.into.0, asked.dry_run.unwrap_or(false));
    let graph = if dry_run {
        access.reads("graph");
        graph_of(&access, &project).await?
    } else {
        let event = Event::new("graph.merged", "entity", id).with("projectId", project.as_str()).with("into", into.as_str());
        changing_graph_of(&access, &project, event).await?
    };
    let Merged { from, into } = graph.merge(&id, &into, dry_run, &access.who().label()).await?;
    let from = EntityView::new(from, (!dry_run).then_some(into.id));
    Ok(Json(MergedAnswer { from, into: EntityView::new(into, None), dry_run }))
}

/// Undoes a merge: the entity is itself again, with the facts that were stated of it.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}/split", operation_id = "splitEntity",
    tag = "graph", params(OrgPath, Id<base::ProjectId>, Id<base::EntityId>),
    responses((status = 200, description = "They are two.", body = SplitAnswer), Admitted<GraphWrite>)
)]
async fn split(
    access: Admitted<GraphWrite>,
    Id(project): Id<base::ProjectId>,
    Id(id): Id<base::EntityId>,
    _: Query<Nothing>,
) -> Result<Json<SplitAnswer>> {
    let event = Event::new("graph.split", "entity", id).with("projectId", project.as_str());
    let Merged { from, into } = changing_graph_of(&access, &project, event).await?.split(&id).await?;
    Ok(Json(SplitAnswer { from: EntityView::new(from, None), into: EntityView::new(into, None) }))
}

/// Retracts what an agent or a session stated and nobody else did, and undoes its merges, at most 500 triplets at once: call it until none is left.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/rollback", operation_id = "rollBackGraph", tag = "graph",
    params(OrgPath, Id<base::ProjectId>), request_body = GraphRollBack,
    responses(
        (status = 200, description = "What was retracted.", body = RetractedAnswer), Admitted<GraphWrite>, Body<GraphRollBack>
    )
)]
async fn roll_back(
    State(state): State<Shared>,
    access: Admitted<GraphWrite>,
    Id(project): Id<base::ProjectId>,
    _: Query<Nothing>,
    Body(asked): Body<GraphRollBack>,
) -> Result<Json<RetractedAnswer>> {
    let (agent, session, since) = match asked {
        GraphRollBack::Agent(of) => (Some(of.agent_id.0), of.session_id.map(|session| session.0), of.since),
        GraphRollBack::Session(of) => (None, Some(of.session_id.0), of.since),
    };
    let event = Event::new("graph.rolled_back", "project", project)
        .with_some("agentId", agent.as_deref())
        .with_some("sessionId", session.as_deref());
    let graph = changing_graph_of(&access, &project, event).await?;
    let filter = RetractFilter { agent, session, since: since.map(|time| time.0) };
    let gone = graph.retract(&filter, &access.who().label()).await?;
    if gone.restored > 0 {
        // What stands again is a new row, whose meaning is not known yet.
        state.services.indexes.pending.tell(*access.org(), project);
    }
    Ok(Json(RetractedAnswer { retracted: gone.triplets, restored: gone.restored, split: gone.split }))
}
