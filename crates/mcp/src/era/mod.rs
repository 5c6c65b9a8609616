//! Determines the era of a request and checks the rules of that era.
//!
//! A request is *modern* if its `params._meta` names a protocol version, or if its `MCP-Protocol-Version` header names
//! 2026-07-28, a later date or something that is not a date. Every other request is *legacy*. Nothing here depends on earlier
//! requests.

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

/// The two eras of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: an `initialize` handshake; every JSON-RPC answer is HTTP 200.
    Legacy,
    /// 2026-07-28: every request is self-contained, and HTTP statuses have a meaning.
    Modern,
}

/// The HTTP headers of a request.
#[derive(Clone, Copy, Debug)]
pub struct Transport<'h>(pub &'h HeaderMap);

impl Transport<'_> {
    /// The era according to the headers alone. It decides how to answer an unreadable body, and a modern batch is refused as a
    /// whole.
    pub fn era(self) -> Era {
        if headers::name_modern(self.0) { Era::Modern } else { Era::Legacy }
    }

    /// The revision that decides how a failed request of `era` is answered.
    pub fn revision(self, era: Era) -> Revision {
        match era {
            Era::Modern => Revision::Modern,
            Era::Legacy if headers::name_late(self.0) => Revision::Late,
            Era::Legacy => Revision::Early,
        }
    }
}

/// A request that follows the rules of its era and names an existing method.
#[derive(Clone, Debug)]
pub struct Admitted<'a> {
    /// The era.
    pub era: Era,
    /// The method.
    pub method: Method,
    /// The members of `params` that several methods share.
    pub params: Params<'a>,
    /// The content of `_meta`.
    pub meta: Meta<'a>,
}

/// A request that breaks the rules of its era.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The era, which decides how the fault is answered.
    pub era: Era,
    /// What was wrong.
    pub fault: Fault,
}

/// Checks a request against the rules of its era.
///
/// # Errors
/// The first of these problems:
///
/// 1. `params` cannot be read.
/// 2. Modern: the protocol version in `_meta` is malformed, its header is missing or differs from it, or it is not supported.
/// 3. Modern: the header with the method is missing or differs from the body.
/// 4. The method is unknown.
/// 5. Modern: `_meta` lacks a required member, or a member is malformed.
/// 6. Modern: the header with the name of a tool, prompt or resource is missing or differs from the body.
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

/// The error for a modern request inside a batch, and for a batch with modern headers ([`Transport::era`]).
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
    let header = headers::version(transport.0, named.as_deref())?;
    if !version::SUPPORTED_MODERN.contains(&header) {
        return Err(Fault::version(header));
    }
    headers::method(transport.0, &request.method)?;
    let method = find(&request.method, Era::Modern)?;
    let meta = raw_meta.strict().map_err(Fault::meta)?;
    if let Some(member) = method.named_by() {
        // If a request names nothing, its method refuses it, because the method may have to record that.
        let name = if member == "uri" { params.uri() } else { params.name() };
        name.map_or(Ok(()), |name| headers::name(transport.0, &name))?;
    }
    Ok(Admitted { era: Era::Modern, method, params, meta })
}

#[cfg(test)]
mod tests;
