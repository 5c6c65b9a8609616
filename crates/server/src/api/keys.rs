//! API keys of an org.

use axum::Json;
use base::ScopeSet;
use guard::{Key, MintedKey};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, next_cursor, query};
use super::path::{Id, OrgPath, no_such};
use super::rights::{KeysWrite, OrgRead};
use super::text::Name;
use super::wire::{Agents, KeyId, OrgId, Projects, Scopes, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, revoke))
}

/// A key, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Key)]
struct KeyView {
    id: KeyId,
    org_id: OrgId,
    name: String,
    /// How the secret begins, to recognise it by.
    key_prefix: String,
    scopes: Scopes,
    project_ids: Projects,
    /// The registered agents that it may open sessions for.
    agents: Agents,
    /// Who made it: the id of a key or a person, or `instance-admin`. `null` where that is not known of a key that an older
    /// release made.
    #[schema(required)]
    created_by: Option<String>,
    created_at: Time,
    #[schema(required)]
    expires_at: Option<Time>,
    #[schema(required)]
    revoked_at: Option<Time>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        Self {
            id: key.id.into(),
            org_id: key.org.into(),
            name: key.name,
            key_prefix: key.prefix,
            scopes: Scopes(key.scopes),
            project_ids: Projects(key.cover),
            agents: Agents(key.agents),
            created_by: key.created_by,
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(Time),
            revoked_at: key.revoked_at.map(Time),
        }
    }
}

/// A key at the one moment its secret is known.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewKey)]
pub(super) struct NewKeyView {
    id: KeyId,
    org_id: OrgId,
    name: String,
    /// How the secret begins, to recognise it by.
    key_prefix: String,
    scopes: Scopes,
    project_ids: Projects,
    /// The registered agents that it may open sessions for.
    agents: Agents,
    /// Who made it: the id of a key or a person, or `instance-admin`. `null` where that is not known of a key that an older
    /// release made.
    #[schema(required)]
    created_by: Option<String>,
    created_at: Time,
    #[schema(required)]
    expires_at: Option<Time>,
    /// The whole secret. It is shown this once.
    full_key: String,
}

impl From<MintedKey> for NewKeyView {
    fn from(minted: MintedKey) -> Self {
        let key = minted.key;
        Self {
            id: key.id.into(),
            org_id: key.org.into(),
            name: key.name,
            key_prefix: key.prefix,
            scopes: Scopes(key.scopes),
            project_ids: Projects(key.cover),
            agents: Agents(key.agents),
            created_by: key.created_by,
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(Time),
            full_key: minted.full_key,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct NewKeyAnswer {
    key: NewKeyView,
}

#[derive(Serialize, ToSchema)]
struct KeyAnswer {
    key: KeyView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct KeysAnswer {
    keys: Vec<KeyView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct KeyRequest {
    name: Name,
    /// The projects it covers.
    projects: Projects,
    /// What it may do: `["*"]` when left out, and never more than the caller.
    scopes: Option<Scopes>,
    /// The registered agents that it may open sessions for, and never more than the caller's. Without it none, but for a key with
    /// the scope `*`: that gets the caller's, which are all of them unless the caller's key has fewer.
    agents: Option<Agents>,
    /// When it stops working; a time to come.
    expires_at: Option<Time>,
}

/// Mints a key. It is shown this once.
#[utoipa::path(
    post, path = "/api/org/{orgId}/keys", operation_id = "createKey", tag = "keys", params(OrgPath),
    request_body = KeyRequest,
    responses((status = 201, description = "Minted.", body = NewKeyAnswer), Admitted<KeysWrite>, Body<KeyRequest>)
)]
async fn create(
    access: Admitted<KeysWrite>,
    _: Query<Nothing>,
    Body(new): Body<KeyRequest>,
) -> Result<(StatusCode, Json<NewKeyAnswer>)> {
    let key = guard::NewKey {
        name: new.name.0,
        cover: new.projects.0,
        scopes: new.scopes.map_or(ScopeSet::EVERYTHING, |scopes| scopes.0),
        agents: new.agents.map(|agents| agents.0),
        expires_at: new.expires_at.map(|time| time.0),
    };
    let minted = access.keys().mint(key).await?;
    Ok((StatusCode::CREATED, Json(NewKeyAnswer { key: minted.into() })))
}

/// Lists keys, revoked ones too; a key for some projects is shown those that cover no more. Those of sessions live and die with their session and are not listed.
#[utoipa::path(
    get, path = "/api/org/{orgId}/keys", operation_id = "listKeys", tag = "keys", params(OrgPath, Page),
    responses((status = 200, description = "A page of keys.", body = KeysAnswer), Admitted<OrgRead>)
)]
async fn list(access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<KeysAnswer>> {
    let page = access.keys().list(&page.request()).await?;
    let keys = page.items.into_iter().map(KeyView::from).collect();
    Ok(Json(KeysAnswer { keys, next_cursor: next_cursor(page.next.as_ref()) }))
}

/// Shows one key, without its secret.
#[utoipa::path(
    get, path = "/api/org/{orgId}/keys/{keyId}", operation_id = "getKey", tag = "keys",
    params(OrgPath, Id<base::KeyId>),
    responses((status = 200, description = "The key.", body = KeyAnswer), Admitted<OrgRead>)
)]
async fn show(access: Admitted<OrgRead>, Id(id): Id<base::KeyId>, _: Query<Nothing>) -> Result<Json<KeyAnswer>> {
    let key = access.keys().get(&id).await?.ok_or_else(no_such::<base::KeyId>)?;
    Ok(Json(KeyAnswer { key: key.into() }))
}

/// Whether what a key minted is revoked with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cascade {
    cascade: Option<bool>,
}

impl IntoParams for Cascade {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let meaning = "Whether the keys that it minted are revoked too, and those that these minted, and so on.";
        vec![query("cascade", meaning, bool::schema())]
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RevokedAnswer {
    /// The key, as it is now.
    key: KeyView,
    /// How many keys that it minted, directly or through others, were revoked with it. None without `cascade`.
    minted_revoked: u64,
    /// Keys that it minted, directly or through others, and that live on; at most 200, the oldest first. Empty with `cascade`.
    minted: Vec<KeyView>,
}

/// Revokes a key, and with it the keys of the sessions that it opened; they are dead when this answers. The keys that it minted live on and
/// are listed, unless `cascade` revokes them too. A key that was revoked before can be named again with `cascade`.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/keys/{keyId}", operation_id = "revokeKey", tag = "keys",
    params(OrgPath, Id<base::KeyId>, Cascade),
    responses((status = 200, description = "Revoked.", body = RevokedAnswer), Admitted<KeysWrite>)
)]
async fn revoke(access: Admitted<KeysWrite>, Id(id): Id<base::KeyId>, Query(how): Query<Cascade>) -> Result<Json<RevokedAnswer>> {
    let revocation = access.keys().revoke(&id, how.cascade.unwrap_or(false)).await?.ok_or_else(no_such::<base::KeyId>)?;
    Ok(Json(RevokedAnswer {
        key: revocation.key.into(),
        minted_revoked: revocation.minted_revoked,
        minted: revocation.minted.into_iter().map(KeyView::from).collect(),
    }))
}
