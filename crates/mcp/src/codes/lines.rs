//! The lines of the table of errors, the source of `docs/errors.md`.
//!
//! A new [`Kind`] or [`Cause`] does not compile without a line here.

use base::Kind;
use http::StatusCode as S;

use super::table::{Cause, Entry, Rpc};

/// The same request can succeed later.
const RETRYABLE: bool = true;
/// The same request fails again until the caller or the operator changes something.
const FINAL: bool = false;

/// The line of `cause`.
pub(super) const fn of(cause: Cause) -> Entry {
    match cause {
        Cause::Kind(kind) => of_kind(kind).0,
        Cause::Unauthorized => Entry {
            word: "unauthorized",
            status: S::UNAUTHORIZED,
            retryable: FINAL,
            door: Some("Unauthorized"),
            meaning: "The credential is missing, malformed, unknown, revoked or expired.",
            advice: "Send a valid credential; `WWW-Authenticate` names the expected kind.",
        },
        Cause::Forbidden => Entry {
            word: "forbidden",
            status: S::FORBIDDEN,
            retryable: FINAL,
            door: Some("Forbidden"),
            meaning: "The credential is valid but does not cover this org, project or route, or the `Host` or `Origin` is not allowed.",
            advice: "Use a credential that covers it, or allow the host with `--allow-host`.",
        },
        Cause::SessionNotFound => Entry {
            word: Kind::NotFound.word(),
            status: S::NOT_FOUND,
            retryable: FINAL,
            door: Some("Session not found"),
            meaning: "The session does not exist.",
            advice: "Check the id, or open a new session.",
        },
        Cause::SessionEnded => Entry {
            word: "gone",
            status: S::GONE,
            retryable: FINAL,
            door: Some("Session ended"),
            meaning: "The session has ended or expired. Its own key gets this answer for seven days.",
            advice: "Open a new session.",
        },
        Cause::MethodNotAllowed => Entry {
            word: "method_not_allowed",
            status: S::METHOD_NOT_ALLOWED,
            retryable: FINAL,
            door: Some("Method not allowed"),
            meaning: "The path does not support this HTTP method.",
            advice: "Use a method from the `Allow` header; the doors accept only POST.",
        },
        Cause::BodyTooLarge => Entry {
            word: Kind::TooLarge.word(),
            status: S::PAYLOAD_TOO_LARGE,
            retryable: FINAL,
            door: Some("Body over the limit"),
            meaning: "The body is larger than the limit.",
            advice: "Send less at once; see [limits](limits.md).",
        },
        Cause::BodyTooSlow => Entry {
            word: Kind::Timeout.word(),
            status: S::REQUEST_TIMEOUT,
            retryable: RETRYABLE,
            door: Some("The body took too long to arrive"),
            meaning: "The client stopped sending the body.",
            advice: "Send the request again.",
        },
        Cause::BodyBroken => Entry {
            word: Kind::InvalidParams.word(),
            status: S::BAD_REQUEST,
            retryable: RETRYABLE,
            door: Some("Connection closed mid-body"),
            meaning: "The connection closed mid-body.",
            advice: "Send the request again.",
        },
        Cause::PolicyInvalid => Entry {
            word: "policy_invalid",
            status: S::UNPROCESSABLE_ENTITY,
            retryable: FINAL,
            door: None,
            meaning: "The policy text has errors; nothing was saved.",
            advice: "Correct what `findings` lists.",
        },
        Cause::TooManyRequests => Entry {
            word: "too_many_requests",
            status: S::TOO_MANY_REQUESTS,
            retryable: RETRYABLE,
            door: Some("Too many requests"),
            meaning: "A rate limit is exceeded.",
            advice: "Wait for the number of seconds in `Retry-After`.",
        },
        Cause::Busy => Entry {
            word: Kind::Unavailable.word(),
            status: S::SERVICE_UNAVAILABLE,
            retryable: RETRYABLE,
            door: Some("Server busy"),
            meaning: "The server has reached its memory limit for requests.",
            advice: "Wait for the number of seconds in `Retry-After`.",
        },
    }
}

/// The group of `kind` for JSON-RPC answers.
pub(super) const fn rpc(kind: Kind) -> Rpc {
    of_kind(kind).1
}

