//! `tools/list` and `tools/call`.

use std::borrow::Cow;

use base::Error;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::model::{Content, Text};

/// One tool of the list. Serialise it once and keep the JSON, because schemas are large.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool<'a> {
    /// Its name in calls.
    pub name: Cow<'a, str>,
    /// Its display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'a, str>>,
    /// Its description, for the model.
    pub description: Cow<'a, str>,
    /// The schema of its arguments, an object schema. Legacy clients also require every property's schema to be an object.
    pub input_schema: &'a Value,
    /// The schema of its `structuredContent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<&'a Value>,
    /// Its behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

/// The behaviour of a tool: hints for the person who approves calls, not guarantees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice has the same effect as calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It accesses something outside this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// The result of a call.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// The content for the model.
    pub content: Vec<Content>,
    /// The content for programs. Legacy clients accept only an object here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Box<RawValue>>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl CallResult {
    /// A result with only text.
    pub fn text(text: impl Into<Text>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// Text and the typed payload.
    pub fn structured<T: Serialize>(text: impl Into<Text>, payload: &T) -> Result<Self, Error> {
        let payload = to_raw_value(payload).map_err(|error| Error::internal(format!("cannot serialise a payload: {error}")))?;
        Ok(Self { structured_content: Some(payload), ..Self::text(text) })
    }

    /// The same, with one more block of text.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<Text>) -> Self {
        self.content.push(Content::text(text));
        self
    }

    /// The approximate size in bytes, without member names and escapes.
    pub fn bytes(&self) -> usize {
        let content: usize = self.content.iter().map(Content::bytes).sum();
        content + self.structured_content.as_ref().map_or(0, |payload| payload.get().len())
    }

    /// A failure that the model can act on.
    pub fn failed(text: impl Into<Text>, details: &Value) -> Self {
        Self { structured_content: to_raw_value(details).ok(), is_error: true, ..Self::text(text) }
    }
}
