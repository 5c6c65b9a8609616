//! How the management API says no: a status, a sentence and a stable word.

use std::borrow::Cow;

use axum::Json;
use axum::response::{IntoResponse, Response};
use base::{Error, Kind};
use guard::Refusal;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::kit_views::BlockerView;

/// A refusal or a failure, with what the caller may know and what only the log may.
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    log: Option<String>,
    retry_after_seconds: Option<u64>,
    blockers: Option<Box<Value>>,
}

/// The body of every answer that is not a success.
#[derive(Serialize, ToSchema)]
pub(super) struct ErrorBody {
    /// What was wrong and what to do next, for a person.
    error: String,
    /// A stable word, for a program.
    code: &'static str,
}

/// The body of a refusal to publish a kit.
#[derive(Serialize, ToSchema)]
#[schema(as = PublishRefused)]
pub(super) struct BlockedBody {
    /// What was wrong and what to do next, for a person.
    error: String,
    /// A stable word, for a program.
    code: &'static str,
    /// What stands in the way; empty when that is the state of the kit itself.
    #[schema(value_type = Vec<BlockerView>)]
    blockers: Value,
}

/// What the log should say of an answer. It travels with the answer to where the request's id is known.
#[derive(Clone)]
pub(super) struct ForTheLog {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) log: Option<String>,
}

pub(super) type Result<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), log: None, retry_after_seconds: None, blockers: None }
    }

    /// The same refusal with what keeps a kit from being published beside it.
    pub(super) fn with_blockers(self, blockers: Value) -> Self {
        Self { blockers: Some(Box::new(blockers)), ..self }
    }

    /// 400, naming what is wrong with the request.
    pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::InvalidParams.word(), message)
    }

    /// 401, in words that fit the route.
    pub(super) fn unauthorized(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// 403 for a credential that is good, but not for this.
    pub(super) fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// 404 for an id that does not exist, is malformed or belongs to another org: the caller cannot tell which.
    pub(super) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::NotFound.word(), format!("no such {what}"))
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            Kind::ParseError | Kind::InvalidRequest | Kind::InvalidParams | Kind::SyntaxError => StatusCode::BAD_REQUEST,
            Kind::NotPermitted => StatusCode::FORBIDDEN,
            Kind::NotFound | Kind::ToolNotFound | Kind::MethodNotFound => StatusCode::NOT_FOUND,
            Kind::Conflict => StatusCode::CONFLICT,
            Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::Unavailable | Kind::Timeout => StatusCode::SERVICE_UNAVAILABLE,
            Kind::PeerTimeout | Kind::PeerTransport | Kind::PeerInvalidResponse | Kind::PeerTaskFailed | Kind::Internal => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        let log = error.log().map(str::to_owned);
        Self { log, ..Self::new(status, error.kind().word(), error.message().to_owned()) }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unauthorized => {
                Self::unauthorized("this needs a valid key (`Authorization: Bearer rsk_…`) or a console login")
            }
            Refusal::Forbidden | Refusal::ForbiddenTo(_) => Self::forbidden(
                "this credential may not do this; a session's key opens only its own door, and a login that changes something also \
                 sends `x-csrf-token`",
            ),
            Refusal::SessionNotFound => Self::not_found("session"),
            Refusal::SessionEnded => Self::new(StatusCode::GONE, "gone", "the session has ended"),
            Refusal::TooManyRequests { retry_after_seconds } => Self {
                retry_after_seconds: Some(retry_after_seconds),
                ..Self::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too_many_requests",
                    format!("too many attempts: come back in {retry_after_seconds} s"),
                )
            },
            Refusal::Busy { retry_after_seconds } => Self {
                retry_after_seconds: Some(retry_after_seconds),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    Kind::Unavailable.word(),
                    format!("the server is busy: try again in {retry_after_seconds} s"),
                )
            },
            Refusal::Failed(error) => error.into(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (error, code) = (self.message.clone().into_owned(), self.code);
        let mut response = match self.blockers {
            Some(blockers) => (self.status, Json(BlockedBody { error, code, blockers: *blockers })).into_response(),
            None => (self.status, Json(ErrorBody { error, code })).into_response(),
        };
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let note = ForTheLog { code: self.code, message: self.message.into_owned(), log: self.log };
        response.extensions_mut().insert(note);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(error: impl Into<ApiError>) -> u16 {
        error.into().into_response().status().as_u16()
    }

    #[test]
    fn kinds_and_refusals_have_their_statuses() {
        for (kind, status) in [
            (Kind::InvalidParams, 400),
            (Kind::NotPermitted, 403),
            (Kind::NotFound, 404),
            (Kind::Conflict, 409),
            (Kind::TooLarge, 413),
            (Kind::Internal, 500),
            (Kind::Unavailable, 503),
        ] {
            assert_eq!(status_of(Error::new(kind, "x")), status, "{kind:?}");
        }
        assert_eq!(status_of(Refusal::Forbidden), 403);
        let refused = ApiError::from(Refusal::TooManyRequests { retry_after_seconds: 7 }).into_response();
        assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &HeaderValue::from(7)));
        let refused = ApiError::from(Refusal::Unauthorized).into_response();
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["www-authenticate"]),
            (401, &HeaderValue::from_static("Bearer"))
        );
    }

    #[test]
    fn what_only_the_log_may_know_stays_out_of_the_answer() {
        let error = ApiError::from(Error::internal("no such table: secrets"));
        assert!(!error.message.contains("secrets"));
        assert_eq!(error.log.as_deref(), Some("no such table: secrets"));
    }
}
