//! `/.well-known/audit-keys/{workspaceId}`: the public keys that verify a workspace's audit trail. No credential is needed.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base::secret::hex;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::Fault;
use super::error::Result;
use super::path::{Named, WorkspaceName};
use crate::state::Shared;

const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=300, stale-while-revalidate=3600");
const JWKS: &str = "application/jwk-set+json";

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(keys))
}

/// The public keys of a workspace, active and revoked. An unknown workspace has none. The id may end in `.json`.
#[utoipa::path(
    get, path = "/.well-known/audit-keys/{workspaceId}", operation_id = "auditKeys", tag = "audit", security(()),
    params(Named<WorkspaceName>),
    responses(
        (status = 200, description = "A JWK set.", body = Object),
        (status = 304, description = "Not modified."),
        Fault
    )
)]
async fn keys(State(state): State<Shared>, workspace: Named<WorkspaceName>, headers: HeaderMap) -> Result<Response> {
    let workspace = workspace.text().strip_suffix(".json").unwrap_or(workspace.text());
    let keys = state.guard.audit_keys(workspace).await?;
    let body = serde_json::to_vec(&keys).map_err(base::Error::internal)?;
    let etag = format!("\"{}\"", hex(&Sha256::digest(&body)));
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    // A cache may have weakened the tag, so weak comparison applies (RFC 9110, 13.1.2).
    let matches = |tag: &str| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag;
    let is_known = known.flat_map(|value| value.split(',')).map(str::trim).any(matches);
    let mut response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { body.into_response() };
    let answer = response.headers_mut();
    answer.insert(header::ETAG, HeaderValue::from_str(&etag).map_err(base::Error::internal)?);
    answer.insert(header::CACHE_CONTROL, CACHE_CONTROL);
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    answer.insert(header::VARY, HeaderValue::from_static("accept"));
    if !is_known {
        let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|accept| accept.contains(JWKS));
        let kind = if headers.get(header::ACCEPT).is_some_and(accepts) { JWKS } else { "application/json" };
        answer.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    Ok(response)
}
