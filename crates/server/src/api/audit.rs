//! The audit trail of an org: listing, export, verification, checkpoint and signing keys.

use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use guard::{Access, AuditEntry, AuditFilter};
use http::header;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit_page::{AuditPage, NewerPage};
use super::body::{Body, OptionalBody};
use super::document::Conflict;
use super::error::{ApiError, Result};
use super::extract::{Admitted, Query};
use super::page::{OrgQuery, next_cursor};
use super::path::{KeyName, Named};
use super::rights::{AuditRead, AuditWrite, Owner};
use super::text::Description;
use super::wire::{OrgId, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(newer))
        .routes(routes!(export))
        .routes(routes!(verify))
        .routes(routes!(checkpoint))
        .routes(routes!(keys))
        .routes(routes!(rotate))
        .routes(routes!(revoke))
        .routes(routes!(prune))
}

/// An audit entry, in the format of the export. See `docs/audit-format.md`.
#[derive(ToSchema)]
#[schema(as = AuditEntry, rename_all = "camelCase")]
#[expect(dead_code, reason = "only describes what the audit crate writes")]
struct EntryView {
    id: String,
    workspace_id: OrgId,
    /// Counts from 1 without gaps.
    sequence_number: u64,
    occurred_at: Time,
    event_type: String,
    actor_type: String,
    #[schema(required)]
    actor_id: Option<String>,
    #[schema(required)]
    entity_type: Option<String>,
    #[schema(required)]
    entity_id: Option<String>,
    #[schema(required)]
    request_id: Option<String>,
    #[schema(value_type = Object)]
    payload: (),
    prev_hash: String,
    entry_hash: String,
    signature: String,
    kid: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AuditAnswer {
    #[schema(value_type = Vec<EntryView>)]
    events: Vec<AuditEntry>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct NewerAnswer {
    #[schema(value_type = Vec<EntryView>)]
    events: Vec<AuditEntry>,
}

/// The result of a verification.
#[derive(ToSchema)]
#[schema(as = AuditReport, rename_all = "camelCase")]
#[expect(dead_code, reason = "only describes what the audit crate writes")]
struct ReportView {
    valid: bool,
    event_count: u64,
    #[schema(required)]
    first_sequence: Option<u64>,
    #[schema(required)]
    last_sequence: Option<u64>,
    /// The sequence number of the first bad entry.
    #[schema(required)]
    broken_at: Option<u64>,
    /// What is wrong with that entry.
    #[schema(required, value_type = Option<Object>)]
    broken: Option<()>,
}

/// A signed statement of the trail's length and head.
#[derive(ToSchema)]
#[schema(as = AuditCheckpoint, rename_all = "camelCase")]
#[expect(dead_code, reason = "only describes what the audit crate writes")]
struct CheckpointView {
    workspace_id: OrgId,
    size: u64,
    head_hash: String,
    at: Time,
    kid: String,
    signature: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditKey)]
struct KeyView {
    kid: String,
    created_at: Time,
    #[schema(required)]
    retired_at: Option<Time>,
    #[schema(required)]
    revoked_at: Option<Time>,
    #[schema(required)]
    revoked_reason: Option<String>,
}

impl From<guard::AuditKey> for KeyView {
    fn from(key: guard::AuditKey) -> Self {
        Self {
            kid: key.kid,
            created_at: key.created_at.into(),
            retired_at: key.retired_at.map(Time),
            revoked_at: key.revoked_at.map(Time),
            revoked_reason: key.revoked_reason,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct AuditKeysAnswer {
    /// All keys, oldest first. The last one is active.
    keys: Vec<KeyView>,
}

#[derive(Serialize, ToSchema)]
struct AuditKeyAnswer {
    key: KeyView,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RevokeRequest {
    /// The reason for the revocation. It is published with the key.
    reason: Option<Description>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PruneRequest {
    /// Removes entries older than this time. The operator sets a minimum age for removal, 30 days by default.
    before: Time,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PruneAnswer {
    /// The number of removed entries.
    removed: u64,
    /// The sequence number of the first remaining entry.
    #[schema(required)]
    first_sequence: Option<u64>,
    /// The subscriber that has not read all of these entries yet: a webhook id, or `figures`. The rest is removed after it has.
    #[schema(required)]
    held_by: Option<String>,
}

/// Lists audit entries, newest first. A short page is not always the last one; check `nextCursor`.
#[utoipa::path(
    get, path = "/api/audit", operation_id = "listAudit", tag = "audit", params(AuditPage),
    responses((status = 200, description = "A page of entries.", body = AuditAnswer), Admitted<AuditRead>)
)]
async fn list(
    State(state): State<Shared>,
    access: Admitted<AuditRead>,
    Query(page): Query<AuditPage>,
) -> Result<Json<AuditAnswer>> {
    let (filter, request): (AuditFilter, _) = page.request();
    let page = state.guard.audit(&access)?.list(&filter, &request).await?;
    let next_cursor = next_cursor(page.next.as_ref());
    Ok(Json(AuditAnswer { events: page.items, next_cursor }))
}

/// Lists all entries after a given one, oldest first. Use it to follow the trail without gaps.
#[utoipa::path(
    get, path = "/api/audit/newer", operation_id = "followAudit", tag = "audit", params(NewerPage),
    responses((status = 200, description = "The next entries. Empty if there are none yet.", body = NewerAnswer), Admitted<AuditRead>)
)]
async fn newer(
    State(state): State<Shared>,
    access: Admitted<AuditRead>,
    Query(page): Query<NewerPage>,
) -> Result<Json<NewerAnswer>> {
    let (number, rows) = page.request();
    Ok(Json(NewerAnswer { events: state.guard.audit(&access)?.after(number, rows).await? }))
}

/// Exports the whole trail, oldest entry first, one per line. The last line records the export itself.
#[utoipa::path(
    get, path = "/api/audit/export", operation_id = "exportAudit", tag = "audit", params(OrgQuery),
    responses(
        (status = 200, description = "JSON lines.", body = String, content_type = "application/x-ndjson"),
        Admitted<AuditRead>
    )
)]
async fn export(State(state): State<Shared>, access: Admitted<AuditRead>, _: Query<OrgQuery>) -> Result<Response> {
    let access: Access = access.clone();
    let extent = state.guard.audit(&access)?.begin_export().await?;
    let lines = stream::try_unfold((state, access, extent), move |(state, access, mut extent)| async move {
        let entries = state.guard.audit(&access)?.next(&mut extent).await?;
        if entries.is_empty() {
            return Ok::<_, base::Error>(None);
        }
        let mut lines = Vec::with_capacity(entries.len() * 1_024);
        for entry in &entries {
            entry.write_line(&mut lines);
        }
        Ok(Some((Bytes::from(lines), (state, access, extent))))
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((headers, HttpBody::from_stream(lines)).into_response())
}

/// Verifies the stored trail.
#[utoipa::path(
    post, path = "/api/audit/verify", operation_id = "verifyAudit", tag = "audit", params(OrgQuery),
    responses((status = 200, description = "The result.", body = ReportView), Admitted<AuditRead>)
)]
async fn verify(State(state): State<Shared>, access: Admitted<AuditRead>, _: Query<OrgQuery>) -> Result<Response> {
    let report = state.guard.audit(&access)?.verify(&state.guard).await?;
    Ok(Json(report).into_response())
}

/// Returns a signed statement of the trail's length and head. Store it elsewhere: it reveals whether the end of the trail was removed.
#[utoipa::path(
    get, path = "/api/audit/checkpoint", operation_id = "auditCheckpoint", tag = "audit", params(OrgQuery),
    responses((status = 200, description = "The checkpoint.", body = CheckpointView), Admitted<AuditRead>)
)]
async fn checkpoint(State(state): State<Shared>, access: Admitted<AuditRead>, _: Query<OrgQuery>) -> Result<Response> {
    let checkpoint = state.guard.audit(&access)?.checkpoint().await?;
    Ok(Json(checkpoint).into_response())
}

