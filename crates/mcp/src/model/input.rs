//! Asking the caller for more: a modern `tools/call`, `prompts/get` or `resources/read` may answer with questions and a
//! sealed state, and is then called again with the answers.
//!
//! The answers and the state come from the client. Extra answers are ignored, missing ones are asked for again, and
//! whoever hands out a state must seal it against tampering, another caller, another request and old age.

use std::borrow::Cow;

use base::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::era::{ClientCapabilities, Params};
use crate::fault::{ClientCapability, Fault};
use crate::model::{Content, Role, Text};
use crate::object;

/// A result that is a list of questions. Write it with [`crate::Stamp::input_required`].
#[derive(Clone, Debug, Default)]
pub struct InputRequired {
    /// The questions, each under the key its answer comes back with.
    pub requests: Vec<(Text, InputRequest)>,
    /// What the server wants to know again, sealed. Needed when there are no questions.
    pub request_state: Option<String>,
}

impl InputRequired {
    /// Leaves out what the client cannot answer: it must not even be asked.
    ///
    /// # Errors
    /// When that leaves nothing, neither question nor state.
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
    /// To the person: fill in a form.
    #[serde(rename = "elicitation/create")]
    Elicit {
        /// What the person reads.
        message: Text,
        /// A flat object schema of primitives.
        requested_schema: Value,
    },
    /// To the model: go on from these messages.
    #[serde(rename = "sampling/createMessage")]
    Sample {
        /// The conversation so far.
        messages: Vec<SamplingMessage>,
        /// How much it may say.
        max_tokens: u32,
    },
    /// To the client: which directories it works in.
    #[serde(rename = "roots/list")]
    Roots {},
}

impl InputRequest {
    /// What the client must have declared to be asked this.
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
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Content,
}

/// The answers that came with a request, by key, unread.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputResponses<'a>(Option<&'a RawValue>);

impl<'a> InputResponses<'a> {
    /// Takes the answers out of `params`.
    pub fn read(params: &Params<'a>) -> Result<Self, Error> {
        params.input_responses().map(Self)
    }

    /// Whether the caller answered anything at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The person's answer under `key`, if there is one.
    pub fn elicited(&self, key: &str) -> Result<Option<Elicited>, Error> {
        self.get(key)
    }

    /// The model's answer under `key`, if there is one.
    pub fn sampled(&self, key: &str) -> Result<Option<Sampled>, Error> {
        self.get(key)
    }

    /// The client's roots under `key`, if it named them.
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

/// What the person did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Filled in the form.
    Accept,
    /// Said no.
    Decline,
    /// Closed it.
    Cancel,
}

/// A filled-in form.
#[derive(Clone, Debug, Deserialize)]
pub struct Elicited {
    /// What the person did.
    pub action: Action,
    /// The values, when the form was accepted.
    #[serde(default)]
    pub content: serde_json::Map<String, Value>,
}

/// What the model said.
#[derive(Clone, Debug, Deserialize)]
pub struct Sampled {
    /// Its words, or one block of them, or several: read with [`Sampled::text`].
    pub content: Value,
    /// Which model.
    pub model: String,
    /// Who spoke.
    pub role: Role,
}

impl Sampled {
    /// The words in it.
    pub fn text(&self) -> String {
        let blocks = self.content.as_array().map_or(std::slice::from_ref(&self.content), Vec::as_slice);
        blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// The directories a client works in.
#[derive(Clone, Debug, Deserialize)]
pub struct Roots<'a> {
    /// The directories.
    #[serde(borrow)]
    pub roots: Vec<Root<'a>>,
}

/// One directory.
#[derive(Clone, Debug, Deserialize)]
pub struct Root<'a> {
    /// Its address.
    #[serde(borrow)]
    pub uri: Cow<'a, str>,
    /// Its name.
    #[serde(borrow, default)]
    pub name: Option<Cow<'a, str>>,
}
