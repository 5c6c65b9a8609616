//! Whether the server lives, whether it can be used, how it does, and what its API is.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use http::header;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::{Fault, Public, Unready};
use super::error::{ApiError, Result};
use super::extract::{Nothing, Query};
use crate::state::Shared;

/// What the text of the metrics is: OpenMetrics, which Prometheus reads as such.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The document as it is sent; it never changes while the server runs.
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

/// Answers as long as the process lives.
#[utoipa::path(
    get, path = "/healthz", operation_id = "healthz", tag = "server", security(()),
    responses((status = 200, description = "Alive.", body = Health))
)]
async fn alive() -> Json<Health> {
    Json(Health { status: "alive" })
}

/// Answers 200 when the store can be read and written, and so the audit trail and the indexes, which live in it.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "server", security(()),
    responses((status = 200, description = "Ready.", body = Health), Unready)
)]
async fn ready(State(state): State<Shared>) -> Result<Json<Health>> {
    state.readiness.check(&state.guard).await?;
    Ok(Json(Health { status: "ready" }))
}

/// Figures of this server, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "server", security(()),
    responses(
        (
            status = 200, description = "OpenMetrics text.", body = String,
            content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
        ),
        Fault
    )
)]
async fn metrics(State(state): State<Shared>) -> Result<impl IntoResponse> {
    let text = state.metrics.text().map_err(base::Error::internal)?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text))
}

/// This document.
#[utoipa::path(
    get, path = "/api/openapi.json", operation_id = "openapi", tag = "server", security(()),
    responses((status = 200, description = "The OpenAPI document.", body = Object), Public)
)]
async fn document(_: Query<Nothing>) -> Result<impl IntoResponse> {
    let text = DOCUMENT.as_ref().map_err(|error| ApiError::from(base::Error::internal(error)))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text.as_str()))
}
