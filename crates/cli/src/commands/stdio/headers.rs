//! Derives the headers that the session door requires on modern requests from the message, because stdio has no headers.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::message::Envelope;

/// The `_meta` member with the version of a modern request. Legacy requests have none.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The headers for a message. A legacy message has none.
pub(super) fn headers_for(message: &Envelope<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let Some(params) = message.params.and_then(|params| serde_json::from_str::<Shallow<'_>>(params.get()).ok()) else {
        return headers;
    };
    let meta = params.meta.and_then(|meta| serde_json::from_str::<Value>(meta.get()).ok());
    let Some(version) = meta.as_ref().and_then(|meta| meta.get(VERSION)).and_then(Value::as_str) else {
        return headers;
    };
    let mut add = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    add("mcp-protocol-version", version);
    let method = message.method.as_deref().unwrap_or_default();
    add("mcp-method", method);
    let named = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        _ => None,
    };
    if let Some(name) = named.and_then(|name| serde_json::from_str::<String>(name.get()).ok()) {
        add("mcp-name", &encoded(&name));
    }
    headers
}

#[derive(serde::Deserialize)]
struct Shallow<'m> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m serde_json::value::RawValue>,
    #[serde(borrow)]
    name: Option<&'m serde_json::value::RawValue>,
    #[serde(borrow)]
    uri: Option<&'m serde_json::value::RawValue>,
}

/// Encodes a header value as `=?base64?…?=`, unless it is plain ASCII that stays unchanged in transit.
pub(super) fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let trimmed = value.trim_matches([' ', '\t']) == value && !value.is_empty();
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if plain && trimmed && !looks_encoded {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(message: &str) -> Vec<(String, String)> {
        let envelope: Envelope<'_> = serde_json::from_str(message).unwrap();
        let map = headers_for(&envelope);
        let mut pairs =
            map.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect::<Vec<_>>();
        pairs.sort();
        pairs
    }

    fn modern(method: &str, members: &str) -> Vec<(String, String)> {
        headers(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{"{VERSION}":"2026-07-28"}}{members}}}}}"#
        ))
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn legacy_message_has_no_headers() {
        assert!(headers(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kits.list"}}"#).is_empty());
        assert!(headers(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_empty());
        assert!(headers(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#).is_empty());
    }

    #[test]
    fn modern_message_has_version_method_and_name_headers() {
        let base = [("mcp-method", "tools/list"), ("mcp-protocol-version", "2026-07-28")];
        assert_eq!(modern("tools/list", r#","name":"ignored""#), pairs(&base));
        let call = [("mcp-method", "tools/call"), ("mcp-name", "kits.list"), ("mcp-protocol-version", "2026-07-28")];
        assert_eq!(modern("tools/call", r#","name":"kits.list","arguments":{}"#), pairs(&call));
        let read = [("mcp-method", "resources/read"), ("mcp-name", "test://a b"), ("mcp-protocol-version", "2026-07-28")];
        assert_eq!(modern("resources/read", r#","uri":"test://a b""#), pairs(&read));
    }

    #[test]
    fn names_invalid_in_headers_are_encoded() {
        for (name, value) in [
            ("kits.list", "kits.list"),
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            (" a", "=?base64?IGE=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("", "=?base64??="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(encoded(name), value, "{name:?}");
        }
    }

    #[test]
    fn name_of_the_wrong_type_gets_no_header() {
        assert_eq!(modern("tools/call", r#","name":5"#).len(), 2);
    }
}
