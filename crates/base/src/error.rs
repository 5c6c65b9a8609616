//! One error type with a closed set of kinds. `mcp::codes` maps each kind to an answer for each door and for the management API.
//!
//! An error has two messages: one for the caller, and one for the log, which never leaves the server.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

/// The kinds of errors. Their stable words are the values of `error.data.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The bytes are not JSON.
    ParseError,
    /// JSON, but not a JSON-RPC message.
    InvalidRequest,
    /// No such method.
    MethodNotFound,
    /// No such tool.
    ToolNotFound,
    /// Arguments that violate the schema, or name something that does not exist.
    InvalidParams,
    /// Refused by scope, allowlist or policy.
    NotPermitted,
    /// The object of a tool call does not exist.
    NotFound,
    /// A concurrent change came first, or the current state does not allow the change.
    Conflict,
    /// A write would add syntax errors.
    SyntaxError,
    /// Over a limit.
    TooLarge,
    /// The store, an index or the disk is temporarily unavailable.
    Unavailable,
    /// The call took too long.
    Timeout,
    /// A peer agent took too long.
    PeerTimeout,
    /// A peer agent could not be reached.
    PeerTransport,
    /// A peer agent sent an invalid response.
    PeerInvalidResponse,
    /// A peer agent failed the task.
    PeerTaskFailed,
    /// A bug or a failure inside the server.
    Internal,
}

impl Kind {
    /// All kinds, for the generated reference and the tests.
    pub const ALL: [Kind; 17] = [
        Kind::ParseError,
        Kind::InvalidRequest,
        Kind::MethodNotFound,
        Kind::ToolNotFound,
        Kind::InvalidParams,
        Kind::NotPermitted,
        Kind::NotFound,
        Kind::Conflict,
        Kind::SyntaxError,
        Kind::TooLarge,
        Kind::Unavailable,
        Kind::Timeout,
        Kind::PeerTimeout,
        Kind::PeerTransport,
        Kind::PeerInvalidResponse,
        Kind::PeerTaskFailed,
        Kind::Internal,
    ];

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::ParseError => "parse_error",
            Kind::InvalidRequest => "invalid_request",
            Kind::MethodNotFound => "method_not_found",
            Kind::ToolNotFound => "tool_not_found",
            Kind::InvalidParams => "invalid_params",
            Kind::NotPermitted => "not_permitted",
            Kind::NotFound => "not_found",
            Kind::Conflict => "conflict",
            Kind::SyntaxError => "syntax_error",
            Kind::TooLarge => "too_large",
            Kind::Unavailable => "unavailable",
            Kind::Timeout => "timeout",
            Kind::PeerTimeout => "peer_timeout",
            Kind::PeerTransport => "peer_transport",
            Kind::PeerInvalidResponse => "peer_invalid_response",
            Kind::PeerTaskFailed => "peer_task_failed",
            Kind::Internal => "internal",
        }
    }

    /// A general message, used where no details may leave the server.
    pub const fn redacted_message(self) -> &'static str {
        match self {
            Kind::Unavailable => "the server cannot do this right now",
            Kind::Timeout => "the call took too long",
            _ => "the call failed inside the server",
        }
    }
}

/// An error, with a message for the caller and an optional message for the log.
#[derive(Clone, Debug)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    kind: Kind,
    message: Cow<'static, str>,
    log: Option<String>,
    data: Map<String, Value>,
    carried: Option<Arc<dyn Any + Send + Sync>>,
}

/// A result whose error every door can report.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` with a message for the caller: lower case, no full stop, user input in backticks.
    pub fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts { kind, message: message.into(), log: None, data: Map::new(), carried: None }))
    }

    /// An error about arguments that names the parameter (`path`, `operations[0].position`).
    pub fn invalid(parameter: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::InvalidParams, message).with("parameter", parameter)
    }

    /// An error about something that does not exist, with its noun for programs (`project`).
    pub fn not_found(noun: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::NotFound, message).with("missing", noun)
    }

    /// An internal error. The details go to the log only.
    pub fn internal(log: impl std::fmt::Display) -> Self {
        Self::new(Kind::Internal, Kind::Internal.redacted_message()).logged(log)
    }

    /// The store is temporarily unavailable.
    pub fn unavailable(log: impl std::fmt::Display) -> Self {
        Self::new(Kind::Unavailable, Kind::Unavailable.redacted_message()).logged(log)
    }

    /// Wraps a domain's typed error, so that it can pass through code that returns only this type, such as a transaction of the
    /// store. The domain unwraps it with [`Error::carried`].
    pub fn carrying<E: std::error::Error + Send + Sync + 'static>(kind: Kind, failure: E) -> Self {
        let mut error = Self::new(kind, failure.to_string());
        error.0.carried = Some(Arc::new(failure));
        error
    }

    /// The wrapped typed error, if it is an `E`.
    pub fn carried<E: 'static>(&self) -> Option<&E> {
        self.0.carried.as_deref()?.downcast_ref()
    }

    /// Adds a message for the log.
    #[must_use]
    pub fn logged(mut self, log: impl std::fmt::Display) -> Self {
        self.0.log = Some(log.to_string());
        self
    }

    /// Adds a structured field for the caller.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.data.insert(field.to_owned(), value.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The message for the caller.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The additional message for the log, if there is one.
    pub fn log(&self) -> Option<&str> {
        self.0.log.as_deref()
    }

    /// The noun of what does not exist, if that is the error and it was given.
    pub fn missing(&self) -> Option<&str> {
        self.0.data.get("missing").and_then(Value::as_str)
    }

    /// The structured fields for the caller.
    pub fn data(&self) -> &Map<String, Value> {
        &self.0.data
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.0.kind.word(), self.0.message)?;
        match &self.0.log {
            Some(log) => write!(f, " ({log})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_word() {
        let words: std::collections::BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), Kind::ALL.len());
    }

    #[test]
    fn the_caller_does_not_see_the_log_message() {
        let error = Error::internal("no such table: secrets");
        assert!(!error.message().contains("secrets"));
        assert_eq!(error.log(), Some("no such table: secrets"));
    }
}
