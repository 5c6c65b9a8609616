//! API keys of an org.

use axum::Json;
use base::ScopeSet;
use guard::{Descendants, Key, MintedKey};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, query, shown};
use super::path::{Id, OrgPath, no_such};
use super::rights::{KeysWrite, OrgRead};
use super::text::Name;
use super::wire::{Agents, KeyId, OrgId, Projects, Scopes, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, revoke))
}

/// Defines a view of a key: the members that every view has, and one more. A nested, flattened struct would give the same JSON,
/// but another schema in the API description.
macro_rules! key_view {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident with $(#[$more_meta:meta])* $more:ident: $type:ty) => {
        #[derive(Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        $(#[$meta])*
        $visibility struct $name {
            id: KeyId,
            org_id: OrgId,
            name: String,
            /// The first characters of the secret, for recognition.
            key_prefix: String,
            scopes: Scopes,
            project_ids: Projects,
            /// The registered agents that the key may open sessions for.
            agents: Agents,
            /// The creator: the id of a key or user, or `instance-admin`. `null` for some keys created by older releases.
            #[schema(required)]
            created_by: Option<String>,
            created_at: Time,
            #[schema(required)]
            expires_at: Option<Time>,
            $(#[$more_meta])*
            $more: $type,
        }

        impl $name {
            fn new(key: Key, $more: $type) -> Self {
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
                    $more,
                }
            }
        }
    };
}

key_view! {
    /// A key, without its secret.
    #[schema(as = Key)]
    pub(super) struct KeyView with
    #[schema(required)]
    revoked_at: Option<Time>
}

key_view! {
    /// A new key with its secret.
    #[schema(as = NewKey)]
    pub(super) struct NewKeyView with
    /// The whole secret. Shown only once.
    full_key: String
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        let revoked_at = key.revoked_at.map(Time);
        Self::new(key, revoked_at)
    }
}

impl From<MintedKey> for NewKeyView {
    fn from(minted: MintedKey) -> Self {
        Self::new(minted.key, minted.full_key)
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
    /// The projects that the key covers.
    projects: Projects,
    /// The key's scopes, at most the caller's. Default: `["*"]`.
    scopes: Option<Scopes>,
    /// The registered agents that the key may open sessions for, at most the caller's. Default: none, or with the scope `*` the same
    /// agents as the caller.
    agents: Option<Agents>,
    /// When the key expires. Must be in the future.
    expires_at: Option<Time>,
}

/// Creates a key. It is shown only once.
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

/// Lists keys, including revoked ones. A key limited to some projects sees only keys that cover no more than those. The keys of
/// sessions are not listed.
#[utoipa::path(
    get, path = "/api/org/{orgId}/keys", operation_id = "listKeys", tag = "keys", params(OrgPath, Page),
    responses((status = 200, description = "A page of keys.", body = KeysAnswer), Admitted<OrgRead>)
)]
async fn list(access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<KeysAnswer>> {
    let page = access.keys().list(&page.request()).await?;
    let (keys, next_cursor) = shown(page);
    Ok(Json(KeysAnswer { keys, next_cursor }))
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

/// Whether to revoke the keys that a key or user created as well.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cascade {
    cascade: Option<bool>,
}

impl Cascade {
    /// Whether to revoke them.
    pub(super) fn is_on(&self) -> bool {
        self.cascade.unwrap_or(false)
    }
}

impl IntoParams for Cascade {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let meaning = "Also revoke the keys that this key or user created, directly or through other keys.";
        vec![query("cascade", meaning, bool::schema())]
    }
}

/// The number of revoked descendants, and those that are still valid.
pub(super) fn descendants_view(descendants: Descendants) -> (u64, Vec<KeyView>) {
    (descendants.revoked, descendants.valid.into_iter().map(KeyView::from).collect())
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RevokedAnswer {
    /// The revoked key.
    key: KeyView,
    /// The number of keys it created, directly or through others, that were revoked too. 0 without `cascade`.
    minted_revoked: u64,
    /// Keys it created, directly or through others, that are still valid: at most 200, oldest first. Empty with `cascade`.
    minted: Vec<KeyView>,
}

/// Revokes a key and ends the sessions it opened, immediately. The keys that it created stay valid and are listed, unless `cascade`
/// revokes them too. With `cascade` the key may already be revoked.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/keys/{keyId}", operation_id = "revokeKey", tag = "keys",
    params(OrgPath, Id<base::KeyId>, Cascade),
    responses((status = 200, description = "Revoked.", body = RevokedAnswer), Admitted<KeysWrite>)
)]
async fn revoke(access: Admitted<KeysWrite>, Id(id): Id<base::KeyId>, Query(how): Query<Cascade>) -> Result<Json<RevokedAnswer>> {
    let revocation = access.keys().revoke(&id, how.is_on()).await?.ok_or_else(no_such::<base::KeyId>)?;
    let (minted_revoked, minted) = descendants_view(revocation.descendants);
    Ok(Json(RevokedAnswer { key: revocation.key.into(), minted_revoked, minted }))
}