/// Lists the signing keys. Their public keys are at `/.well-known/audit-keys/{workspaceId}`.
#[utoipa::path(
    get, path = "/api/audit/keys", operation_id = "listAuditKeys", tag = "audit", params(OrgQuery),
    responses((status = 200, description = "All keys.", body = AuditKeysAnswer), Admitted<AuditRead>)
)]
async fn keys(State(state): State<Shared>, access: Admitted<AuditRead>, _: Query<OrgQuery>) -> Result<Json<AuditKeysAnswer>> {
    let keys = state.guard.audit(&access)?.keys().await?;
    Ok(Json(AuditKeysAnswer { keys: keys.into_iter().map(KeyView::from).collect() }))
}

/// Rotates the signing key. The old key signs the new one.
#[utoipa::path(
    post, path = "/api/audit/keys/rotate", operation_id = "rotateAuditKey", tag = "audit", params(OrgQuery),
    responses((status = 200, description = "The new key.", body = AuditKeyAnswer), Admitted<AuditWrite>)
)]
async fn rotate(State(state): State<Shared>, access: Admitted<AuditWrite>, _: Query<OrgQuery>) -> Result<Json<AuditKeyAnswer>> {
    let audit = state.guard.audit(&access)?;
    let kid = audit.rotate_key().await?;
    let key = audit.keys().await?.into_iter().find(|key| key.kid == kid);
    key.map(|key| Json(AuditKeyAnswer { key: key.into() })).ok_or_else(no_such_key)
}

