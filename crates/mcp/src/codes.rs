//! The one table from what went wrong to what each door says (contract, section 3).
//!
//! No other place in the product knows a JSON-RPC code. A redacted row never lets free text out: the kind's own words
//! stand in for the message, and none of the error's fields travel.

use std::borrow::Cow;

use base::{Door, Kind, RequestId};
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::era::Revision;
use crate::fault::Fault;
use crate::method::Method;
use crate::model::CallResult;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The JSON-RPC code; where the error becomes a result, the code inside it.
    pub code: i64,
    /// The HTTP status. Legacy answers are always 200.
    pub status: StatusCode,
    /// Whether only the kind may be told.
    pub redacted: bool,
    /// Whether `tools/call` answers it as a result with `isError: true`, which the model can act on. Of bad parameters, only
    /// a tool's own arguments are.
    pub is_result: bool,
}

/// The row for an error of `kind` at `door`, on a request of `revision`.
pub const fn row(kind: Kind, door: Door, revision: Revision) -> Row {
    let plain = Row { code: 0, status: StatusCode::OK, redacted: false, is_result: false };
    let modern = matches!(revision, Revision::Modern);
    match kind {
        Kind::ParseError => Row { code: -32700, status: pick(modern, StatusCode::BAD_REQUEST), ..plain },
        Kind::InvalidRequest => Row { code: -32600, status: pick(modern, StatusCode::BAD_REQUEST), ..plain },
        Kind::MethodNotFound => Row { code: -32601, status: pick(modern, StatusCode::NOT_FOUND), ..plain },
        // A modern -32601 would mean 404, so there an unknown tool is a bad parameter, as the specification has it.
        Kind::ToolNotFound => Row { code: if modern { -32602 } else { -32601 }, ..plain },
        Kind::InvalidParams => Row { code: -32602, is_result: !matches!(revision, Revision::Early), ..plain },
        Kind::NotPermitted => match door {
            Door::Session => Row { code: -32003, ..plain },
            Door::Agent => Row { code: -32001, ..plain },
        },
        Kind::NotFound | Kind::Conflict | Kind::SyntaxError | Kind::TooLarge => match (modern, door) {
            (true, _) => Row { code: -32000, is_result: true, ..plain },
            (false, Door::Session) => Row { code: -32000, ..plain },
            (false, Door::Agent) => Row { code: -32002, redacted: true, ..plain },
        },
        Kind::PeerTimeout => Row { code: -32201, is_result: modern, ..plain },
        Kind::PeerTransport => Row { code: -32202, is_result: modern, ..plain },
        Kind::PeerInvalidResponse => Row { code: -32203, is_result: modern, ..plain },
        Kind::PeerTaskFailed => Row { code: -32204, is_result: modern, ..plain },
        Kind::Unavailable | Kind::Timeout | Kind::Internal => match (modern, door) {
            // -32002 must not be sent on modern requests: there it once meant something else.
            (false, Door::Agent) => Row { code: -32002, redacted: true, ..plain },
            _ => Row { code: -32603, redacted: true, ..plain },
        },
    }
}

const fn pick(modern: bool, status: StatusCode) -> StatusCode {
    if modern { status } else { StatusCode::OK }
}

/// A JSON-RPC error, ready to be written.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The JSON-RPC code.
    pub code: i64,
    /// The HTTP status of an answer that holds nothing else.
    pub status: StatusCode,
    /// What the caller reads.
    pub message: Cow<'static, str>,
    /// `kind`, `retryable`, `request_id` and the error's own fields.
    pub data: Map<String, Value>,
}

/// How a failed `tools/call` is answered.
#[derive(Debug)]
pub enum Spoken {
    /// As an error.
    Error(Failure),
    /// As a result that says the tool failed.
    Result(CallResult),
}

/// Speaks faults the way one request's door and revision do.
#[derive(Clone, Copy, Debug)]
pub struct Speaker<'r> {
    /// The way in.
    pub door: Door,
    /// The request's revision.
    pub revision: Revision,
    /// The answer's `x-request-id`.
    pub request: &'r RequestId,
}

impl Speaker<'_> {
    /// The answer to a request that failed; `method` is what it asked, where that is known.
    pub fn speak(&self, fault: &Fault, method: Option<Method>) -> Spoken {
        let row = self.row(fault);
        let is_of_a_tool = method == Some(Method::ToolsCall);
        let is_for_the_model = fault.error().kind() != Kind::InvalidParams || fault.is_about_arguments();
        if !row.is_result || !is_of_a_tool || !is_for_the_model {
            return Spoken::Error(self.failure(fault));
        }
        let mut failure = self.compose(fault, row);
        failure.data.insert("code".to_owned(), json!(failure.code));
        failure.data.insert("message".to_owned(), json!(failure.message));
        // The text is all that some clients show: it names everything that is wrong, not only the first.
        let text = failure.data.get("details").and_then(Value::as_str).map(str::to_owned);
        let text = text.map_or(failure.message, Cow::Owned);
        Spoken::Result(CallResult::failed(text, &json!({ "error": failure.data })))
    }

    /// The code that a failed `tools/call` is answered with, as an error or inside a result.
    pub fn code(&self, fault: &Fault) -> i64 {
        self.row(fault).code
    }

    /// The fault as a JSON-RPC error, whatever was asked.
    pub fn failure(&self, fault: &Fault) -> Failure {
        let row = self.row(fault);
        // Only a tool's result can say that the tool failed. Elsewhere the caller named something that is not there.
        let code = if row.is_result { -32602 } else { row.code };
        self.compose(fault, Row { code, ..row })
    }

    fn row(&self, fault: &Fault) -> Row {
        match fault.rule() {
            Some(rule) => Row { code: rule.code(), status: StatusCode::BAD_REQUEST, redacted: false, is_result: false },
            None => row(fault.error().kind(), self.door, self.revision),
        }
    }

    fn compose(&self, fault: &Fault, row: Row) -> Failure {
        let error = fault.error();
        let kind = error.kind();
        let (message, mut data) = match row.redacted {
            true => (Cow::Borrowed(kind.redacted_message()), Map::new()),
            false => (Cow::Owned(error.message().to_owned()), error.data().clone()),
        };
        data.insert("kind".to_owned(), json!(kind.word()));
        data.insert("retryable".to_owned(), json!(kind.retryable()));
        data.insert("request_id".to_owned(), json!(self.request.as_str()));
        Failure { code: row.code, status: row.status, message, data }
    }
}

#[cfg(test)]
mod tests;
