//! Management of bricks. Agents draft bricks with tools; people review and publish them here.

use axum::Json;
use base::EventKind;
use guard::Access;
use http::StatusCode;
use kits::{Brick, BrickSummary, NewBrickVersion};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::Result;
use super::extract::{Admitted, Query};
use super::page::{OrgQuery, StatusPage, shown};
use super::path::{Id, no_such};
use super::rights::{BricksRead, HumanDecision};
use super::text::{Description, EvaluationPrompt};
use super::wire::{BrickId, BrickVersionId, Time};
use super::words::{BrickType, Status, VersionStatus};
use super::workshop::{changing, workshop};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(add_version))
        .routes(routes!(publish))
        .routes(routes!(deprecate))
}

/// A brick in a list.
#[derive(Serialize, ToSchema)]
#[schema(as = BrickSummary)]
struct SummaryView {
    brick_id: BrickId,
    brick_key: String,
    brick_name: String,
    status: Status,
    /// The newest published version, or the newest draft if none is published.
    current_version_id: BrickVersionId,
    created_at: Time,
    updated_at: Time,
}

impl From<BrickSummary> for SummaryView {
    fn from(brick: BrickSummary) -> Self {
        Self {
            brick_id: brick.brick_id.into(),
            brick_key: brick.brick_key,
            brick_name: brick.brick_name,
            status: brick.status.into(),
            current_version_id: brick.current_version_id.into(),
            created_at: brick.created_at.into(),
            updated_at: brick.updated_at.into(),
        }
    }
}

/// A brick in full.
#[derive(Serialize, ToSchema)]
#[schema(as = Brick)]
struct BrickView {
    #[serde(flatten)]
    summary: SummaryView,
    #[schema(required)]
    description: Option<String>,
    /// The type of answer that the brick's rule gives.
    r#type: BrickType,
    created_by: String,
    /// The newest versions, newest first.
    versions: Vec<VersionView>,
}

/// A version of a brick.
#[derive(Serialize, ToSchema)]
#[schema(as = BrickVersion)]
struct VersionView {
    brick_version_id: BrickVersionId,
    version: i64,
    status: VersionStatus,
    evaluation_prompt: String,
    created_by: String,
    created_at: Time,
    #[schema(required)]
    published_at: Option<Time>,
}

impl From<kits::BrickVersion> for VersionView {
    fn from(version: kits::BrickVersion) -> Self {
        Self {
            brick_version_id: version.brick_version_id.into(),
            version: version.version,
            status: version.status.into(),
            evaluation_prompt: version.evaluation_prompt,
            created_by: version.created_by,
            created_at: version.created_at.into(),
            published_at: version.published_at.map(Time),
        }
    }
}

impl From<Brick> for BrickView {
    fn from(brick: Brick) -> Self {
        Self {
            summary: brick.summary.into(),
            description: brick.description,
            r#type: brick.brick_type.into(),
            created_by: brick.created_by,
            versions: brick.versions.into_iter().map(VersionView::from).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct BrickAnswer {
    brick: BrickView,
}

/// A brick, and the version that the request created or published.
#[derive(Serialize, ToSchema)]
struct BrickVersionAnswer {
    brick_version_id: BrickVersionId,
    brick: BrickView,
}

#[derive(Serialize, ToSchema)]
struct BricksAnswer {
    bricks: Vec<SummaryView>,
    #[serde(rename = "nextCursor")]
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BrickVersionRequest {
    evaluation_prompt: EvaluationPrompt,
    /// The brick's new description, if it changes.
    description: Option<Description>,
}

/// Lists bricks.
#[utoipa::path(
    get, path = "/api/bricks", operation_id = "listBricks", tag = "bricks", params(StatusPage),
    responses((status = 200, description = "A page of bricks.", body = BricksAnswer), Admitted<BricksRead>)
)]
async fn list(access: Admitted<BricksRead>, Query(page): Query<StatusPage>) -> Result<Json<BricksAnswer>> {
    let (status, page) = page.request();
    let page = workshop(&access).bricks_page(status, &page).await?;
    let (bricks, next_cursor) = shown(page);
    Ok(Json(BricksAnswer { bricks, next_cursor }))
}

/// Shows one brick with its rule and versions.
#[utoipa::path(
    get, path = "/api/bricks/{brickId}", operation_id = "getBrick", tag = "bricks", params(Id<base::BrickId>, OrgQuery),
    responses((status = 200, description = "The brick.", body = BrickAnswer), Admitted<BricksRead>)
)]
async fn show(access: Admitted<BricksRead>, Id(id): Id<base::BrickId>, _: Query<OrgQuery>) -> Result<Json<BrickAnswer>> {
    Ok(Json(BrickAnswer { brick: read(&access, &id).await? }))
}

