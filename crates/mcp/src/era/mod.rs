//! Which era a request belongs to, and whether it keeps that era's rules.
//!
//! A request is *modern* when its `params._meta` names a protocol version, or when its `MCP-Protocol-Version` header names
//! 2026-07-28, a later date or no date at all; everything else is *legacy*. Nothing here remembers an earlier request.

mod headers;
mod meta;
mod params;
mod tool_headers;
pub mod version;

use base::{Error, Kind};
use http::HeaderMap;

pub use headers::{accepts_event_stream, decode};
pub use meta::{ClientCapabilities, Meta, Trace};
pub use params::Params;
pub use tool_headers::ToolHeaders;
pub use version::Revision;

use crate::fault::Fault;
use crate::message::Request;
use crate::method::Method;

/// The two ways MCP has been spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: an `initialize` handshake; every JSON-RPC answer is HTTP 200.
    Legacy,
    /// 2026-07-28: every request carries what it needs; statuses mean something.
    Modern,
}

impl Era {
    /// The word in metrics and logs.
    pub const fn word(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

/// What carried a request: only HTTP has headers to check.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'h> {
    /// A POST with these headers.
    Http(&'h HeaderMap),
    /// A line of stdio.
    Stdio,
}

impl Transport<'_> {
    /// The era that the headers alone tell. It decides how a body that cannot be read is answered, and a modern one
    /// means that a batch is refused as a whole.
    pub fn era(self) -> Era {
        match self {
            Transport::Http(headers) if headers::name_modern(headers) => Era::Modern,
            Transport::Http(_) | Transport::Stdio => Era::Legacy,
        }
    }

    /// How a request of `era` that came this way is answered when it fails.
    pub fn revision(self, era: Era) -> Revision {
        match (era, self) {
            (Era::Modern, _) => Revision::Modern,
            (Era::Legacy, Transport::Http(headers)) if headers::name_late(headers) => Revision::Late,
            (Era::Legacy, _) => Revision::Early,
        }
    }
}

/// A request that keeps the rules of its era and names a method that exists there.
#[derive(Clone, Debug)]
pub struct Admitted<'a> {
    /// The era.
    pub era: Era,
    /// The method.
    pub method: Method,
    /// The members of `params` that several methods share.
    pub params: Params<'a>,
    /// What `_meta` said.
    pub meta: Meta<'a>,
}

/// A request that does not.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The era, which decides how the fault is spoken.
    pub era: Era,
    /// What was wrong.
    pub fault: Fault,
}

/// Checks a request against the rules of its era.
///
/// # Errors
/// In this order: unreadable `params`; on modern requests the protocol version's header, the version, `_meta` and the
/// method's header; an unknown method; on modern requests the name's header.
pub fn admit<'a>(request: &Request<'a>, transport: Transport<'_>) -> Result<Admitted<'a>, Refused> {
    let header_era = transport.era();
    let params = Params::read(request.params).map_err(|error| Refused { era: header_era, fault: error.into() })?;
    let raw_meta = meta::RawMeta::read(params.meta());
    let era = match header_era {
        Era::Legacy if raw_meta.names_version() => Era::Modern,
        era => era,
    };
    let admitted = match era {
        Era::Legacy => admit_legacy(request, params, &raw_meta),
        Era::Modern => admit_modern(request, params, &raw_meta, transport),
    };
    admitted.map_err(|fault| Refused { era, fault })
}

/// The refusal of a modern request inside a batch, and of a whole batch whose headers are modern ([`Transport::era`]).
pub fn no_modern_batch() -> Fault {
    Error::new(Kind::InvalidRequest, "a request of this protocol version cannot be part of a batch").into()
}

fn find(name: &str, era: Era) -> Result<Method, Error> {
    Method::find(name, era).ok_or_else(|| Error::new(Kind::MethodNotFound, "no such method"))
}

fn admit_legacy<'a>(request: &Request<'a>, params: Params<'a>, meta: &meta::RawMeta<'a>) -> Result<Admitted<'a>, Fault> {
    let method = find(&request.method, Era::Legacy)?;
    Ok(Admitted { era: Era::Legacy, method, params, meta: meta.lenient() })
}

fn admit_modern<'a>(
    request: &Request<'a>,
    params: Params<'a>,
    raw_meta: &meta::RawMeta<'a>,
    transport: Transport<'_>,
) -> Result<Admitted<'a>, Fault> {
    let named = raw_meta.version().map_err(Fault::meta)?;
    if let Transport::Http(headers) = transport {
        let header = headers::version(headers, named.as_deref())?;
        if !version::SUPPORTED_MODERN.contains(&header) {
            return Err(Fault::version(header));
        }
    } else if let Some(named) = &named
        && !version::SUPPORTED_MODERN.contains(&&**named)
    {
        return Err(Fault::version(named));
    }
    if let Transport::Http(headers) = transport {
        headers::method(headers, &request.method)?;
    }
    let method = find(&request.method, Era::Modern)?;
    let meta = raw_meta.strict().map_err(Fault::meta)?;
    if let (Transport::Http(headers), Some(member)) = (transport, method.named_by()) {
        // A request that names nothing is refused by its method, which may have to put that on record.
        let name = if member == "uri" { params.uri() } else { params.name() };
        name.map_or(Ok(()), |name| headers::name(headers, &name))?;
    }
    Ok(Admitted { era: Era::Modern, method, params, meta })
}

#[cfg(test)]
mod tests;
