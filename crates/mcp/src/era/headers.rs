//! The headers of a modern request. They repeat parts of the body and must match it.
//!
//! A proxy may route by the header while we act on the body, so a mismatch is always refused.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;

use super::version::{is_late, is_modern};
use crate::fault::Fault;

const VERSION: &str = "MCP-Protocol-Version";
const METHOD: &str = "Mcp-Method";
const NAME: &str = "Mcp-Name";

/// Whether the headers name a modern version.
pub(super) fn name_modern(headers: &HeaderMap) -> bool {
    headers.get_all(VERSION).iter().any(|value| value.to_str().map_or(true, |version| is_modern(trim(version))))
}

/// Whether the headers name a legacy version from 2025-11-25 on.
pub(super) fn name_late(headers: &HeaderMap) -> bool {
    headers.get_all(VERSION).iter().any(|value| value.to_str().is_ok_and(|version| is_late(trim(version))))
}

/// The version in the header. If the body has one too, they must be equal.
pub(super) fn version<'h>(headers: &'h HeaderMap, named: Option<&str>) -> Result<&'h str, Fault> {
    let header = required(headers, VERSION)?;
    match named {
        Some(named) if named != header => Err(mismatch(VERSION)),
        _ => Ok(header),
    }
}

/// The header must equal the body's method, including case.
pub(super) fn method(headers: &HeaderMap, method: &str) -> Result<(), Fault> {
    if required(headers, METHOD)? == method { Ok(()) } else { Err(mismatch(METHOD)) }
}

/// The header must name the body's tool, prompt or resource, plain or encoded.
pub(super) fn name(headers: &HeaderMap, name: &str) -> Result<(), Fault> {
    if decoded(NAME, required(headers, NAME)?)? == name { Ok(()) } else { Err(mismatch(NAME)) }
}

/// The single value of a header, without surrounding white space.
pub(super) fn single<'h>(headers: &'h HeaderMap, header: &str) -> Result<Option<&'h str>, Fault> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::header(header, "is given twice"));
    }
    value.to_str().map(|value| Some(trim(value))).map_err(|_| Fault::header(header, "has invalid characters"))
}

fn required<'h>(headers: &'h HeaderMap, header: &str) -> Result<&'h str, Fault> {
    single(headers, header)?.ok_or_else(|| Fault::header(header, "is missing"))
}

pub(super) fn decoded<'h>(header: &str, value: &'h str) -> Result<Cow<'h, str>, Fault> {
    decode(value).ok_or_else(|| Fault::header(header, "has an invalid encoding"))
}

pub(super) fn mismatch(header: &str) -> Fault {
    Fault::header(header, "does not match the body")
}

fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// Decodes a header value: `=?base64?…?=` is decoded, and anything else is literal. `None` if the encoding is invalid.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(Cow::Borrowed(value)),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

/// Whether the client accepts an event stream. It must name the type: `*/*` or no header means plain JSON.
pub fn accepts_event_stream(headers: &HeaderMap) -> bool {
    let values = headers.get_all(http::header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_stream = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("text/event-stream"));
        is_stream && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn encoded_values_are_read() {
        assert_eq!(decode("us-west1").as_deref(), Some("us-west1"));
        assert_eq!(decode("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(decode("=?base64?w6k=?=").as_deref(), Some("é"));
        assert_eq!(decode("=?base64??=").as_deref(), Some(""));
        for bad in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
        for literal in ["=?base64?SGVsbG8=", "SGVsbG8=", "=?BASE64?SGVsbG8=?="] {
            assert_eq!(decode(literal).as_deref(), Some(literal));
        }
    }

    #[test]
    fn a_stream_must_be_accepted_by_name() {
        let accepts = |value: &'static str| {
            accepts_event_stream(&HeaderMap::from_iter([(http::header::ACCEPT, HeaderValue::from_static(value))]))
        };
        assert!(accepts("application/json, text/event-stream") && accepts("Text/Event-Stream;q=0.5"));
        assert!(!accepts("*/*") && !accepts("application/json") && !accepts("text/event-stream;q=0"));
        assert!(!accepts_event_stream(&HeaderMap::new()));
    }

    #[test]
    fn a_header_has_one_value() {
        let mut headers = HeaderMap::new();
        assert_eq!(single(&headers, NAME).unwrap(), None);
        headers.append(NAME, HeaderValue::from_static("  a b\t"));
        assert_eq!(single(&headers, "mcp-name").unwrap(), Some("a b"));
        headers.append(NAME, HeaderValue::from_static("a b"));
        assert!(single(&headers, NAME).is_err());
        headers.insert(NAME, HeaderValue::from_bytes(b"\xc3\xa9").unwrap());
        assert!(single(&headers, NAME).is_err());
    }
}
