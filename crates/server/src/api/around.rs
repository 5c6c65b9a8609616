//! Middleware of the management API. Each request gets an id, its host is checked, it is counted, and a panic is contained.
//! Refusals and reads go to the audit trail, and failures to the log.

use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base::{Error, Kind, RequestId};
use futures_util::FutureExt;
use http::{HeaderValue, Method, StatusCode, header};
use mcp::codes::Cause;

use super::error::{ApiError, ForTheLog};
use super::in_place::InPlace;
use super::visit::Visit;
use crate::in_flight;
use crate::refusals::{why_unauthorized, without_quotes};
use crate::state::Shared;

/// The name of the management API in the metrics.
const DOOR: &str = "api";

/// Wraps every route of the API.
pub(super) async fn around(State(state): State<Shared>, request: Request, next: Next) -> Response {
    surround(&state, request, |request| next.run(request)).await
}

/// Answers an unknown path with 404, including `/.well-known/oauth-*`, which clients probe.
pub(super) async fn no_such_route(State(state): State<Shared>, request: Request) -> Response {
    surround(&state, request, async |_| {
        ApiError::new(Kind::NotFound, "no such route; see `GET /api/openapi.json`").into_response()
    })
    .await
}

/// Answers a method that the path does not support. The router adds `Allow`.
pub(super) async fn no_such_method(method: Method) -> ApiError {
    let message = format!("this path does not support `{method}`; see the `Allow` header");
    ApiError::new(Cause::MethodNotAllowed, message)
}

async fn surround<F: Future<Output = Response>>(
    state: &Shared,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let (id, place, method) = (RequestId::next(), InPlace::default(), request.method().clone());
    request.extensions_mut().insert(id);
    request.extensions_mut().insert(place.clone());
    state.metrics.requested();
    let visit = Visit::default();
    request.extensions_mut().insert(visit.clone());
    let of_the_api = is_of_the_api(request.uri().path());
    let host = if of_the_api { state.hosts.check(request.headers(), request.uri()) } else { Ok(()) };
    let unauthorized = why_unauthorized(request.headers());
    let mut response = match &host {
        Err(_) => {
            ApiError::forbidden("host or origin not allowed; add it with --allow-host when you start the server").into_response()
        }
        Ok(()) => {
            let answered = AssertUnwindSafe(answer(request)).catch_unwind().await;
            let panicked = |_| ApiError::from(Error::internal("management call panicked")).into_response();
            let is_question = method == Method::GET || visit.is_read();
            let response = place.settle(is_question, answered.unwrap_or_else(panicked));
            visit.record(state, id, response).await
        }
    };
    response = place.until_sent(response);
    match &host {
        Err(stray) => state.refused(DOOR, response.status().as_u16(), &id, stray),
        Ok(()) => log(state, &response, &id, unauthorized),
    }
    if of_the_api {
        // Answers may hold secrets that are shown only once.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    in_flight::stamp(&mut response, &id);
    response
}

fn is_of_the_api(path: &str) -> bool {
    path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Logs why a request failed. Text quoted in a message comes from the caller and is not logged.
fn log(state: &Shared, response: &Response, id: &RequestId, unauthorized: &str) {
    let note = response.extensions().get::<ForTheLog>();
    let status = response.status().as_u16();
    if response.status().is_client_error() {
        let reason = match note {
            _ if response.status() == StatusCode::UNAUTHORIZED => unauthorized.into(),
            Some(note) => without_quotes(&note.message),
            None => "invalid request".into(),
        };
        state.refused(DOOR, status, id, reason);
    } else if let Some(note) = note {
        tracing::error!(request = %id, status, code = note.code, log = note.log, "{}", without_quotes(&note.message));
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_the_api;

    #[test]
    fn api_paths_are_recognized() {
        for path in ["/api", "/api/", "/api/orgs", "/api/no/such"] {
            assert!(is_of_the_api(path), "{path}");
        }
        for path in ["/", "/healthz", "/apis", "/.well-known/oauth-protected-resource"] {
            assert!(!is_of_the_api(path), "{path}");
        }
    }
}
