//! How a door refuses before a request has become a call.

use base::Error;

use crate::forbidden::Requester;

/// Why a request went no further than the door.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// 401: no credential, or one that is malformed, unknown, revoked or expired.
    Unauthorized,
    /// 404: no such session.
    SessionNotFound,
    /// 403: the key belongs to another org, or does not cover the project.
    Forbidden,
    /// 403 for a management call whose caller is known: whoever answers puts it on the record.
    ForbiddenTo(Requester),
    /// 410: the session was ended or has expired.
    SessionEnded,
    /// 429: come back later.
    TooManyRequests {
        /// Whole seconds, at least 1.
        retry_after_seconds: u64,
    },
    /// 503: the server has as much under way as it can hold.
    Busy {
        /// Whole seconds, at least 1.
        retry_after_seconds: u64,
    },
    /// The door could not find out.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
