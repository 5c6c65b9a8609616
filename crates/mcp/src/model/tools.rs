//! `tools/list` and `tools/call`.

use std::borrow::Cow;
use std::sync::Arc;

use base::Error;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::era::Params;
use crate::model::{Content, InputResponses, Text};

/// One tool of the list. Serialise it once and keep the JSON: schemas are large.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name it is called by.
    pub name: Text,
    /// The name people read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// What it does, for the model.
    pub description: Text,
    /// What it takes: an object schema. Legacy clients also want every property's schema to be an object.
    pub input_schema: Arc<RawValue>,
    /// What its `structuredContent` looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<RawValue>>,
    /// How it behaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

/// How a tool behaves: hints for the person who approves calls, never a promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice does what calling it once does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// What a call asks.
#[derive(Clone, Debug)]
pub struct CallParams<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// Its arguments, unread; absent means none.
    pub arguments: Option<&'a RawValue>,
    /// Answers to what an earlier attempt asked for.
    pub responses: InputResponses<'a>,
    /// The state that came with those questions. Verify it before reading it.
    pub request_state: Option<Cow<'a, str>>,
}

impl<'a> CallParams<'a> {
    /// Reads a call.
    pub fn read(params: &Params<'a>) -> Result<Self, Error> {
        Ok(Self {
            name: params.name()?,
            arguments: params.arguments()?,
            responses: InputResponses::read(params)?,
            request_state: params.request_state()?,
        })
    }
}

/// What a call answers.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// What the model reads.
    pub content: Vec<Content>,
    /// What a program reads. Legacy clients take only an object here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Box<RawValue>>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl CallResult {
    /// A result that is only words.
    pub fn text(text: impl Into<Text>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// Words, and the typed payload behind them.
    pub fn structured<T: Serialize>(text: impl Into<Text>, payload: &T) -> Result<Self, Error> {
        let payload = to_raw_value(payload).map_err(|error| Error::internal(format!("cannot serialise a payload: {error}")))?;
        Ok(Self { structured_content: Some(payload), ..Self::text(text) })
    }

    /// A typed payload whose JSON is also the text.
    pub fn json<T: Serialize>(payload: &T) -> Result<Self, Error> {
        let mut result = Self::structured("", payload)?;
        result.content = result.structured_content.iter().map(|payload| Content::text(payload.get().to_owned())).collect();
        Ok(result)
    }

    /// The same, with one more block of words.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<Text>) -> Self {
        self.content.push(Content::text(text));
        self
    }

    /// How much there is to send, but for names and escapes.
    pub fn bytes(&self) -> usize {
        let content: usize = self.content.iter().map(Content::bytes).sum();
        content + self.structured_content.as_ref().map_or(0, |payload| payload.get().len())
    }

    /// A failure that the model can act on.
    pub fn failed(text: impl Into<Text>, details: &Value) -> Self {
        Self { structured_content: to_raw_value(details).ok(), is_error: true, ..Self::text(text) }
    }
}
