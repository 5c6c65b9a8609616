//! What a tool is, and what it gets to work with.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use base::{Clock, Error, Result};
use guard::{Capability, Permit, Spec};
use jsonschema::Validator;
use knowledge::Indexes;
use mcp::Fault;
use mcp::era::{ClientCapabilities, Era, ToolHeaders, Transport};
use mcp::model::InputResponses;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::changes::Changes;
use crate::reply::{Answer, Reply};
use crate::schema;

/// A tool is one type in one file: a spec, an input, an output and a call.
pub trait Tool: Send + Sync + 'static {
    /// Name, rights and effect.
    const SPEC: Spec;
    /// What it takes; its schema is listed and enforced.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// What it gives; its schema is listed.
    type Output: Serialize + JsonSchema;

    /// Does the work. The gate has let the call in and checked the input's schema.
    fn call(&self, call: Call<'_>, input: Self::Input) -> impl Future<Output = Result<Answer<Self::Output>>> + Send;
}

/// One admitted call: whose it is, and what it may use.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Proof of admission, and the way to the org's rows.
    pub permit: &'a Permit,
    /// What tools share.
    pub services: &'a Services,
    /// What the client said beside the arguments.
    pub exchange: &'a Exchange<'a>,
    /// The way to tell the client something before the answer.
    pub notify: &'a dyn Notify,
}

/// What tools share, made once by the server.
pub struct Services {
    /// The time.
    pub clock: Clock,
    /// Signs what a client must carry back unchanged.
    pub request_state_key: [u8; 32],
    /// What finds things by words and by meaning.
    pub indexes: Arc<Indexes>,
    /// Tells subscribers that a list or a resource has changed.
    pub changes: Changes,
}

/// What the client said beside the arguments. Only tools that ask back look at it.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The era of the request.
    pub era: Era,
    /// What carried it.
    pub transport: Transport<'a>,
    /// What the client can do for us.
    pub client: ClientCapabilities,
    /// Answers to what an earlier `input_required` asked.
    pub responses: Result<InputResponses<'a>>,
    /// The opaque state that an earlier `input_required` gave out.
    pub request_state: Result<Option<Cow<'a, str>>>,
}

/// Notifications to a client that asked for them; others are dropped without a trace.
pub trait Notify: Send + Sync {
    /// The call was let in: a client that asked for notifications gets its stream now, whether or not there will be any.
    fn begin(&self);
    /// How far the work is. `progress` must rise from call to call.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>);
    /// A log line, `level` as in RFC 5424 (`info`, `warning`, …).
    fn log(&self, level: &str, logger: Option<&str>, data: &Value);
}

/// A tool in the list: its type is forgotten, its schemas are compiled.
pub struct Registered {
    spec: Spec,
    input_schema: Value,
    output_schema: Option<Value>,
    validator: Validator,
    headers: ToolHeaders,
    run: Box<dyn Run>,
}

/// What a running call comes to.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send + 'a>>;

/// A tool without its type.
pub(crate) trait Run: Send + Sync {
    fn run<'a>(&'a self, call: Call<'a>, arguments: Value) -> Running<'a>;
}

struct Typed<T>(T);

impl<T: Tool> Run for Typed<T> {
    fn run<'a>(&'a self, call: Call<'a>, arguments: Value) -> Running<'a> {
        Box::pin(async move {
            // The schema has passed; what serde still refuses, a schema cannot say.
            let input = serde_json::from_value(arguments)
                .map_err(|error| Error::invalid("arguments", "the arguments cannot be used").logged(error))?;
            Ok(Reply::from_answer(self.0.call(call, input).await?)?)
        })
    }
}

impl Registered {
    /// Takes a typed tool into the list.
    pub(crate) fn typed<T: Tool>(tool: T) -> Result<Self> {
        let may_be_off = T::SPEC.needs == Capability::Graph;
        let output_schema = schema::output_schema::<T::Output>(may_be_off);
        Self::raw(T::SPEC, schema::input_schema::<T::Input>(), Some(output_schema), Typed(tool))
    }

    /// Takes a tool into the list whose schemas are data.
    pub(crate) fn raw(spec: Spec, input_schema: Value, output_schema: Option<Value>, run: impl Run + 'static) -> Result<Self> {
        let validator = schema::compile(&input_schema)?;
        let headers = ToolHeaders::of(&input_schema).map_err(Error::internal)?;
        Ok(Self { spec, input_schema, output_schema, validator, headers, run: Box::new(run) })
    }

    /// Name, rights and effect.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The schema that arguments are checked against.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// The schema of the typed payload.
    pub fn output_schema(&self) -> Option<&Value> {
        self.output_schema.as_ref()
    }

    /// Reads `params.arguments`. To memory and the graph a `context` means nothing: whose they are, the principal says.
    pub fn arguments(&self, raw: Option<&RawValue>) -> Result<Value> {
        Ok(self.prepared(schema::arguments(raw)?))
    }

    /// Arguments that were read already, as the tool takes them.
    pub fn prepared(&self, mut arguments: Map<String, Value>) -> Value {
        if matches!(self.spec.needs, Capability::Memory | Capability::Graph) {
            arguments.shift_remove("context");
        }
        Value::Object(arguments)
    }

    /// Checks arguments against the schema.
    pub fn check_schema(&self, arguments: &Value) -> Result<()> {
        schema::check(&self.validator, arguments)
    }

    /// Checks arguments against the schema, and on modern requests against the headers that repeat them.
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
