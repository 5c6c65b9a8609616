//! What a door says outside JSON-RPC: `{"error": "…"}` and a status.

use axum::body::Body;
use axum::response::Response;
use base::{Door, RequestId};
use guard::Refusal;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

use crate::body::Unreadable;
use crate::hosts::Stray;
use crate::record::log_error;
use crate::state::State;

/// The answer to a request that was not let in. What only the log may know of it is logged.
pub(crate) fn respond(state: &State, door: Door, id: &RequestId, refusal: &Refusal) -> Response {
    if let Refusal::Failed(error) = refusal {
        log_error(error, id, door);
    }
    let (status, words, reason) = match refusal {
        Refusal::Unauthorized => (StatusCode::UNAUTHORIZED, "Unauthorized", "the credential is no longer good"),
        Refusal::SessionNotFound => (StatusCode::NOT_FOUND, "Session not found", "there is no such session"),
        Refusal::Forbidden | Refusal::ForbiddenTo(_) => {
            (StatusCode::FORBIDDEN, "Forbidden", "the key is another org's or session's, or does not cover the project")
        }
        Refusal::SessionEnded => (StatusCode::GONE, "Session ended", "the session was ended or has expired"),
        Refusal::TooManyRequests { .. } => (StatusCode::TOO_MANY_REQUESTS, "Too many requests", "a rate limit is used up"),
        Refusal::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "Server busy", "the server holds as many bytes as it may"),
        Refusal::Failed(error) => (StatusCode::INTERNAL_SERVER_ERROR, "Internal error", error.kind().redacted_message()),
    };
    state.refused(door.word(), status.as_u16(), id, reason);
    let mut response = plain(status, words);
    match refusal {
        Refusal::Unauthorized => challenge(&mut response),
        Refusal::TooManyRequests { retry_after_seconds } | Refusal::Busy { retry_after_seconds } => {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*retry_after_seconds));
        }
        _ => {}
    }
    response
}

/// The answer to a request without a good credential.
pub(super) fn unauthorized(state: &State, door: Door, id: &RequestId, reason: &str) -> Response {
    state.refused(door.word(), StatusCode::UNAUTHORIZED.as_u16(), id, reason);
    let mut response = plain(StatusCode::UNAUTHORIZED, "Unauthorized");
    challenge(&mut response);
    response
}

/// The answer to a request that was meant for another host.
pub(super) fn stray(state: &State, door: Door, id: &RequestId, stray: &Stray) -> Response {
    state.refused(door.word(), StatusCode::FORBIDDEN.as_u16(), id, stray);
    plain(StatusCode::FORBIDDEN, "Forbidden")
}

fn challenge(response: &mut Response) {
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"toolcrib\""));
}

/// The answer to a body that could not be read.
pub(super) fn unreadable(state: &State, door: Door, id: &RequestId, reason: &Unreadable) -> Response {
    let (response, reason) = match reason {
        Unreadable::Full(refusal) => return respond(state, door, id, refusal),
        Unreadable::TooLarge { bytes_max } => {
            let words = format!("Body over the limit of {bytes_max} bytes");
            (plain(StatusCode::PAYLOAD_TOO_LARGE, &words), "the body is over the limit")
        }
        Unreadable::TooSlow => {
            (plain(StatusCode::REQUEST_TIMEOUT, "The body took too long to arrive"), "the body took too long to arrive")
        }
        Unreadable::Broken => (plain(StatusCode::BAD_REQUEST, "The body could not be read"), "the body could not be read"),
    };
    state.refused(door.word(), response.status().as_u16(), id, reason);
    response
}

/// The answer to anything but a POST: the doors keep no streams and no sessions to open or delete.
pub(super) fn method_not_allowed(state: &State, door: Door, id: &RequestId) -> Response {
    state.refused(door.word(), StatusCode::METHOD_NOT_ALLOWED.as_u16(), id, "the doors take POST only");
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
