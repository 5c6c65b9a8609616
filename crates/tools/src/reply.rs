//! What a tool answers.

use base::Result;
use mcp::model::{CallResult, InputRequired};
use serde::Serialize;
use serde_json::json;

/// A typed tool's answer: a line for people and models to read, and the payload.
pub struct Answer<T> {
    /// The readable text; `None` means the payload's own JSON.
    pub text: Option<String>,
    /// The payload.
    pub payload: T,
}

impl<T> Answer<T> {
    /// An answer with a readable text.
    pub fn new(text: impl Into<String>, payload: T) -> Self {
        Self { text: Some(text.into()), payload }
    }

    /// An answer whose text is its JSON.
    pub fn json(payload: T) -> Self {
        Self { text: None, payload }
    }
}

/// An answer as the doors send it: a tool's, or with another result a prompt's.
#[derive(Debug)]
pub enum Reply<T = CallResult> {
    /// The work is done.
    Complete(T),
    /// The client is asked for more first.
    InputRequired(InputRequired),
}

impl Reply {
    pub(crate) fn from_answer<T: Serialize>(answer: &Answer<T>) -> Result<Self> {
        Ok(Self::Complete(match &answer.text {
            Some(text) => CallResult::structured(text.clone(), &answer.payload)?,
            None => CallResult::json(&answer.payload)?,
        }))
    }

    /// What a tool of the knowledge graph answers where the graph is off.
    pub fn switched_off() -> Result<Self> {
        let text = "The knowledge graph is off in this project.";
        Ok(Self::Complete(CallResult::structured(text.to_owned(), &json!({"disabled": true}))?))
    }

    /// How much there is to send.
    pub fn bytes(&self) -> usize {
        match self {
            Reply::Complete(result) => result.bytes(),
            Reply::InputRequired(_) => 0,
        }
    }

    /// Whether the tool itself says that it failed.
    pub fn is_error(&self) -> bool {
        matches!(self, Reply::Complete(result) if result.is_error)
    }
}
