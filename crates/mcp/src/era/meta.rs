//! `params._meta`: version, capabilities, progress, logging and trace context of one request.
//!
//! A modern request must carry some of it, and carry it well formed. On legacy requests it is a courtesy: what cannot
//! be read is ignored, never a reason to refuse.

use std::borrow::Cow;

use base::Error;
use serde_json::value::RawValue;

use crate::fault::{ClientCapability, Fault};
use crate::message::Id;
use crate::model::LogLevel;
use crate::object::{self, Member};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What `_meta` said, once the era's rules were kept.
#[derive(Clone, Debug, Default)]
pub struct Meta<'a> {
    /// The client's own words about itself (`{name, version, …}`): for logs, never for decisions.
    pub client: Option<&'a RawValue>,
    /// What the client can do for us. Legacy requests declare nothing.
    pub capabilities: ClientCapabilities,
    /// The token that progress notifications must carry, if the caller wants any: echoed verbatim, like an id.
    pub progress: Option<Id<'a>>,
    /// The level from which the caller wants log messages of this request; absent means none.
    pub log_level: Option<LogLevel>,
    /// The caller's trace, fit to be passed on in a header.
    pub trace: Trace<'a>,
}

/// W3C trace context. Values that are malformed, or unfit for a header, are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace<'a> {
    /// The span that called us.
    pub parent: Option<Cow<'a, str>>,
    /// What its vendors added; kept only beside a parent.
    pub state: Option<Cow<'a, str>>,
    /// What its application added.
    pub baggage: Option<Cow<'a, str>>,
}

/// Which questions a client can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    elicitation: bool,
    sampling: bool,
    roots: bool,
}

impl ClientCapabilities {
    /// Whether the client declared it.
    pub const fn has(self, capability: ClientCapability) -> bool {
        match capability {
            ClientCapability::Elicitation => self.elicitation,
            ClientCapability::Sampling => self.sampling,
            ClientCapability::Roots => self.roots,
        }
    }

    /// Refuses a call that needs what the client did not declare.
    pub fn require(self, needed: &[ClientCapability]) -> Result<(), Fault> {
        let missing: Vec<_> = needed.iter().copied().filter(|capability| !self.has(*capability)).collect();
        if missing.is_empty() { Ok(()) } else { Err(Fault::capabilities(&missing)) }
    }

    fn read(raw: &RawValue) -> Option<Self> {
        let found = object::members(raw.get(), &["elicitation", "sampling", "roots"]).ok()?;
        let [elicitation, sampling, roots] = found.map(|raw| raw.is_some_and(object::is_object));
        Some(Self { elicitation, sampling, roots })
    }
}

/// The members of `_meta` before the era's rules were applied.
#[derive(Debug, Default)]
pub(super) struct RawMeta<'a> {
    version: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    client: Option<&'a RawValue>,
    log_level: Option<&'a RawValue>,
    progress: Option<&'a RawValue>,
    traceparent: Option<&'a RawValue>,
    tracestate: Option<&'a RawValue>,
    baggage: Option<&'a RawValue>,
}

impl<'a> RawMeta<'a> {
    /// A `_meta` that is no object reads like an absent one; modern requests then lack what they need.
    pub(super) fn read(raw: Option<&'a RawValue>) -> Self {
        const NAMES: [&str; 8] =
            [VERSION, CAPABILITIES, CLIENT, LOG_LEVEL, "progressToken", "traceparent", "tracestate", "baggage"];
        let Some(Ok([version, capabilities, client, log_level, progress, traceparent, tracestate, baggage])) =
            raw.map(|raw| object::members(raw.get(), &NAMES))
        else {
            return Self::default();
        };
        Self { version, capabilities, client, log_level, progress, traceparent, tracestate, baggage }
    }

    /// Whether the request says that it is modern.
    pub(super) fn names_version(&self) -> bool {
        self.version.is_some()
    }

