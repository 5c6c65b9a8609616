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
    /// The name it is asked by.
    pub name: Text,
    /// The name people read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// What it is for.
    pub description: Text,
    /// What it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
}

/// One argument of a prompt: always text.
#[derive(Clone, Debug, Serialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: Text,
    /// What it is for.
    pub description: Text,
    /// Whether the prompt needs it.
    pub required: bool,
}

/// What `prompts/get` asks.
#[derive(Clone, Debug)]
pub struct GetPromptParams<'a> {
    /// The prompt.
    pub name: Cow<'a, str>,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
    /// Answers to what an earlier attempt asked for.
    pub responses: InputResponses<'a>,
    /// The state that came with those questions. Verify it before reading it.
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

/// A prompt, filled in.
#[derive(Clone, Debug, Serialize)]
pub struct GetPromptResult {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The conversation it starts.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}
