//! Console logins: an `HttpOnly` cookie and a CSRF token.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use guard::{Refusal, User};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::PublicBody;
use super::client_address::ClientAddress;
use super::document::{BadCredential, LoginOnly, Public};
use super::error::{ApiError, Result};
use super::extract::{Accepts, InRequest, LOGIN_COOKIE, Nothing, Query, credential, let_in};
use super::text::Presented;
use super::wire::{OrgId, UserId};
use super::words::UserRole;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(log_in)).routes(routes!(log_out)).routes(routes!(me))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LoginRequest {
    email: Presented,
    password: Presented,
}

/// Who is logged in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ConsoleUser {
    id: UserId,
    email: String,
    role: UserRole,
    org_id: OrgId,
}

#[derive(Serialize, ToSchema)]
struct LoginAnswer {
    user: ConsoleUser,
    /// The CSRF token. Send it as `x-csrf-token` with every request that changes something.
    csrf: String,
}

impl LoginAnswer {
    fn new(user: User, csrf: String) -> Self {
        let user = ConsoleUser { id: user.id.into(), email: user.email, role: user.role.into(), org_id: user.org.into() };
        Self { user, csrf }
    }
}

/// Logs in a user for twelve hours. The answer sets the login cookie.
#[utoipa::path(
    post, path = "/api/console/login", operation_id = "logIn", tag = "console", security(()),
    request_body = LoginRequest,
    responses(
        (status = 200, description = "Logged in.", body = LoginAnswer, headers(("set-cookie" = String, description = "The login cookie."))),
        Public, BadCredential, PublicBody<LoginRequest>
    )
)]
async fn log_in(
    State(state): State<Shared>,
    address: ClientAddress,
    InRequest(id): InRequest,
    _: Query<Nothing>,
    PublicBody(request): PublicBody<LoginRequest>,
) -> Result<Response> {
    let _under_way = state.logins.enter_from(address.ip()).ok_or(TOO_MANY_LOGINS)?;
    let login = state.guard.log_in(&request.email.0, request.password.0, &address.name(), id).await;
    let login = login.map_err(|refusal| match refusal {
        Refusal::Unauthorized => ApiError::unauthorized("wrong email or password"),
        other => other.into(),
    })?;
    let cookie = set_cookie(&login.cookie, &state.public_url)?;
    Ok(([(header::SET_COOKIE, cookie)], Json(LoginAnswer::new(login.user, login.csrf))).into_response())
}

/// Too many logins from one address are in progress.
const TOO_MANY_LOGINS: Refusal =
    Refusal::TooManyRequests { retry_after_seconds: 1, spent: "too many logins from one address are in progress" };

/// The login cookie, after the login and, for a change, the CSRF token were checked.
struct Cookie(String);

impl FromRequestParts<Shared> for Cookie {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let cookie = credential(parts).login.ok_or(Refusal::Unauthorized)?.to_owned();
        let_in(parts, state, Accepts::Logins, None).await?;
        Ok(Self(cookie))
    }
}

/// Logs out.
#[utoipa::path(
    post, path = "/api/console/logout", operation_id = "logOut", tag = "console", security(("login" = [], "csrf" = [])),
    responses(
        (status = 204, description = "Logged out.", headers(("set-cookie" = String, description = "Removes the cookie."))), LoginOnly
    )
)]
async fn log_out(
    State(state): State<Shared>,
    Cookie(cookie): Cookie,
    InRequest(id): InRequest,
    _: Query<Nothing>,
) -> Result<Response> {
    state.guard.log_out(&cookie, id).await?;
    let removed = set_cookie("; Max-Age=0", &state.public_url)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, removed)]).into_response())
}

/// Shows the current login.
#[utoipa::path(
    get, path = "/api/console/me", operation_id = "whoAmI", tag = "console", security(("login" = [])),
    responses((status = 200, description = "The login.", body = LoginAnswer), LoginOnly)
)]
async fn me(State(state): State<Shared>, Cookie(cookie): Cookie, _: Query<Nothing>) -> Result<Json<LoginAnswer>> {
    let (user, csrf) = state.guard.logged_in(&cookie).await?;
    Ok(Json(LoginAnswer::new(user, csrf)))
}

/// The cookie is hidden from scripts, is not sent by other sites, and is restricted to TLS on an https server.
fn set_cookie(value: &str, public_url: &str) -> Result<HeaderValue> {
    let secure = if public_url.starts_with("https://") { "; Secure" } else { "" };
    let cookie = format!("{LOGIN_COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/{secure}");
    HeaderValue::from_str(&cookie).map_err(|error| base::Error::internal(error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_http_only_and_same_site() {
        let cookie = |url| set_cookie("tcl_1", url).ok().unwrap().to_str().unwrap().to_owned();
        assert_eq!(cookie("http://localhost:7420"), "toolcrib_login=tcl_1; HttpOnly; SameSite=Strict; Path=/");
        assert_eq!(cookie("https://crib.example"), "toolcrib_login=tcl_1; HttpOnly; SameSite=Strict; Path=/; Secure");
    }
}
