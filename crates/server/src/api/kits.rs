//! Kits, in full. Agents draft them through the tools; what people decide about them is decided here.

use axum::Json;
use guard::Access;
use http::StatusCode;
use kits::NewKitVersion;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::bricks::{changing, unknown, workshop};
use super::document::Conflict;
use super::error::{ApiError, BlockedBody, Result};
use super::extract::{Admitted, Query};
use super::kit_views::{BrickList, KitAnswer, KitVersionAnswer, KitView, KitsAnswer};
use super::page::{OrgQuery, StatusPage, next_cursor};
use super::path::{Id, no_such};
use super::rights::{HumanDecision, KitsRead};
use super::text::Description;
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
    let kits = page.items.into_iter().map(Into::into).collect();
    Ok(Json(KitsAnswer { kits, next_cursor: next_cursor(page.next.as_ref()) }))
}

/// Shows one kit with its versions, what each pins, and whether it can be published.
#[utoipa::path(
    get, path = "/api/kits/{kitId}", operation_id = "getKit", tag = "kits", params(Id<base::KitId>, OrgQuery),
    responses((status = 200, description = "The kit.", body = KitAnswer), Admitted<KitsRead>)
)]
async fn show(access: Admitted<KitsRead>, Id(id): Id<base::KitId>, _: Query<OrgQuery>) -> Result<Json<KitAnswer>> {
    Ok(Json(KitAnswer { kit: read(&access, &id).await? }))
}

/// Drafts a further version of a kit, pinning each brick's current version anew.
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
    let made = changing(&access, "kit.version_added", "kit", id)
        .new_kit_version(id.as_str(), version, &access.who().label())
        .await
        .map_err(unknown_brick)?;
    let answer = KitVersionAnswer { kit_version_id: made.into(), kit: read(&access, &id).await? };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Publishes a kit's newest version and the drafts it pins, all or nothing. What stands in the way is in `publish_readiness`
/// before, and in the refusal.
#[utoipa::path(
    post, path = "/api/kits/{kitId}/publish", operation_id = "publishKit", tag = "kits",
    security(("login" = [], "csrf" = [])), params(Id<base::KitId>, OrgQuery),
    responses(
        (status = 200, description = "Published.", body = KitVersionAnswer),
        (status = 409, description = "Something stands in the way, or the state does not allow it.", body = BlockedBody),
        Admitted<HumanDecision>
    )
)]
async fn publish(access: Admitted<HumanDecision>, Id(id): Id<base::KitId>, _: Query<OrgQuery>) -> Result<Json<KitVersionAnswer>> {
    let published = changing(&access, "kit.published", "kit", id).publish_kit(id.as_str()).await.map_err(blocked)?;
    Ok(Json(KitVersionAnswer { kit_version_id: published.kit_version_id.into(), kit: read(&access, &id).await? }))
}

/// Retires a kit for good. Doing it twice changes nothing more.
#[utoipa::path(
    post, path = "/api/kits/{kitId}/deprecate", operation_id = "deprecateKit", tag = "kits",
    security(("login" = [], "csrf" = [])), params(Id<base::KitId>, OrgQuery),
    responses((status = 200, description = "Deprecated.", body = KitAnswer), Admitted<HumanDecision>)
)]
async fn deprecate(access: Admitted<HumanDecision>, Id(id): Id<base::KitId>, _: Query<OrgQuery>) -> Result<Json<KitAnswer>> {
    changing(&access, "kit.deprecated", "kit", id).deprecate_kit(id.as_str()).await.map_err(unknown)?;
    Ok(Json(KitAnswer { kit: read(&access, &id).await? }))
}

/// The body was read strictly, so all that can still be wrong with its bricks is that one does not exist.
fn unknown_brick(error: base::Error) -> ApiError {
    match error.kind() {
        base::Kind::InvalidParams => base::Error::new(base::Kind::NotFound, error.message().to_owned()).into(),
        _ => error.into(),
    }
}

/// A conflict, with what stands in the way.
fn blocked(error: base::Error) -> ApiError {
    if error.kind() != base::Kind::Conflict {
        return unknown(error);
    }
    let blockers = error.data().get("blockers").cloned().unwrap_or_else(|| Vec::<serde_json::Value>::new().into());
    ApiError::from(error).with_blockers(blockers)
}

async fn read(access: &Access, id: &base::KitId) -> Result<KitView> {
    let kit = workshop(access).kit(id.as_str()).await?.ok_or_else(no_such::<base::KitId>)?;
    Ok(kit.into())
}
