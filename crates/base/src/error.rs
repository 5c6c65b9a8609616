//! One error type with a closed set of kinds. What each door says for a kind is decided in `mcp::codes`.
//!
//! An error carries two messages: one for the caller, and one for the log that never leaves the server.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Every failure the product can report, as the stable word in `error.data.kind`.
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
    /// Arguments that the schema, or the rows they name, do not bear out.
    InvalidParams,
    /// Scope, allowlist or policy says no.
    NotPermitted,
    /// A thing that a tool works on does not exist.
    NotFound,
    /// Someone else was faster, or the state does not allow it.
    Conflict,
    /// A write would add syntax errors.
    SyntaxError,
    /// Over a limit.
    TooLarge,
    /// The store, an index or the disk cannot be used now.
    Unavailable,
    /// It took too long.
    Timeout,
    /// A peer agent took too long.
    PeerTimeout,
    /// A peer agent could not be reached.
    PeerTransport,
    /// A peer agent answered nonsense.
    PeerInvalidResponse,
    /// A peer agent failed the task.
    PeerTaskFailed,
    /// A fault of ours.
    Internal,
}

impl Kind {
    /// Every kind, for the generated reference and the tests.
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

    /// Whether the same call may succeed later, unchanged.
    pub const fn retryable(self) -> bool {
        matches!(self, Kind::Unavailable | Kind::Timeout | Kind::PeerTimeout | Kind::PeerTransport)
    }

    /// What is said where nothing from inside may be said.
    pub const fn redacted_message(self) -> &'static str {
        match self {
            Kind::Unavailable => "the server cannot do this right now",
            Kind::Timeout => "the call took too long",
            _ => "the call failed inside the server",
        }
    }
}

/// A failure, with what the caller may know and what only the log may.
#[derive(Clone, Debug)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    kind: Kind,
    message: Cow<'static, str>,
    log: Option<String>,
    data: Map<String, Value>,
}

/// A result whose failure any door can speak.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` with a message for the caller: lower case, no full stop, user input in backticks.
    pub fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts { kind, message: message.into(), log: None, data: Map::new() }))
    }

    /// Bad arguments, naming the parameter (`path`, `operations[0].position`).
    pub fn invalid(parameter: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::InvalidParams, message).with("parameter", parameter)
    }

    /// A fault of ours: the caller learns nothing, the log everything.
    pub fn internal(log: impl std::fmt::Display) -> Self {
        Self::new(Kind::Internal, Kind::Internal.redacted_message()).logged(log)
    }

    /// The store cannot be used now.
    pub fn unavailable(log: impl std::fmt::Display) -> Self {
        Self::new(Kind::Unavailable, Kind::Unavailable.redacted_message()).logged(log)
    }

    /// Adds what only the log may say.
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

    /// What the caller reads.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the log reads beside it, if there is more to say.
    pub fn log(&self) -> Option<&str> {
        self.0.log.as_deref()
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
    fn the_words_of_the_kinds_are_all_different() {
        let words: std::collections::BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), Kind::ALL.len());
    }

    #[test]
    fn the_log_message_is_not_the_callers() {
        let error = Error::internal("no such table: secrets");
        assert!(!error.message().contains("secrets"));
        assert_eq!(error.log(), Some("no such table: secrets"));
    }
}
