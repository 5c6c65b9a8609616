//! The one table that maps a kind of error to the answer of each door and of the management API (contract, section 3).
//!
//! No other module knows a JSON-RPC code or a code of the management API. A redacted row lets no free text out: a fixed
//! sentence replaces the message, and the error's fields are dropped.

mod lines;
mod table;

use std::borrow::Cow;

use base::{Door, Kind, RequestId};
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::era::Revision;
use crate::fault::Fault;
use crate::method::Method;
use crate::model::CallResult;

pub use table::{Cause, Entry, Row, row};

/// A JSON-RPC error.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The JSON-RPC code.
    pub code: i64,
    /// The HTTP status, if the answer holds nothing else.
    pub status: StatusCode,
    /// The message for the caller.
    pub message: Cow<'static, str>,
    /// `kind`, `retryable`, `request_id` and the error's own fields.
    pub data: Map<String, Value>,
}

/// The answer to a failed `tools/call`.
#[derive(Debug)]
pub enum Spoken {
    /// As an error.
    Error(Failure),
    /// As a result with `isError`.
    Result(CallResult),
}

/// Formats faults for the door and revision of one request.
#[derive(Clone, Copy, Debug)]
pub struct Speaker<'r> {
    /// The door.
    pub door: Door,
    /// The request's revision.
    pub revision: Revision,
    /// The answer's `x-request-id`.
    pub request: &'r RequestId,
}

impl Speaker<'_> {
    /// The answer to a failed request. `method` is its method, if known.
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
        // Some clients show only the text, so it names every violation and not only the first.
        let text = failure.data.get("details").and_then(Value::as_str).map(str::to_owned);
        let text = text.map_or(failure.message, Cow::Owned);
        Spoken::Result(CallResult::failed(text, &json!({ "error": failure.data })))
    }

    /// The code of a failed `tools/call`, as an error or inside a result.
    pub fn code(&self, fault: &Fault) -> i64 {
        self.row(fault).code
    }

    /// The fault as a JSON-RPC error for any method.
    pub fn failure(&self, fault: &Fault) -> Failure {
        let row = self.row(fault);
        // Only the result of a tool can say that the tool failed. For other methods, the caller named something that does not
        // exist.
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
        data.insert("retryable".to_owned(), json!(Cause::Kind(kind).entry().retryable));
        data.insert("request_id".to_owned(), json!(self.request.as_str()));
        Failure { code: row.code, status: row.status, message, data }
    }
}

#[cfg(test)]
mod tests;
