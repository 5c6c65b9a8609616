//! `prompts/list` and `prompts/get`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::Error;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::era::Params;
use crate::model::{Content, InputResponses, Role, Text};

/// One prompt of the list.
#[derive(Clone, Debug, Serialize)]
pub struct Prompt {
    /// Its name in requests.
    pub name: Text,
    /// Its display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// Its description.
    pub description: Text,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
}

/// One argument of a prompt, which is always text.
#[derive(Clone, Debug, Serialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: Text,
    /// Its description.
    pub description: Text,
    /// Whether it is required.
    pub required: bool,
}

/// The params of `prompts/get`.
#[derive(Clone, Debug)]
pub struct GetPromptParams<'a> {
    /// The prompt.
    pub name: Cow<'a, str>,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
    /// Answers to the questions of an earlier attempt.
    pub responses: InputResponses<'a>,
    /// The state of those questions. Verify it before use.
    pub request_state: Option<Cow<'a, str>>,
}

impl<'a> GetPromptParams<'a> {
    /// Reads the request.
    pub fn read(params: &Params<'a>) -> Result<Self, Error> {
        let arguments = serde_json::from_str(params.arguments()?.map_or("{}", RawValue::get));
        Ok(Self {
            name: params.name()?,
            arguments: arguments.map_err(|_| Error::invalid("arguments", "the arguments of a prompt must be strings"))?,
            responses: InputResponses::read(params)?,
            request_state: params.request_state()?,
        })
    }
}

/// A prompt with its arguments filled in.
#[derive(Clone, Debug, Serialize)]
pub struct GetPromptResult {
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The conversation it starts.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct PromptMessage {
    /// Its sender.
    pub role: Role,
    /// Its content.
    pub content: Content,
}
