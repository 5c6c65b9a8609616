//! The columns of the table of errors, and the JSON-RPC answers that follow from it. The lines are in [`lines`].

use base::{Door, Kind};
use http::StatusCode;

use super::lines;
use crate::era::Revision;

/// Why a request fails. The set is closed, so every code of an answer is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A call failed with an error of this kind.
    Kind(Kind),
    /// The request has no valid credential.
    Unauthorized,
    /// The credential is valid but lacks the right.
    Forbidden,
    /// There is no such session.
    SessionNotFound,
    /// The session has ended or expired.
    SessionEnded,
    /// The path does not support this HTTP method.
    MethodNotAllowed,
    /// The body is too large.
    BodyTooLarge,
    /// The body took too long to arrive.
    BodyTooSlow,
    /// The connection closed mid-body.
    BodyBroken,
    /// A policy has errors in its text.
    PolicyInvalid,
    /// A rate limit is exceeded.
    TooManyRequests,
    /// The server has reached its memory limit for requests.
    Busy,
}

impl From<Kind> for Cause {
    fn from(kind: Kind) -> Self {
        Cause::Kind(kind)
    }
}

impl Cause {
    /// The causes without a [`Kind`]: they stop a request before it becomes a call, or only the management API has them.
    pub const OUTSIDE_CALLS: [Cause; 11] = [
        Cause::Unauthorized,
        Cause::Forbidden,
        Cause::SessionNotFound,
        Cause::SessionEnded,
        Cause::MethodNotAllowed,
        Cause::BodyTooLarge,
        Cause::BodyTooSlow,
        Cause::BodyBroken,
        Cause::PolicyInvalid,
        Cause::TooManyRequests,
        Cause::Busy,
    ];

    /// All causes, for the generated reference and the tests.
    pub fn all() -> impl Iterator<Item = Cause> {
        Kind::ALL.into_iter().map(Cause::Kind).chain(Cause::OUTSIDE_CALLS)
    }

    /// The line of the table.
    pub const fn entry(self) -> Entry {
        lines::of(self)
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The stable word: `data.kind` of a JSON-RPC error and `code` of the management API.
    pub word: &'static str,
    /// The management API's HTTP status.
    pub status: StatusCode,
    /// Whether the same request can succeed later.
    pub retryable: bool,
    /// The text in a door's answer `{"error": "…"}` with the same status, if it can stop a request at a door.
    pub door: Option<&'static str>,
    /// The meaning, as a sentence.
    pub meaning: &'static str,
    /// The advice to the caller, as a sentence.
    pub advice: &'static str,
}

/// The groups of kinds that get the same JSON-RPC answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rpc {
    /// The message is invalid: the JSON-RPC code, and the HTTP status for modern requests.
    Message(i64, StatusCode),
    /// The tool is unknown.
    Tool,
    /// The arguments are invalid.
    Arguments,
    /// The caller lacks the right.
    Permission,
    /// The tool's object does not exist or does not allow the call.
    Outcome,
    /// A peer agent failed, with this code.
    Peer(i64),
    /// The server failed.
    Fault,
}

/// The parts of a JSON-RPC answer that depend on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The JSON-RPC code. If the error becomes a result, the code inside it.
    pub code: i64,
    /// The HTTP status. Legacy answers are always 200.
    pub status: StatusCode,
    /// Whether only the kind may be shown.
    pub redacted: bool,
    /// Whether `tools/call` answers with a result and `isError: true`, which the model can act on. For bad parameters, this
    /// applies only to a tool's arguments.
    pub is_result: bool,
}

/// The row for an error of `kind` at `door`, for a request of `revision`.
pub const fn row(kind: Kind, door: Door, revision: Revision) -> Row {
    let plain = Row { code: 0, status: StatusCode::OK, redacted: false, is_result: false };
    let modern = matches!(revision, Revision::Modern);
    match lines::rpc(kind) {
        Rpc::Message(code, status) => Row { code, status: if modern { status } else { StatusCode::OK }, ..plain },
        // A modern -32601 means 404, so an unknown tool is a bad parameter there, as the specification requires.
        Rpc::Tool => Row { code: if modern { -32602 } else { -32601 }, ..plain },
        Rpc::Arguments => Row { code: -32602, is_result: !matches!(revision, Revision::Early), ..plain },
        Rpc::Permission => match door {
            Door::Session => Row { code: -32003, ..plain },
            Door::Agent => Row { code: -32001, ..plain },
        },
        Rpc::Outcome => match (modern, door) {
            (true, _) => Row { code: -32000, is_result: true, ..plain },
            (false, Door::Session) => Row { code: -32000, ..plain },
            (false, Door::Agent) => Row { code: -32002, redacted: true, ..plain },
        },
        Rpc::Peer(code) => Row { code, is_result: modern, ..plain },
        Rpc::Fault => match (modern, door) {
            // -32002 must not be used for modern requests, because it once had another meaning there.
            (false, Door::Agent) => Row { code: -32002, redacted: true, ..plain },
            _ => Row { code: -32603, redacted: true, ..plain },
        },
    }
}