    /// The version it names.
    pub(super) fn version(&self) -> Result<Option<Cow<'a, str>>, Error> {
        Member::new(VERSION, self.version).optional_text()
    }

    /// What can be read, for a legacy request.
    pub(super) fn lenient(&self) -> Meta<'a> {
        Meta {
            client: self.client,
            capabilities: ClientCapabilities::default(),
            progress: self.progress.and_then(Id::legal),
            log_level: self.log_level.and_then(object::text).and_then(|word| LogLevel::parse(&word)),
            trace: self.trace(),
        }
    }

    /// Everything, well formed, for a modern request.
    pub(super) fn strict(&self) -> Result<Meta<'a>, Error> {
        Member::new(VERSION, self.version).text()?;
        let capabilities = Member::new(CAPABILITIES, self.capabilities);
        let declared = ClientCapabilities::read(capabilities.required()?).ok_or_else(|| capabilities.must_be("an object"))?;
        let token = Member::new("progressToken", self.progress);
        let progress = token.raw().map(|raw| Id::legal(raw).ok_or_else(|| token.must_be("a string or a number"))).transpose()?;
        let level = Member::new(LOG_LEVEL, self.log_level);
        let log_level = match level.optional_text()? {
            Some(word) => Some(LogLevel::parse(&word).ok_or_else(|| level.must_be("a log level"))?),
            None => None,
        };
        Ok(Meta {
            client: Member::new(CLIENT, self.client).optional_object()?,
            capabilities: declared,
            progress,
            log_level,
            trace: self.trace(),
        })
    }

    fn trace(&self) -> Trace<'a> {
        let read = |raw: Option<&'a RawValue>, bytes_max: usize| {
            raw.and_then(object::text).filter(|value| value.len() <= bytes_max && value.bytes().all(is_header_safe))
        };
        let parent = read(self.traceparent, 55).filter(|value| is_traceparent(value));
        let state = parent.as_ref().and_then(|_| read(self.tracestate, 512));
        Trace { parent, state, baggage: read(self.baggage, 8_192) }
    }
}

fn is_header_safe(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

/// `00-<32 hex>-<16 hex>-<2 hex>`, neither id all zero.
fn is_traceparent(value: &str) -> bool {
    let mut parts = value.split('-');
    let mut hex = |digits: usize| {
        parts
            .next()
            .is_some_and(|part| part.len() == digits && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    let well_formed = hex(2) && hex(32) && hex(16) && hex(2) && parts.next().is_none();
    let mut ids = value.split('-').skip(1).take(2);
    well_formed && value.starts_with("00-") && ids.all(|id| id.bytes().any(|byte| byte != b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &'static str) -> RawMeta<'static> {
        RawMeta::read(Some(serde_json::from_str(json).unwrap()))
    }

    #[test]
    fn legacy_takes_what_it_can_read() {
        let meta = read(r#"{"progressToken":"p","io.modelcontextprotocol/logLevel":"loud","baggage":7}"#).lenient();
        assert_eq!(meta.progress.unwrap().json(), "\"p\"");
        assert_eq!(meta.log_level, None);
        assert!(read(r#"{"progressToken":{}}"#).lenient().progress.is_none());
        assert!(read("[1]").lenient().progress.is_none());
    }

    #[test]
    fn traces_are_kept_only_when_fit_to_pass_on() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        assert!(is_traceparent(parent));
        for bad in ["", "00", "00-0-0-0", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", &format!("{parent}-x")] {
            assert!(!is_traceparent(bad), "{bad}");
        }
        assert!(!is_traceparent(&parent.to_uppercase()));
        let split = read(r#"{"traceparent":"00-bad","tracestate":"a=1","baggage":"a\r\nb"}"#).lenient().trace;
        assert_eq!(split, Trace::default());
    }

    #[test]
    fn a_call_names_every_capability_it_misses() {
        let some = ClientCapabilities { sampling: true, ..ClientCapabilities::default() };
        assert!(some.require(&[ClientCapability::Sampling]).is_ok());
        let fault =
            some.require(&[ClientCapability::Elicitation, ClientCapability::Sampling, ClientCapability::Roots]).unwrap_err();
        assert_eq!(fault.error().data()["requiredCapabilities"].to_string(), r#"{"elicitation":{},"roots":{}}"#);
    }
}