/// Revokes a signing key. Anything it signs after that is invalid. The active key is rotated first.
#[utoipa::path(
    post, path = "/api/audit/keys/{kid}/revoke", operation_id = "revokeAuditKey", tag = "audit",
    params(Named<KeyName>, OrgQuery), request_body = Option<RevokeRequest>,
    responses(
        (status = 200, description = "Revoked.", body = AuditKeyAnswer),
        Admitted<AuditWrite>, OptionalBody<RevokeRequest>, Conflict
    )
)]
async fn revoke(
    State(state): State<Shared>,
    access: Admitted<AuditWrite>,
    kid: Named<KeyName>,
    _: Query<OrgQuery>,
    OptionalBody(why): OptionalBody<RevokeRequest>,
) -> Result<Json<AuditKeyAnswer>> {
    let reason = why.reason.map(|reason| reason.0);
    let key = state.guard.audit(&access)?.revoke_key(kid.text(), reason.as_deref()).await?;
    key.map(|key| Json(AuditKeyAnswer { key: key.into() })).ok_or_else(no_such_key)
}

fn no_such_key() -> ApiError {
    ApiError::not_found("signing key")
}

/// Permanently removes the oldest entries. The removal is recorded, and the rest still verifies. Entries that a webhook has not
/// delivered yet are kept. Needs an owner's login or the instance admin's key.
#[utoipa::path(
    post, path = "/api/audit/prune", operation_id = "pruneAudit", tag = "audit", params(OrgQuery), request_body = PruneRequest,
    responses((status = 200, description = "Removed.", body = PruneAnswer), Admitted<Owner>, Body<PruneRequest>)
)]
async fn prune(
    State(state): State<Shared>,
    access: Admitted<Owner>,
    _: Query<OrgQuery>,
    Body(which): Body<PruneRequest>,
) -> Result<Json<PruneAnswer>> {
    let pruned = state.guard.audit(&access)?.prune(which.before.0, state.audit_keep_days_min).await?;
    Ok(Json(PruneAnswer { removed: pruned.removed, first_sequence: pruned.first, held_by: pruned.held_by }))
}
