//! `params._meta`: version, capabilities, progress, logging and trace context of one request.
//!
//! A modern request must have some of these members, and they must be well formed. For legacy requests they are optional:
//! malformed ones are ignored and never refused.

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

/// The content of `_meta`, after the rules of the era were checked.
#[derive(Clone, Debug, Default)]
pub struct Meta<'a> {
    /// The client's capabilities. Legacy requests declare none.
    pub capabilities: ClientCapabilities,
    /// The token for progress notifications, if the client wants any. It is echoed verbatim, like an id.
    pub progress: Option<Id<'a>>,
    /// The minimum level of log messages that the client wants for this request. Absent means none.
    pub log_level: Option<LogLevel>,
    trace: RawTrace<'a>,
}

/// `traceparent`, `tracestate` and `baggage` as the client sent them.
#[derive(Clone, Copy, Debug, Default)]
struct RawTrace<'a> {
    parent: Option<&'a RawValue>,
    state: Option<&'a RawValue>,
    baggage: Option<&'a RawValue>,
}

/// W3C trace context. Values that are malformed or unsafe in a header are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace<'a> {
    /// The span that called us.
    pub parent: Option<Cow<'a, str>>,
    /// Vendor data. It is kept only with a parent.
    pub state: Option<Cow<'a, str>>,
    /// Application data.
    pub baggage: Option<Cow<'a, str>>,
}

/// The kinds of questions that a client can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    elicitation: bool,
    sampling: bool,
    roots: bool,
}

impl ClientCapabilities {
    /// Whether the client declared this capability.
    pub const fn has(self, capability: ClientCapability) -> bool {
        match capability {
            ClientCapability::Elicitation => self.elicitation,
            ClientCapability::Sampling => self.sampling,
            ClientCapability::Roots => self.roots,
        }
    }

    /// Refuses a call that needs capabilities which the client did not declare.
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

/// The members of `_meta` before the rules of the era are applied.
#[derive(Debug, Default)]
pub(super) struct RawMeta<'a> {
    version: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    client: Option<&'a RawValue>,
    log_level: Option<&'a RawValue>,
    progress: Option<&'a RawValue>,
    trace: RawTrace<'a>,
}

impl<'a> RawMeta<'a> {
    /// A `_meta` that is not an object counts as absent, so a modern request then lacks required members.
    pub(super) fn read(raw: Option<&'a RawValue>) -> Self {
        const NAMES: [&str; 8] =
            [VERSION, CAPABILITIES, CLIENT, LOG_LEVEL, "progressToken", "traceparent", "tracestate", "baggage"];
        let Some(Ok([version, capabilities, client, log_level, progress, parent, state, baggage])) =
            raw.map(|raw| object::members(raw.get(), &NAMES))
        else {
            return Self::default();
        };
        Self { version, capabilities, client, log_level, progress, trace: RawTrace { parent, state, baggage } }
    }

    /// Whether the request claims to be modern.
    pub(super) fn names_version(&self) -> bool {
        self.version.is_some()
    }

    /// The version in `_meta`.
    pub(super) fn version(&self) -> Result<Option<Cow<'a, str>>, Error> {
        Member::new(VERSION, self.version).optional_text()
    }

    /// The readable members, for a legacy request.
    pub(super) fn lenient(&self) -> Meta<'a> {
        Meta {
            capabilities: ClientCapabilities::default(),
            progress: self.progress.and_then(Id::legal),
            log_level: self.log_level.and_then(object::text).and_then(|word| LogLevel::parse(&word)),
            trace: self.trace,
        }
    }

    /// All members, which must be well formed, for a modern request.
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
        Member::new(CLIENT, self.client).optional_object()?;
        Ok(Meta { capabilities: declared, progress, log_level, trace: self.trace })
    }
}

impl<'a> Meta<'a> {
    /// The client's trace context, safe to forward in a header. It is checked here, because few calls forward it.
    pub fn trace(&self) -> Trace<'a> {
        let read = |raw: Option<&'a RawValue>, bytes_max: usize| {
            raw.and_then(object::text).filter(|value| value.len() <= bytes_max && value.bytes().all(is_header_safe))
        };
        let parent = read(self.trace.parent, 55).filter(|value| is_traceparent(value));
        let state = parent.as_ref().and_then(|_| read(self.trace.state, 512));
        Trace { parent, state, baggage: read(self.trace.baggage, 8_192) }
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
    fn legacy_requests_ignore_malformed_members() {
        let meta = read(r#"{"progressToken":"p","io.modelcontextprotocol/logLevel":"loud","baggage":7}"#).lenient();
        assert_eq!(meta.progress.unwrap().json(), "\"p\"");
        assert_eq!(meta.log_level, None);
        assert!(read(r#"{"progressToken":{}}"#).lenient().progress.is_none());
        assert!(read("[1]").lenient().progress.is_none());
    }

    #[test]
    fn only_valid_traces_are_kept() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        assert!(is_traceparent(parent));
        for bad in ["", "00", "00-0-0-0", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", &format!("{parent}-x")] {
            assert!(!is_traceparent(bad), "{bad}");
        }
        assert!(!is_traceparent(&parent.to_uppercase()));
        let split = read(r#"{"traceparent":"00-bad","tracestate":"a=1","baggage":"a\r\nb"}"#).lenient().trace();
        assert_eq!(split, Trace::default());
    }

    #[test]
    fn all_missing_capabilities_are_named() {
        let some = ClientCapabilities { sampling: true, ..ClientCapabilities::default() };
        assert!(some.require(&[ClientCapability::Sampling]).is_ok());
        let fault =
            some.require(&[ClientCapability::Elicitation, ClientCapability::Sampling, ClientCapability::Roots]).unwrap_err();
        assert_eq!(fault.error().data()["requiredCapabilities"].to_string(), r#"{"elicitation":{},"roots":{}}"#);
    }
}