const fn of_kind(kind: Kind) -> (Entry, Rpc) {
    let (status, rpc, retryable, meaning, advice) = match kind {
        Kind::ParseError => {
            (S::BAD_REQUEST, Rpc::Message(-32700, S::BAD_REQUEST), FINAL, "The body is not JSON.", "Send valid JSON in UTF-8.")
        }
        Kind::InvalidRequest => (
            S::BAD_REQUEST,
            Rpc::Message(-32600, S::BAD_REQUEST),
            FINAL,
            "The body is JSON but not a JSON-RPC message.",
            "Send `jsonrpc` and `method`, and `id` to get an answer.",
        ),
        Kind::MethodNotFound => (
            S::NOT_FOUND,
            Rpc::Message(-32601, S::NOT_FOUND),
            FINAL,
            "The server has no such method.",
            "Use a method of the MCP revision that the request names.",
        ),
        Kind::ToolNotFound => {
            (S::NOT_FOUND, Rpc::Tool, FINAL, "The caller has no tool with this name.", "Use a name from `tools/list`.")
        }
        Kind::InvalidParams => (
            S::BAD_REQUEST,
            Rpc::Arguments,
            FINAL,
            "A parameter is missing, malformed or out of range, or names something that does not exist.",
            "Correct the parameter that the message names.",
        ),
        Kind::NotPermitted => (
            S::FORBIDDEN,
            Rpc::Permission,
            FINAL,
            "A scope, an allowlist or a policy refuses the call.",
            "Use a credential that has the right, or ask an admin for it.",
        ),
        Kind::NotFound => {
            (S::NOT_FOUND, Rpc::Outcome, FINAL, "The object does not exist, or belongs to another org.", "Check the id.")
        }
        Kind::Conflict => (
            S::CONFLICT,
            Rpc::Outcome,
            FINAL,
            "The name is taken, or the current state does not allow the change.",
            "Read the current state and adjust the change.",
        ),
        Kind::SyntaxError => {
            (S::BAD_REQUEST, Rpc::Outcome, FINAL, "The write would add syntax errors.", "Correct the text and write it again.")
        }
        Kind::TooLarge => (
            S::PAYLOAD_TOO_LARGE,
            Rpc::Outcome,
            FINAL,
            "A value is larger than its limit.",
            "Send less at once; see [limits](limits.md).",
        ),
        Kind::Unavailable => (
            S::SERVICE_UNAVAILABLE,
            Rpc::Fault,
            RETRYABLE,
            "The store, an index or the disk is temporarily unavailable.",
            "Retry later.",
        ),
        Kind::Timeout => {
            (S::SERVICE_UNAVAILABLE, Rpc::Fault, RETRYABLE, "The call took too long.", "Retry later, or ask for less.")
        }
        Kind::PeerTimeout => {
            (S::INTERNAL_SERVER_ERROR, Rpc::Peer(-32201), RETRYABLE, "A peer agent took too long.", "Retry later.")
        }
        Kind::PeerTransport => {
            (S::INTERNAL_SERVER_ERROR, Rpc::Peer(-32202), RETRYABLE, "A peer agent could not be reached.", "Retry later.")
        }
        Kind::PeerInvalidResponse => (
            S::INTERNAL_SERVER_ERROR,
            Rpc::Peer(-32203),
            FINAL,
            "A peer agent sent an invalid response.",
            "Report it to the operator of that agent.",
        ),
        Kind::PeerTaskFailed => (
            S::INTERNAL_SERVER_ERROR,
            Rpc::Peer(-32204),
            FINAL,
            "A peer agent failed the task.",
            "Change the task, or give it to another agent.",
        ),
        Kind::Internal => (
            S::INTERNAL_SERVER_ERROR,
            Rpc::Fault,
            FINAL,
            "The server failed.",
            "Report it to the operator with the `x-request-id`.",
        ),
    };
    // A door answers this if it fails before it knows the caller.
    let door = if matches!(kind, Kind::Internal) { Some("Internal error") } else { None };
    (Entry { word: kind.word(), status, retryable, door, meaning, advice }, rpc)
}
