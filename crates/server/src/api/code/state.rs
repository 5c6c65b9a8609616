//! How far a project's index is. The answers have only counts, so reading them is not a read of the code.

use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::CoverageView;
use crate::api::error::Result;
use crate::api::extract::{Nothing, Query};
use crate::api::in_project::InProject;
use crate::api::rights::CodeCounts;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(show, reconcile))
}

/// Shows how much of a project's code is indexed.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/index", operation_id = "showIndex", tag = "code",
    params(InProject<CodeCounts>),
    responses((status = 200, description = "The counts.", body = CoverageView), InProject<CodeCounts>)
)]
async fn show(State(state): State<Shared>, access: InProject<CodeCounts>, _: Query<Nothing>) -> Result<Json<CoverageView>> {
    Ok(Json(access.code(&state).await?.coverage().into()))
}

/// Asks the index to compare all files with the disk. It answers at once; `GET` shows the progress.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/code/index", operation_id = "reconcileIndex", tag = "code",
    params(InProject<CodeCounts>),
    responses((status = 200, description = "The counts.", body = CoverageView), InProject<CodeCounts>)
)]
async fn reconcile(
    State(state): State<Shared>,
    access: InProject<CodeCounts>,
    _: Query<Nothing>,
) -> Result<Json<CoverageView>> {
    let code = access.code(&state).await?;
    code.index().ask_to_reconcile();
    Ok(Json(code.coverage().into()))
}