/// Drafts a new version of a brick.
#[utoipa::path(
    post, path = "/api/bricks/{brickId}/versions", operation_id = "addBrickVersion", tag = "bricks",
    security(("login" = [], "csrf" = [])), params(Id<base::BrickId>, OrgQuery), request_body = BrickVersionRequest,
    responses(
        (status = 201, description = "Drafted.", body = BrickVersionAnswer),
        Admitted<HumanDecision>, Body<BrickVersionRequest>, Conflict
    )
)]
async fn add_version(
    access: Admitted<HumanDecision>,
    Id(id): Id<base::BrickId>,
    _: Query<OrgQuery>,
    Body(version): Body<BrickVersionRequest>,
) -> Result<(StatusCode, Json<BrickVersionAnswer>)> {
    let version = NewBrickVersion {
        evaluation_prompt: version.evaluation_prompt.0,
        description: version.description.map(|description| description.0),
    };
    let made = changing(&access, EventKind::BrickVersionAdded, "brick", id)
        .new_brick_version(id.as_str(), version, &access.who().label())
        .await?;
    let answer = BrickVersionAnswer { brick_version_id: made.into(), brick: read(&access, &id).await? };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Publishes a brick's newest version.
#[utoipa::path(
    post, path = "/api/bricks/{brickId}/publish", operation_id = "publishBrick", tag = "bricks",
    security(("login" = [], "csrf" = [])), params(Id<base::BrickId>, OrgQuery),
    responses((status = 200, description = "Published.", body = BrickVersionAnswer), Admitted<HumanDecision>, Conflict)
)]
async fn publish(
    access: Admitted<HumanDecision>,
    Id(id): Id<base::BrickId>,
    _: Query<OrgQuery>,
) -> Result<Json<BrickVersionAnswer>> {
    let published = changing(&access, EventKind::BrickPublished, "brick", id).publish_brick(id.as_str()).await?;
    Ok(Json(BrickVersionAnswer { brick_version_id: published.into(), brick: read(&access, &id).await? }))
}

/// Deprecates a brick permanently. Repeating the call has no effect.
#[utoipa::path(
    post, path = "/api/bricks/{brickId}/deprecate", operation_id = "deprecateBrick", tag = "bricks",
    security(("login" = [], "csrf" = [])), params(Id<base::BrickId>, OrgQuery),
    responses((status = 200, description = "Deprecated.", body = BrickAnswer), Admitted<HumanDecision>)
)]
async fn deprecate(access: Admitted<HumanDecision>, Id(id): Id<base::BrickId>, _: Query<OrgQuery>) -> Result<Json<BrickAnswer>> {
    changing(&access, EventKind::BrickDeprecated, "brick", id).deprecate_brick(id.as_str()).await?;
    Ok(Json(BrickAnswer { brick: read(&access, &id).await? }))
}

async fn read(access: &Access, id: &base::BrickId) -> Result<BrickView> {
    let brick = workshop(access).brick(id.as_str()).await?.ok_or_else(no_such::<base::BrickId>)?;
    Ok(brick.into())
}
