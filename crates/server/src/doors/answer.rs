//! The outcome of a body, before it becomes HTTP.

use axum::body::Body;
use axum::response::Response;
use guard::Refusal;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};

/// The outcome of one POST.
pub(crate) enum Answer {
    /// A JSON-RPC answer, or an array of them.
    Json {
        /// Always 200 for legacy requests.
        status: StatusCode,
        /// The answer.
        bytes: Vec<u8>,
    },
    /// No message needed an answer.
    Accepted,
    /// A limit was exceeded: too many calls, or too many streams.
    Refused(Refusal),
}

impl Answer {
    /// An answer with status 200.
    pub(crate) fn ok(bytes: Vec<u8>) -> Self {
        Self::Json { status: StatusCode::OK, bytes }
    }
}

/// A JSON answer as HTTP.
pub(super) fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An empty 202.
pub(super) fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}
