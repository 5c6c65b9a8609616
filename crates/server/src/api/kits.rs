//! Management of kits. Agents draft kits with tools; people review and publish them here.

use axum::Json;
use base::EventKind;
use guard::Access;
use http::StatusCode;
use kits::NewKitVersion;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::{ApiError, BlockedBody, Result};
use super::extract::{Admitted, Query};
use super::kit_views::{BlockerView, BrickList, KitAnswer, KitVersionAnswer, KitView, KitsAnswer};
use super::page::{OrgQuery, StatusPage, shown};
use super::path::{Id, no_such};
use super::rights::{HumanDecision, KitsRead};
use super::text::Description;
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

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct KitVersionRequest {
    /// The bricks, in order. Each is pinned at its current version.
    brick_ids: BrickList,
    notes: Option<Description>,
}

/// Lists kits.
#[utoipa::path(
    get, path = "/api/kits", operation_id = "listKits", tag = "kits", params(StatusPage),
    responses((status = 200, description = "A page of kits.", body = KitsAnswer), Admitted<KitsRead>)
)]
async fn list(access: Admitted<KitsRead>, Query(page): Query<StatusPage>) -> Result<Json<KitsAnswer>> {
    let (status, page) = page.request();
    let page = workshop(&access).kits_page(status, &page).await?;
    let (kits, next_cursor) = shown(page);
    Ok(Json(KitsAnswer { kits, next_cursor }))
}

/// Shows one kit with its versions, their pinned bricks, and whether it can be published.
#[utoipa::path(
    get, path = "/api/kits/{kitId}", operation_id = "getKit", tag = "kits", params(Id<base::KitId>, OrgQuery),
    responses((status = 200, description = "The kit.", body = KitAnswer), Admitted<KitsRead>)
)]
async fn show(access: Admitted<KitsRead>, Id(id): Id<base::KitId>, _: Query<OrgQuery>) -> Result<Json<KitAnswer>> {
    Ok(Json(KitAnswer { kit: read(&access, &id).await? }))
}

/// Drafts a new version of a kit. Each brick is pinned at its current version.
#[utoipa::path(
    post, path = "/api/kits/{kitId}/versions", operation_id = "addKitVersion", tag = "kits",
    security(("login" = [], "csrf" = [])), params(Id<base::KitId>, OrgQuery), request_body = KitVersionRequest,
    responses(
        (status = 201, description = "Drafted.", body = KitVersionAnswer),
        Admitted<HumanDecision>, Body<KitVersionRequest>, Conflict
    )
)]
async fn add_version(
    access: Admitted<HumanDecision>,
    Id(id): Id<base::KitId>,
    _: Query<OrgQuery>,
    Body(version): Body<KitVersionRequest>,
) -> Result<(StatusCode, Json<KitVersionAnswer>)> {
    let version = NewKitVersion { brick_ids: version.brick_ids.0, notes: version.notes.map(|notes| notes.0) };
    let made = changing(&access, EventKind::KitVersionAdded, "kit", id)
        .new_kit_version(id.as_str(), version, &access.who().label())
        .await?;
    let answer = KitVersionAnswer { kit_version_id: made.into(), kit: read(&access, &id).await? };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Publishes a kit's newest version and the draft bricks it pins, all or nothing. If it cannot be published, the error lists the
/// reasons, as does `publish_readiness` of the kit.
#[utoipa::path(
    post, path = "/api/kits/{kitId}/publish", operation_id = "publishKit", tag = "kits",
    security(("login" = [], "csrf" = [])), params(Id<base::KitId>, OrgQuery),
    responses(
        (status = 200, description = "Published.", body = KitVersionAnswer),
        (status = 409, description = "The kit is not ready, or its state does not allow it.", body = BlockedBody),
        Admitted<HumanDecision>
    )
)]
async fn publish(access: Admitted<HumanDecision>, Id(id): Id<base::KitId>, _: Query<OrgQuery>) -> Result<Json<KitVersionAnswer>> {
    let published = changing(&access, EventKind::KitPublished, "kit", id).publish_kit(id.as_str()).await.map_err(blocked)?;
    Ok(Json(KitVersionAnswer { kit_version_id: published.kit_version_id.into(), kit: read(&access, &id).await? }))
}

/// Deprecates a kit permanently. Repeating the call has no effect.
#[utoipa::path(
    post, path = "/api/kits/{kitId}/deprecate", operation_id = "deprecateKit", tag = "kits",
    security(("login" = [], "csrf" = [])), params(Id<base::KitId>, OrgQuery),
    responses((status = 200, description = "Deprecated.", body = KitAnswer), Admitted<HumanDecision>)
)]
async fn deprecate(access: Admitted<HumanDecision>, Id(id): Id<base::KitId>, _: Query<OrgQuery>) -> Result<Json<KitAnswer>> {
    changing(&access, EventKind::KitDeprecated, "kit", id).deprecate_kit(id.as_str()).await?;
    Ok(Json(KitAnswer { kit: read(&access, &id).await? }))
}

/// A conflict, with the reasons why the kit cannot be published.
fn blocked(error: kits::Error) -> ApiError {
    if error.kind() != base::Kind::Conflict {
        return error.into();
    }
    let blockers = error.blockers().iter().cloned().map(BlockerView::from).collect();
    ApiError::from(error).with_blockers(blockers)
}

async fn read(access: &Access, id: &base::KitId) -> Result<KitView> {
    let kit = workshop(access).kit(id.as_str()).await?.ok_or_else(no_such::<base::KitId>)?;
    Ok(kit.into())
}
