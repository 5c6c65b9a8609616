//! Refusals before a request becomes a call.

use base::Error;

use crate::forbidden::Requester;

/// Why a request was refused.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// 401: no credential, or one that is malformed, unknown, revoked or expired.
    Unauthorized,
    /// 404: no such session.
    SessionNotFound,
    /// 403: the key belongs to another org, or does not cover the project.
    Forbidden,
    /// 403 for a management call with a known caller, and the reason. It must be audited.
    ForbiddenTo(Box<Requester>, &'static str),
    /// 410: the session has ended or expired.
    SessionEnded,
    /// 429: retry later.
    TooManyRequests {
        /// Whole seconds, at least 1.
        retry_after_seconds: u64,
        /// Which limit was reached, for the log.
        spent: &'static str,
    },
    /// 503: the server has reached its memory limit.
    Busy {
        /// Whole seconds, at least 1.
        retry_after_seconds: u64,
    },
    /// An internal failure.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
