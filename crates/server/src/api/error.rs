//! Errors of the management API: a status, a message and a stable code.

use std::borrow::Cow;

use axum::Json;
use axum::response::{IntoResponse, Response};
use base::{Error, Kind};
use guard::Refusal;
use http::{HeaderValue, StatusCode, header};
use mcp::codes::Cause;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::kit_views::BlockerView;

/// An error answer, with a message for the caller and possibly another one for the log.
pub(crate) struct ApiError {
    cause: Cause,
    message: Cow<'static, str>,
    missing: Option<Cow<'static, str>>,
    log: Option<String>,
    retry_after_seconds: Option<u64>,
    blockers: Option<Vec<BlockerView>>,
}

/// The `code` of an answer. It serializes as the word in the table of errors, so an answer cannot have another code.
#[derive(Clone, Copy)]
pub(super) struct Code(pub(super) Cause);

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.entry().word)
    }
}

/// The body of every error answer.
#[derive(Serialize, ToSchema)]
pub(super) struct ErrorBody {
    /// What went wrong and what to do, for a person.
    error: String,
    /// A stable code, for programs.
    #[schema(value_type = String)]
    code: Code,
    /// The noun of what does not exist (`project`).
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Cow<'static, str>>,
}

/// The error body when a kit cannot be published.
#[derive(Serialize, ToSchema)]
#[schema(as = PublishRefused)]
pub(super) struct BlockedBody {
    /// What went wrong and what to do, for a person.
    error: String,
    /// A stable code, for programs.
    #[schema(value_type = String)]
    code: Code,
    /// The reasons. Empty if the kit's own state is the reason.
    blockers: Vec<BlockerView>,
}

/// The log message of an answer. It is logged by the middleware, which knows the request id.
#[derive(Clone)]
pub(super) struct ForTheLog {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) log: Option<String>,
}

pub(super) type Result<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    /// An error for `cause`. The table of errors has its status and its code.
    pub(super) fn new(cause: impl Into<Cause>, message: impl Into<Cow<'static, str>>) -> Self {
        let (cause, message) = (cause.into(), message.into());
        Self { cause, message, missing: None, log: None, retry_after_seconds: None, blockers: None }
    }

    /// Names what does not exist.
    pub(super) fn with_missing(self, noun: &'static str) -> Self {
        Self { missing: Some(noun.into()), ..self }
    }

    /// Adds the reasons why a kit cannot be published.
    pub(super) fn with_blockers(self, blockers: Vec<BlockerView>) -> Self {
        Self { blockers: Some(blockers), ..self }
    }

    /// 400, with what is wrong with the request.
    pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::InvalidParams, message)
    }

    /// 401, with a message that fits the route.
    pub(super) fn unauthorized(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Cause::Unauthorized, message)
    }

    /// 403: the credential is valid but lacks the right.
    pub(super) fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Cause::Forbidden, message)
    }

    /// 404. An unknown id, a malformed id and an id of another org look the same to the caller.
    pub(super) fn not_found(noun: &'static str) -> Self {
        Self::new(Kind::NotFound, format!("no such {noun}")).with_missing(noun)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let log = error.log().map(str::to_owned);
        let missing = error.missing().map(|noun| Cow::Owned(noun.to_owned()));
        Self { log, missing, ..Self::new(error.kind(), error.message().to_owned()) }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unauthorized => {
                Self::unauthorized("send a valid key (`Authorization: Bearer rsk_…`) or log in to the console")
            }
            // A management route refuses without a reason only if it needs the instance admin's key.
            Refusal::Forbidden => Self::forbidden("this needs the instance admin's key"),
            Refusal::ForbiddenTo(_, why) => Self::forbidden(why),
            Refusal::SessionNotFound => Self::new(Cause::SessionNotFound, "no such session").with_missing("session"),
            Refusal::SessionEnded => Self::new(Cause::SessionEnded, "session ended"),
            Refusal::TooManyRequests { retry_after_seconds, spent } => Self {
                log: Some(spent.to_owned()),
                retry_after_seconds: Some(retry_after_seconds),
                ..Self::new(Cause::TooManyRequests, format!("too many requests; retry in {retry_after_seconds} s"))
            },
            Refusal::Busy { retry_after_seconds } => Self {
                retry_after_seconds: Some(retry_after_seconds),
                ..Self::new(Cause::Busy, format!("server busy; retry in {retry_after_seconds} s"))
            },
            Refusal::Failed(error) => error.into(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let entry = self.cause.entry();
        let (error, code) = (self.message.clone().into_owned(), Code(self.cause));
        let mut response = match self.blockers {
            Some(blockers) => (entry.status, Json(BlockedBody { error, code, blockers })).into_response(),
            None => (entry.status, Json(ErrorBody { error, code, missing: self.missing })).into_response(),
        };
        let headers = response.headers_mut();
        if entry.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let note = ForTheLog { code: entry.word, message: self.message.into_owned(), log: self.log };
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
    fn kinds_and_refusals_map_to_statuses() {
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
        let refused = ApiError::from(Refusal::TooManyRequests { retry_after_seconds: 7, spent: "a limit" }).into_response();
        assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &HeaderValue::from(7)));
        let refused = ApiError::from(Refusal::Unauthorized).into_response();
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["www-authenticate"]),
            (401, &HeaderValue::from_static("Bearer"))
        );
    }

    #[test]
    fn a_404_names_what_is_missing() {
        assert_eq!(ApiError::not_found("project").missing.as_deref(), Some("project"));
        assert_eq!(ApiError::from(Error::not_found("agent", "x")).missing.as_deref(), Some("agent"));
        assert_eq!(ApiError::from(Error::new(Kind::NotFound, "x")).missing, None);
    }

    #[test]
    fn log_message_stays_out_of_the_answer() {
        let error = ApiError::from(Error::internal("no such table: secrets"));
        assert!(!error.message.contains("secrets"));
        assert_eq!(error.log.as_deref(), Some("no such table: secrets"));
    }
}
