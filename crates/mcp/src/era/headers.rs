//! The headers of a modern request: they repeat parts of the body, and must agree with it.
//!
//! A proxy may route on the header while we act on the body, so a difference is refused, never resolved.

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

/// The version that the header names, which must be the body's if that names one.
pub(super) fn version<'h>(headers: &'h HeaderMap, named: Option<&str>) -> Result<&'h str, Fault> {
    let header = required(headers, VERSION)?;
    match named {
        Some(named) if named != header => Err(mismatch(VERSION)),
        _ => Ok(header),
    }
}

/// The header must name the body's method, letter for letter.
pub(super) fn method(headers: &HeaderMap, method: &str) -> Result<(), Fault> {
    if required(headers, METHOD)? == method { Ok(()) } else { Err(mismatch(METHOD)) }
}

/// The header must name the body's tool, prompt or resource, plainly or encoded.
pub(super) fn name(headers: &HeaderMap, name: &str) -> Result<(), Fault> {
    if decoded(NAME, required(headers, NAME)?)? == name { Ok(()) } else { Err(mismatch(NAME)) }
}

/// The one value of a header, without the white space around it.
pub(super) fn single<'h>(headers: &'h HeaderMap, header: &str) -> Result<Option<&'h str>, Fault> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::header(header, "stands there twice"));
    }
    value.to_str().map(|value| Some(trim(value))).map_err(|_| Fault::header(header, "has characters that no header may have"))
}

fn required<'h>(headers: &'h HeaderMap, header: &str) -> Result<&'h str, Fault> {
    single(headers, header)?.ok_or_else(|| Fault::header(header, "is missing"))
}

pub(super) fn decoded<'h>(header: &str, value: &'h str) -> Result<Cow<'h, str>, Fault> {
    decode(value).ok_or_else(|| Fault::header(header, "is not well encoded"))
}

pub(super) fn mismatch(header: &str) -> Fault {
    Fault::header(header, "does not match the body")
}

fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// What a header value stands for: `=?base64?…?=` is decoded, anything else is itself. `None` when the encoding is bad.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(Cow::Borrowed(value)),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

/// Whether the caller takes an event stream. Only its own words count: `*/*`, or nothing, means plain JSON.
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
    fn a_stream_must_be_asked_for_by_name() {
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
