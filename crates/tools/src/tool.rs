//! The definition of a tool, and what a call gives it to work with.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use base::{Clock, Error, Result, ToolNames};
use guard::{Capability, Effect, Permit, Spec};
use jsonschema::Validator;
use knowledge::Indexes;
use mcp::Fault;
use mcp::era::{ClientCapabilities, Era, ToolHeaders, Transport};
use mcp::model::{InputResponses, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::changes::Changes;
use crate::reply::{Answer, Reply};
use crate::schema;

/// A tool is one type in one file: a spec, an input, an output and a call.
pub trait Tool: Send + Sync + 'static {
    /// Name, rights and effect.
    const SPEC: Spec;
    /// The arguments. Their schema is listed and enforced.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The payload. Its schema is listed.
    type Output: Serialize + JsonSchema;

    /// Runs the tool. The gate has admitted the call and checked the arguments against the schema.
    fn call(&self, call: Call<'_>, input: Self::Input) -> impl Future<Output = Result<Answer<Self::Output>>> + Send;
}

/// One admitted call: who makes it, and what it can use.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Proof of admission, and access to the org's rows.
    pub permit: &'a Permit,
    /// What all tools share.
    pub services: &'a Services,
    /// What the client sent besides the arguments.
    pub exchange: &'a Exchange<'a>,
    /// Sends notifications to the client before the answer.
    pub notify: &'a dyn Notify,
}

/// What all tools share. The server makes it once.
pub struct Services {
    /// The clock.
    pub clock: Clock,
    /// Signs state that a client must send back unchanged.
    pub request_state_key: [u8; 32],
    /// The indexes for search by keywords and by meaning.
    pub indexes: Arc<Indexes>,
    /// The code of all projects: files, indexes and history.
    pub code: Arc<code::Codebases>,
    /// Notifies subscribers that a list or a resource has changed.
    pub changes: Changes,
}

/// What the client sent besides the arguments. Only tools that ask the client questions use it.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The era of the request.
    pub era: Era,
    /// The transport of the request.
    pub transport: Transport<'a>,
    /// The client's capabilities.
    pub client: ClientCapabilities,
    /// The client's answers to an earlier `input_required`.
    pub responses: Result<InputResponses<'a>>,
    /// The opaque state of an earlier `input_required`.
    pub request_state: Result<Option<Cow<'a, str>>>,
}

/// Sends notifications to a client that asked for them. For other clients it drops them.
pub trait Notify: Send + Sync {
    /// The call was admitted. A client that asked for notifications gets its event stream now, even if none will follow.
    fn begin(&self);
    /// The progress of the call. `progress` must increase with every call.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>);
    /// A log line, `level` as in RFC 5424 (`info`, `warning`, …).
    fn log(&self, level: &str, logger: Option<&str>, data: &Value);
}

/// A tool in a catalogue, with its type erased and its schemas compiled.
pub struct Registered {
    spec: Spec,
    input_schema: Value,
    output_schema: Option<Value>,
    /// Compiled on first use: an org may register thousands of tools and call only a few.
    validator: OnceLock<Validator>,
    headers: ToolHeaders,
    /// The definition in `tools/list`, for each spelling of the name.
    listed: [OnceLock<Arc<RawValue>>; 2],
    text_bytes: usize,
    run: Box<dyn Run>,
}

/// The future of a running call.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send + 'a>>;

/// A tool with its type erased.
pub trait Run: Send + Sync {
    /// Runs the tool. The gate has admitted the call and checked the arguments against the schema.
    fn run<'a>(&'a self, call: Call<'a>, arguments: Value) -> Running<'a>;
}

struct Typed<T>(T);

impl<T: Tool> Run for Typed<T> {
    fn run<'a>(&'a self, call: Call<'a>, arguments: Value) -> Running<'a> {
        Box::pin(async move {
            // The arguments match the schema, so serde refuses only what a schema cannot express.
            let input = serde_json::from_value(arguments)
                .map_err(|error| Error::invalid("arguments", "the arguments are invalid").logged(error))?;
            Ok(Reply::from_answer(self.0.call(call, input).await?)?)
        })
    }
}

impl Registered {
    /// Registers a typed built-in tool.
    pub(crate) fn typed<T: Tool>(tool: T) -> Result<Self> {
        let may_be_off = T::SPEC.needs == Capability::Graph;
        let output_schema = schema::output_schema::<T::Output>(may_be_off);
        Self::raw(T::SPEC, schema::input_schema::<T::Input>(), Some(output_schema), Typed(tool))
    }

