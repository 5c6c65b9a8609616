//! What a door says outside JSON-RPC: `{"error": "…"}` and a status.

use axum::body::Body;
use axum::response::Response;
use base::{Door, RequestId};
use guard::Refusal;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

use crate::body::Unreadable;
use crate::record::log_error;
use crate::state::State;

/// The answer to a request that was not let in. What only the log may know of it is logged.
pub(crate) fn respond(state: &State, door: Door, id: &RequestId, refusal: &Refusal) -> Response {
    if let Refusal::Failed(error) = refusal {
        log_error(error, id, door);
    }
    let (status, words) = match refusal {
        Refusal::Unauthorized => (StatusCode::UNAUTHORIZED, "Unauthorized"),
        Refusal::SessionNotFound => (StatusCode::NOT_FOUND, "Session not found"),
        Refusal::Forbidden => (StatusCode::FORBIDDEN, "Forbidden"),
        Refusal::SessionEnded => (StatusCode::GONE, "Session ended"),
        Refusal::TooManyRequests { .. } => (StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
        Refusal::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "Server busy"),
        Refusal::Failed(_) => (StatusCode::INTERNAL_SERVER_ERROR, "Internal error"),
    };
    state.metrics.refused(door.word(), status.as_u16());
    let mut response = plain(status, words);
    match refusal {
        Refusal::Unauthorized => {
            let challenge = HeaderValue::from_static("Bearer realm=\"toolcrib\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        Refusal::TooManyRequests { retry_after_seconds } | Refusal::Busy { retry_after_seconds } => {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*retry_after_seconds));
        }
        _ => {}
    }
    response
}

/// The answer to a body that could not be read.
pub(super) fn unreadable(state: &State, door: Door, id: &RequestId, reason: &Unreadable) -> Response {
    let response = match reason {
        Unreadable::Full(refusal) => return respond(state, door, id, refusal),
        Unreadable::TooLarge { bytes_max } => {
            plain(StatusCode::PAYLOAD_TOO_LARGE, &format!("Body over the limit of {bytes_max} bytes"))
        }
        Unreadable::TooSlow => plain(StatusCode::REQUEST_TIMEOUT, "The body took too long to arrive"),
        Unreadable::Broken => plain(StatusCode::BAD_REQUEST, "The body could not be read"),
    };
    state.metrics.refused(door.word(), response.status().as_u16());
    response
}

/// The answer to anything but a POST: the doors keep no streams and no sessions to open or delete.
pub(super) fn method_not_allowed() -> Response {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

fn plain(status: StatusCode, words: &str) -> Response {
    let mut response = Response::new(Body::from(serde_json::json!({ "error": words }).to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
