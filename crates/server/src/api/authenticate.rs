//! `POST /api/agents/authenticate`: exchanges an agent's key and secret for an access token.

use axum::Json;
use axum::extract::State;
use guard::Refusal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::PublicBody;
use super::client_address::ClientAddress;
use super::document::{BadCredential, Public};
use super::error::{ApiError, Result};
use super::extract::{InRequest, Nothing, Query};
use super::text::Presented;
use super::wire::{OrgId, Scopes, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(authenticate))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AgentCredential {
    agent_key: Presented,
    agent_secret: Presented,
}

#[derive(Serialize, ToSchema)]
struct TokenAnswer {
    /// The bearer token for `POST /api/mcp`.
    access_token: String,
    expires_at: Time,
    workspace_id: OrgId,
    scopes: Scopes,
}

/// Exchanges an agent's key and secret for an access token. There is no refresh; authenticate again when the token expires.
#[utoipa::path(
    post, path = "/api/agents/authenticate", operation_id = "authenticateAgent", tag = "agents", security(()),
    request_body = AgentCredential,
    responses(
        (status = 200, description = "A token, valid for fifteen minutes.", body = TokenAnswer),
        Public, BadCredential, PublicBody<AgentCredential>
    )
)]
async fn authenticate(
    State(state): State<Shared>,
    address: ClientAddress,
    InRequest(id): InRequest,
    _: Query<Nothing>,
    PublicBody(credential): PublicBody<AgentCredential>,
) -> Result<Json<TokenAnswer>> {
    let token = state.guard.authenticate(&credential.agent_key.0, &credential.agent_secret.0, &address.name(), id).await;
    let token = token.map_err(|refusal| match refusal {
        Refusal::Unauthorized => ApiError::unauthorized("wrong agent key or secret"),
        other => other.into(),
    })?;
    Ok(Json(TokenAnswer {
        access_token: token.access_token,
        expires_at: token.expires_at.into(),
        workspace_id: token.org.into(),
        scopes: Scopes(token.scopes),
    }))
}
