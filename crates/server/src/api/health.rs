//! Health, readiness, metrics and the OpenAPI document.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::response::IntoResponse;
use base::Error;
use base::limits::READINESS_KEPT_MS;
use base::secret::SecretHash;
use guard::Guard;
use http::header;
use http::request::Parts;
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::client_address::is_from_this_machine;
use super::document::{Fault, Public, Unready};
use super::error::{ApiError, ErrorBody, Result};
use super::extract::{Nothing, Query};
use crate::state::Shared;

/// The content type of the metrics: OpenMetrics, which Prometheus understands.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The serialized document. It never changes while the server runs.
static DOCUMENT: LazyLock<Result<String, String>> =
    LazyLock::new(|| super::openapi().to_json().map_err(|error| error.to_string()));

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(alive)).routes(routes!(ready)).routes(routes!(metrics)).routes(routes!(document))
}

#[derive(Serialize, ToSchema)]
struct Health {
    /// `alive` or `ready`.
    status: &'static str,
}

/// Answers 200 while the process is running.
#[utoipa::path(
    get, path = "/healthz", operation_id = "healthz", tag = "server", security(()),
    responses((status = 200, description = "Alive.", body = Health))
)]
async fn alive() -> Json<Health> {
    Json(Health { status: "alive" })
}

/// Answers 200 if the store, including the audit trail and the indexes, can be read and written.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "server", security(()),
    responses((status = 200, description = "Ready.", body = Health), Unready)
)]
async fn ready(State(state): State<Shared>) -> Result<Json<Health>> {
    state.readiness.check(&state.guard).await?;
    Ok(Json(Health { status: "ready" }))
}

/// Whether the server is ready. Anyone may ask at any rate, so the result is cached for a while.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<Found>>);

#[derive(Clone, Copy)]
struct Found {
    at: Instant,
    ready: bool,
}

impl Readiness {
    /// Fails if the store cannot be read and written, because then no call can be audited. Concurrent callers share one check.
    pub(crate) async fn check(&self, guard: &Guard) -> base::Result<()> {
        let mut found = self.0.lock().await;
        match *found {
            Some(Found { at, ready }) if at.elapsed() < Duration::from_millis(READINESS_KEPT_MS) => {
                if ready {
                    Ok(())
                } else {
                    Err(Error::unavailable("not ready"))
                }
            }
            _ => {
                // Whatever the reason, the caller only learns that the server is not ready.
                let answer = guard.ready().await.map_err(Error::unavailable);
                *found = Some(Found { at: Instant::now(), ready: answer.is_ok() });
                answer
            }
        }
    }
}

/// Metrics for Prometheus. Without `--metrics-token` they are available only on the server's machine.
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "server", security(()),
    responses(
        (
            status = 200, description = "OpenMetrics text.", body = String,
            content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
        ),
        (status = 401, description = "The token is missing or wrong.", body = ErrorBody),
        (status = 403, description = "No token is configured and the request comes from another machine.", body = ErrorBody),
        Fault
    )
)]
async fn metrics(State(state): State<Shared>, _: MayReadMetrics) -> Result<impl IntoResponse> {
    state.metrics.code(&state.services.code.figures());
    let text = state.metrics.text().map_err(Error::internal)?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text))
}

/// A caller who may read the metrics: with the token, or from this machine if no token is configured.
struct MayReadMetrics;

impl FromRequestParts<Shared> for MayReadMetrics {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self> {
        let Some(token) = &state.metrics_token else {
            if is_from_this_machine(parts, state) && state.hosts.check(&parts.headers, &parts.uri).is_ok() {
                return Ok(Self);
            }
            return Err(ApiError::forbidden(
                "/metrics is not open to other machines; set --metrics-token and send it as `Authorization: Bearer …`",
            ));
        };
        let presented = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let secret =
            presented.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match secret {
            Some((_, secret)) if SecretHash::of(secret.trim()).matches(&token.hex()) => Ok(Self),
            _ => {
                Err(ApiError::unauthorized("/metrics needs the token from --metrics-token; send it as `Authorization: Bearer …`"))
            }
        }
    }
}

/// The OpenAPI document of this API.
#[utoipa::path(
    get, path = "/api/openapi.json", operation_id = "openapi", tag = "server", security(()),
    responses((status = 200, description = "The OpenAPI document.", body = Object), Public)
)]
async fn document(_: Query<Nothing>) -> Result<impl IntoResponse> {
    let text = DOCUMENT.as_ref().map_err(|error| ApiError::from(Error::internal(error)))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text.as_str()))
}
