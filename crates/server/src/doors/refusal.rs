//! Answers of a door outside JSON-RPC: `{"error": "…"}` and a status.

use std::fmt::Display;

use axum::body::Body;
use axum::response::Response;
use base::{Door, Kind, RequestId};
use guard::Refusal;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use mcp::codes::Cause;

use crate::body::Unreadable;
use crate::hosts::Stray;
use crate::record::log_error;
use crate::state::State;

/// The answer to a refused request. Internal details are only logged.
pub(crate) fn respond(state: &State, door: Door, id: &RequestId, refusal: &Refusal) -> Response {
    if let Refusal::Failed(error) = refusal {
        log_error(error, id, door);
    }
    let (cause, reason) = match refusal {
        Refusal::Unauthorized => (Cause::Unauthorized, "credential revoked or expired"),
        Refusal::SessionNotFound => (Cause::SessionNotFound, "no such session"),
        Refusal::Forbidden | Refusal::ForbiddenTo(..) => {
            (Cause::Forbidden, "the key belongs to another org or session, or does not cover the project")
        }
        Refusal::SessionEnded => (Cause::SessionEnded, "the session has ended or expired"),
        Refusal::TooManyRequests { spent, .. } => (Cause::TooManyRequests, *spent),
        Refusal::Busy { .. } => (Cause::Busy, "the server has reached its memory limit for requests"),
        Refusal::Failed(error) => (Cause::Kind(Kind::Internal), error.kind().redacted_message()),
    };
    let mut response = refused(state, door, id, cause, reason);
    match refusal {
        Refusal::Unauthorized => challenge(&mut response),
        Refusal::TooManyRequests { retry_after_seconds, .. } | Refusal::Busy { retry_after_seconds } => {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*retry_after_seconds));
        }
        _ => {}
    }
    response
}

/// The answer to a request without a valid credential.
pub(super) fn unauthorized(state: &State, door: Door, id: &RequestId, reason: &str) -> Response {
    let mut response = refused(state, door, id, Cause::Unauthorized, reason);
    challenge(&mut response);
    response
}

/// The answer to a request with a host or origin that is not allowed.
pub(super) fn stray(state: &State, door: Door, id: &RequestId, stray: &Stray) -> Response {
    refused(state, door, id, Cause::Forbidden, stray)
}

fn challenge(response: &mut Response) {
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"toolcrib\""));
}

/// The answer if the body could not be read.
pub(super) fn unreadable(state: &State, door: Door, id: &RequestId, reason: &Unreadable) -> Response {
    match reason {
        Unreadable::Full(refusal) => respond(state, door, id, refusal),
        Unreadable::TooLarge { bytes_max } => {
            let entry = Cause::BodyTooLarge.entry();
            state.refused(door.word(), entry.status.as_u16(), id, "the body is too large");
            plain(entry.status, &format!("{} of {bytes_max} bytes", entry.door.unwrap_or_default()))
        }
        Unreadable::TooSlow => refused(state, door, id, Cause::BodyTooSlow, "the body took too long to arrive"),
        Unreadable::Broken => refused(state, door, id, Cause::BodyBroken, "connection closed mid-body"),
    }
}

/// The answer to other methods than POST. The doors have no sessions to open or delete.
pub(super) fn method_not_allowed(state: &State, door: Door, id: &RequestId) -> Response {
    let mut response = refused(state, door, id, Cause::MethodNotAllowed, "only POST is allowed");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

/// The answer for `cause` from the table of errors. The reason is only logged.
fn refused(state: &State, door: Door, id: &RequestId, cause: Cause, reason: impl Display) -> Response {
    let entry = cause.entry();
    state.refused(door.word(), entry.status.as_u16(), id, reason);
    plain(entry.status, entry.door.unwrap_or(entry.word))
}

fn plain(status: StatusCode, words: &str) -> Response {
    let mut response = Response::new(Body::from(serde_json::json!({ "error": words }).to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
