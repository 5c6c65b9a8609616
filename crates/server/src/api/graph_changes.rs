//! Changes to a project's knowledge graph: merging and splitting entities, and rolling back an agent or session.

use axum::Json;
use axum::extract::State;
use base::EventKind;
use guard::Event;
use knowledge::{Merged, RetractFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::Result;
use super::extract::{Nothing, Query};
use super::graph_views::EntityView;
use super::in_project::{Author, InProject, RollBack};
use super::path::Id;
use super::rights::GraphWrite;
use super::wire::EntityId;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(merge)).routes(routes!(split)).routes(routes!(roll_back))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MergedAnswer {
    /// The merged entity.
    from: EntityView,
    /// The entity it was merged into.
    into: EntityView,
    /// Whether this was a dry run that changed nothing.
    dry_run: bool,
}

#[derive(Serialize, ToSchema)]
struct SplitAnswer {
    /// The entity that is separate again.
    from: EntityView,
    /// The entity it had been merged into.
    into: EntityView,
}

#[derive(Serialize, ToSchema)]
struct RetractedAnswer {
    /// The number of retracted triplets.
    retracted: u64,
    /// Older triplets that are current again because the triplets that superseded them were retracted.
    restored: u64,
    /// Entity merges that were undone.
    split: u64,
}

/// A merge of one entity into another.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Merge {
    /// The entity to merge into. If that one was merged itself, its own target is used.
    into: EntityId,
    /// Report the merge without making it.
    dry_run: Option<bool>,
}

/// Merges one entity into another. Facts about either are facts about both, until they are split.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}/merge", operation_id = "mergeEntity",
    tag = "graph", params(InProject<GraphWrite>, Id<base::EntityId>), request_body = Merge,
    responses((status = 200, description = "The merge.", body = MergedAnswer), InProject<GraphWrite>, Body<Merge>, Conflict)
)]
async fn merge(
    access: InProject<GraphWrite>,
    Id(id): Id<base::EntityId>,
    _: Query<Nothing>,
    Body(asked): Body<Merge>,
) -> Result<Json<MergedAnswer>> {
    let (into, dry_run) = (asked.into.0, asked.dry_run.unwrap_or(false));
    let Merged { from, into } = if dry_run {
        access.reads("graph");
        access.graph().try_merge(&id, &into).await?
    } else {
        let event = Event::new(EventKind::GraphMerged, "entity", id)
            .with("projectId", access.project().as_str())
            .with("into", into.as_str());
        access.changing_graph(event).merge(&id, &into, &access.who().label()).await?
    };
    let from = EntityView::new(from, (!dry_run).then_some(into.id));
    Ok(Json(MergedAnswer { from, into: EntityView::new(into, None), dry_run }))
}

/// Undoes a merge. The entity is separate again and keeps the facts that were stated about it.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/entities/{entityId}/split", operation_id = "splitEntity",
    tag = "graph", params(InProject<GraphWrite>, Id<base::EntityId>),
    responses((status = 200, description = "The split.", body = SplitAnswer), InProject<GraphWrite>, Conflict)
)]
async fn split(access: InProject<GraphWrite>, Id(id): Id<base::EntityId>, _: Query<Nothing>) -> Result<Json<SplitAnswer>> {
    let event = Event::new(EventKind::GraphSplit, "entity", id).with("projectId", access.project().as_str());
    let Merged { from, into } = access.changing_graph(event).split(&id, &access.who().label()).await?;
    Ok(Json(SplitAnswer { from: EntityView::new(from, None), into: EntityView::new(into, None) }))
}

/// Retracts triplets that only this agent or session stated, and undoes its merges. Retracts at most 500 triplets per call; repeat
/// until none is left.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/graph/rollback", operation_id = "rollBackGraph", tag = "graph",
    params(InProject<GraphWrite>), request_body = RollBack,
    responses(
        (status = 200, description = "The result.", body = RetractedAnswer), InProject<GraphWrite>, Body<RollBack>
    )
)]
async fn roll_back(
    State(state): State<Shared>,
    access: InProject<GraphWrite>,
    _: Query<Nothing>,
    Body(asked): Body<RollBack>,
) -> Result<Json<RetractedAnswer>> {
    let author = Author::from(asked);
    let graph = access.changing_graph(access.rolled_back(EventKind::GraphRolledBack, &author));
    let Author { agent, session, since } = author;
    let filter = RetractFilter { agent, session, since };
    let gone = graph.retract(&filter, &access.who().label()).await?;
    if gone.restored > 0 {
        // A triplet that is current again is a new row and has to be embedded.
        state.services.indexes.pending.tell(*access.org(), *access.project());
    }
    Ok(Json(RetractedAnswer { retracted: gone.triplets, restored: gone.restored, split: gone.split }))
}
