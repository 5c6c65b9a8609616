//! Asks the caller for more input: a modern `tools/call`, `prompts/get` or `resources/read` may answer with questions and a
//! sealed state. The client then calls again with the answers.
//!
//! The answers and the state come from the client. Extra answers are ignored, and missing ones are asked for again. A state
//! must be sealed against tampering, use by another caller or for another request, and replay after it expires.

use std::borrow::Cow;

use base::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::era::{ClientCapabilities, Params};
use crate::fault::{ClientCapability, Fault};
use crate::model::{Content, Role, Text};
use crate::object;

/// A result that is a list of questions. Use [`crate::Stamp::input_required`] to write it.
#[derive(Clone, Debug, Default)]
pub struct InputRequired {
    /// The questions, each under the key of its answer.
    pub requests: Vec<(Text, InputRequest)>,
    /// State that the server needs again, sealed. Required if there are no questions.
    pub request_state: Option<String>,
}

impl InputRequired {
    /// Removes the questions that the client cannot answer, because it must not be asked those.
    ///
    /// # Errors
    /// If neither a question nor a state is left.
    pub fn for_client(mut self, client: ClientCapabilities) -> Result<Self, Fault> {
        let (asked, left_out): (Vec<_>, Vec<_>) = self.requests.into_iter().partition(|(_, request)| client.has(request.needs()));
        self.requests = asked;
        if self.requests.is_empty() && self.request_state.is_none() {
            let missing: Vec<_> = left_out.iter().map(|(_, request)| request.needs()).collect();
            return Err(Fault::capabilities(&missing));
        }
        Ok(self)
    }
}

impl Serialize for InputRequired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape<'a> {
            #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_map")]
            input_requests: &'a [(Text, InputRequest)],
            #[serde(skip_serializing_if = "Option::is_none")]
            request_state: Option<&'a str>,
        }
        fn as_map<S: Serializer>(requests: &&[(Text, InputRequest)], serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(requests.iter().map(|(key, request)| (key, request)))
        }
        Shape { input_requests: &self.requests, request_state: self.request_state.as_deref() }.serialize(serializer)
    }
}

/// One question.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "method", content = "params", rename_all_fields = "camelCase")]
pub enum InputRequest {
    /// For the user: fill in a form.
    #[serde(rename = "elicitation/create")]
    Elicit {
        /// The text for the user.
        message: Text,
        /// A flat object schema of primitives.
        requested_schema: Value,
    },
    /// For the model: continue from these messages.
    #[serde(rename = "sampling/createMessage")]
    Sample {
        /// The conversation so far.
        messages: Vec<SamplingMessage>,
        /// The maximum number of tokens of the answer.
        max_tokens: u32,
    },
    /// For the client: its working directories.
    #[serde(rename = "roots/list")]
    Roots {},
}

impl InputRequest {
    /// The capability that the client needs for this question.
    pub const fn needs(&self) -> ClientCapability {
        match self {
            InputRequest::Elicit { .. } => ClientCapability::Elicitation,
            InputRequest::Sample { .. } => ClientCapability::Sampling,
            InputRequest::Roots {} => ClientCapability::Roots,
        }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, Serialize)]
pub struct SamplingMessage {
    /// Its sender.
    pub role: Role,
    /// Its content.
    pub content: Content,
}

/// The answers in a request, by key, not parsed yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputResponses<'a>(Option<&'a RawValue>);

impl<'a> InputResponses<'a> {
    /// Reads the answers from `params`.
    pub fn read(params: &Params<'a>) -> Result<Self, Error> {
        params.input_responses().map(Self)
    }

    /// Whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The user's answer under `key`, if there is one.
    pub fn elicited(&self, key: &str) -> Result<Option<Elicited>, Error> {
        self.get(key)
    }

    /// The model's answer under `key`, if there is one.
    pub fn sampled(&self, key: &str) -> Result<Option<Sampled>, Error> {
        self.get(key)
    }

    /// The client's roots under `key`, if there are any.
    pub fn roots(&self, key: &str) -> Result<Option<Roots<'a>>, Error> {
        self.get(key)
    }

    fn get<T: Deserialize<'a>>(&self, key: &str) -> Result<Option<T>, Error> {
        let Some(all) = self.0 else { return Ok(None) };
        let wrong = || Error::invalid("inputResponses", format!("`inputResponses` has no readable answer for `{key}`"));
        let [found] = object::members(all.get(), &[key]).map_err(|_| wrong())?;
        found.map(|raw| serde_json::from_str(raw.get()).map_err(|_| wrong())).transpose()
    }
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Submitted the form.
    Accept,
    /// Declined.
    Decline,
    /// Closed the form.
    Cancel,
}

/// A submitted form.
#[derive(Clone, Debug, Deserialize)]
pub struct Elicited {
    /// What the user did.
    pub action: Action,
    /// The values, if the form was submitted.
    #[serde(default)]
    pub content: serde_json::Map<String, Value>,
}

/// The model's answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Sampled {
    /// Text, one block or several blocks: read it with [`Sampled::text`].
    pub content: Value,
    /// Which model.
    pub model: String,
    /// The sender.
    pub role: Role,
}

impl Sampled {
    /// The text of the answer.
    pub fn text(&self) -> String {
        let blocks = self.content.as_array().map_or(std::slice::from_ref(&self.content), Vec::as_slice);
        blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// The working directories of a client.
#[derive(Clone, Debug, Deserialize)]
pub struct Roots<'a> {
    /// The directories.
    #[serde(borrow)]
    pub roots: Vec<Root<'a>>,
}

/// One directory.
#[derive(Clone, Debug, Deserialize)]
pub struct Root<'a> {
    /// Its URI.
    #[serde(borrow)]
    pub uri: Cow<'a, str>,
    /// Its name.
    #[serde(borrow, default)]
    pub name: Option<Cow<'a, str>>,
}