    /// Registers a built-in tool whose schemas are data.
    pub(crate) fn raw(spec: Spec, input_schema: Value, output_schema: Option<Value>, run: impl Run + 'static) -> Result<Self> {
        let tool = Self::by_an_org(spec, input_schema, output_schema, run)?;
        tool.validator()?;
        Ok(tool)
    }

    /// Registers a tool of an org. The caller has checked its schemas.
    pub fn by_an_org(spec: Spec, input_schema: Value, output_schema: Option<Value>, run: impl Run + 'static) -> Result<Self> {
        let headers = ToolHeaders::of(&input_schema).map_err(Error::internal)?;
        let (validator, listed) = (OnceLock::new(), [OnceLock::new(), OnceLock::new()]);
        let schemas = input_schema.to_string().len() + output_schema.as_ref().map_or(0, |schema| schema.to_string().len());
        let text_bytes = spec.name.len() + spec.title.len() + spec.description.len() + schemas;
        Ok(Self { spec, input_schema, output_schema, validator, headers, listed, text_bytes, run: Box::new(run) })
    }

    fn validator(&self) -> Result<&Validator> {
        if let Some(validator) = self.validator.get() {
            return Ok(validator);
        }
        let validator = schema::compile(&self.input_schema)?;
        Ok(self.validator.get_or_init(|| validator))
    }

    /// The definition in `tools/list`.
    pub fn definition(&self, names: ToolNames) -> Result<Arc<RawValue>> {
        let [canonical, safe] = &self.listed;
        let (listed, name) = match names {
            ToolNames::Canonical => (canonical, Cow::Borrowed(&*self.spec.name)),
            ToolNames::Safe => (safe, self.spec.safe_name()),
        };
        if let Some(definition) = listed.get() {
            return Ok(Arc::clone(definition));
        }
        let definition = Arc::<RawValue>::from(to_raw_value(&self.described_as(name)).map_err(Error::internal)?);
        Ok(Arc::clone(listed.get_or_init(|| definition)))
    }

    fn described_as<'a>(&'a self, name: Cow<'a, str>) -> mcp::model::Tool<'a> {
        let spec = &self.spec;
        mcp::model::Tool {
            name,
            title: Some(Cow::Borrowed(&*spec.title)),
            description: Cow::Borrowed(&*spec.description),
            input_schema: &self.input_schema,
            output_schema: self.output_schema.as_ref(),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(spec.effect == Effect::ReadOnly),
                destructive_hint: Some(spec.effect == Effect::Destructive),
                idempotent_hint: Some(spec.idempotent),
                open_world_hint: Some(false),
            }),
        }
    }

    /// Name, rights and effect.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Roughly how many bytes of text its definition has.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The schema that arguments must match.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// The schema of the typed payload.
    pub fn output_schema(&self) -> Option<&Value> {
        self.output_schema.as_ref()
    }

    /// Reads `params.arguments`. The memory and graph tools ignore a `context` in them, because only the principal decides the
    /// tenant.
    pub fn arguments(&self, raw: Option<&RawValue>) -> Result<Value> {
        Ok(self.prepared(schema::arguments(raw)?))
    }

    /// Makes parsed arguments ready for the tool.
    pub fn prepared(&self, mut arguments: Map<String, Value>) -> Value {
        if matches!(self.spec.needs, Capability::Memory | Capability::Graph) {
            arguments.shift_remove("context");
        }
        Value::Object(arguments)
    }

    /// Checks arguments against the schema.
    pub fn check_schema(&self, arguments: &Value) -> Result<()> {
        schema::check(self.validator()?, arguments)
    }

    /// Checks arguments against the schema and, on modern requests, against the headers that repeat them.
    pub fn check(&self, arguments: &Value, exchange: &Exchange<'_>) -> Result<(), Fault> {
        self.check_schema(arguments)?;
        match exchange.era {
            Era::Legacy => Ok(()),
            Era::Modern => self.headers.check(exchange.transport, Some(arguments)),
        }
    }

    /// Runs an admitted call.
    pub async fn run(&self, call: Call<'_>, arguments: Value) -> Result<Reply, Fault> {
        self.run.run(call, arguments).await
    }
}

impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Registered").field(&self.spec.name).finish()
    }
}
