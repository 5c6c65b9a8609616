//! Errors on the wire: an error of the product, or one that the protocol defines.
//!
//! The specification gives each of the protocol's codes one fixed meaning. No other crate may define a code; it raises a
//! [`base::Error`], and [`crate::codes`] decides how to answer it.

use base::{Error, Kind};
use serde_json::{Map, Value, json};

use crate::era::version;

/// Members of a call's `params` that the client writes itself, not its model.
const BESIDE_ARGUMENTS: [&str; 2] = ["requestState", "inputResponses"];

/// A failed request, before it is formatted for its door.
#[derive(Clone, Debug)]
pub struct Fault {
    error: Error,
    rule: Option<Rule>,
    /// Whether it is about the arguments of a tool, so that the model can correct them.
    is_about_arguments: bool,
}

/// The rules of the protocol whose violation has its own code and status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A header is missing, malformed or does not match the body.
    Headers,
    /// The call needs a capability that the client did not declare.
    Capability,
    /// A protocol version that we do not support.
    Version,
    /// `_meta` lacks a member that every modern request needs.
    Meta,
}

impl Rule {
    /// The code that the specification fixes.
    pub const fn code(self) -> i64 {
        match self {
            Rule::Headers => -32020,
            Rule::Capability => -32021,
            Rule::Version => -32022,
            Rule::Meta => -32602,
        }
    }
}

/// A capability of the client that the server can use during a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientCapability {
    /// Asking its user (`elicitation/create`).
    Elicitation,
    /// Asking its model (`sampling/createMessage`).
    Sampling,
    /// Naming its roots (`roots/list`).
    Roots,
}

impl ClientCapability {
    /// The member of `clientCapabilities` that declares it.
    pub const fn word(self) -> &'static str {
        match self {
            ClientCapability::Elicitation => "elicitation",
            ClientCapability::Sampling => "sampling",
            ClientCapability::Roots => "roots",
        }
    }
}

impl Fault {
    /// A header is missing, malformed or does not match the body.
    pub fn header(header: &str, what: &str) -> Self {
        let error = Error::new(Kind::InvalidRequest, format!("the header `{header}` {what}")).with("header", header);
        Self { error, rule: Some(Rule::Headers), is_about_arguments: false }
    }

    /// The requested version is not supported. The caller can retry with a supported one.
    pub fn version(requested: &str) -> Self {
        let error = Error::new(Kind::InvalidRequest, "this protocol version is not supported")
            .with("requested", requested)
            .with("supported", json!(version::SUPPORTED_MODERN));
        Self { error, rule: Some(Rule::Version), is_about_arguments: false }
    }

    /// The call needs capabilities that the client did not declare.
    pub fn capabilities(missing: &[ClientCapability]) -> Self {
        let required: Map<String, Value> = missing.iter().map(|capability| (capability.word().to_owned(), json!({}))).collect();
        let error = Error::new(Kind::InvalidRequest, "the client did not declare a capability that this call needs")
            .with("requiredCapabilities", required);
        Self { error, rule: Some(Rule::Capability), is_about_arguments: false }
    }

    /// `_meta` lacks a member that every modern request needs, or it is malformed.
    pub fn meta(error: Error) -> Self {
        Self { error, rule: Some(Rule::Meta), is_about_arguments: false }
    }

    /// The same fault. If it is about the arguments of `tool`, it gets all fields for bad arguments: `parameter`, `violations`,
    /// `details` and `tool`.
    #[must_use]
    pub fn about_arguments_of(mut self, tool: &str) -> Self {
        let parameter = self.error.data().get("parameter").and_then(Value::as_str).unwrap_or("arguments").to_owned();
        let violations = self.error.data().get("violations").cloned();
        let is_beside_the_arguments = violations.is_none() && BESIDE_ARGUMENTS.contains(&parameter.as_str());
        if self.rule.is_some() || self.error.kind() != Kind::InvalidParams || is_beside_the_arguments {
            return self;
        }
        let violations = violations.unwrap_or_else(|| json!([{"parameter": parameter, "message": self.error.message()}]));
        let messages = violations.as_array().into_iter().flatten().filter_map(|violation| violation.get("message")?.as_str());
        let details = messages.collect::<Vec<_>>().join("; ");
        let error = self.error.with("details", details).with("parameter", parameter);
        self.error = error.with("violations", violations).with("tool", tool);
        self.is_about_arguments = true;
        self
    }

    /// Whether it is about the arguments of a tool.
    pub fn is_about_arguments(&self) -> bool {
        self.is_about_arguments
    }

    /// The error inside.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The violated rule of the protocol, if there is one.
    pub fn rule(&self) -> Option<Rule> {
        self.rule
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { error, rule: None, is_about_arguments: false }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Fault {}
