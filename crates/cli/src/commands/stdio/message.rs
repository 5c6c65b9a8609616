//! Parses the parts of a line that the bridge needs, and builds the bridge's own error responses.

use std::borrow::Cow;

use base::{Door, Kind};
use mcp::codes;
use mcp::era::Revision;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The parts of a message that the bridge needs.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<'m> {
    /// The id, as the client wrote it.
    #[serde(borrow, default)]
    pub(super) id: Option<&'m RawValue>,
    /// The method. A response from the client has none.
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'m, str>>,
    /// The params, not parsed.
    #[serde(borrow, default)]
    pub(super) params: Option<&'m RawValue>,
}

/// The content of a line.
#[derive(Debug)]
pub(super) enum Line<'m> {
    /// One message.
    Message(Envelope<'m>),
    /// A batch, with the ids of its requests.
    Batch(Vec<&'m RawValue>),
    /// JSON that is not a message. The server reports the error.
    Other,
    /// Not JSON.
    Garbage,
}

impl<'m> Line<'m> {
    /// Parses a line.
    pub(super) fn read(text: &'m str) -> Self {
        // Some shells write a byte order mark first.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Ok(envelope) = serde_json::from_str(text)
            && text.trim_start().starts_with('{')
        {
            return Line::Message(envelope);
        }
        if let Ok(messages) = serde_json::from_str::<Vec<&RawValue>>(text) {
            let id = |message: &&'m RawValue| {
                let envelope = serde_json::from_str::<Envelope<'m>>(message.get()).ok()?;
                envelope.method.and(envelope.id)
            };
            return Line::Batch(messages.iter().filter_map(id).collect());
        }
        if serde_json::from_str::<&RawValue>(text).is_ok() { Line::Other } else { Line::Garbage }
    }
}

impl Envelope<'_> {
    /// The version that this message negotiates, if it is a legacy `initialize`.
    pub(super) fn negotiates(&self) -> Option<&'static str> {
        if self.method.as_deref() != Some("initialize") {
            return None;
        }
        let params: Option<Value> = self.params.and_then(|params| serde_json::from_str(params.get()).ok());
        let requested = params.as_ref().and_then(|params| params.get("protocolVersion")?.as_str());
        Some(mcp::era::version::negotiate(requested))
    }

    /// The id of the request that this message cancels, in the form of [`id_key`].
    pub(super) fn cancels(&self) -> Option<String> {
        if self.method.as_deref() != Some("notifications/cancelled") || self.id.is_some() {
            return None;
        }
        let params: Value = serde_json::from_str(self.params?.get()).ok()?;
        params.get("requestId").filter(|id| !id.is_null()).map(Value::to_string)
    }
}

/// Normalizes an id, because JSON can spell the same id in several ways.
pub(super) fn id_key(id: &RawValue) -> String {
    serde_json::from_str::<Value>(id.get()).map_or_else(|_| id.get().to_owned(), |value| value.to_string())
}

/// Why there is no response from the server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    /// Its line in the table of errors.
    pub(super) kind: Kind,
    /// Whether a retry may succeed.
    pub(super) retryable: bool,
    /// What is wrong and what to do.
    pub(super) message: String,
    /// Further members of `error.data`.
    pub(super) more: Vec<(&'static str, Value)>,
}

impl Failure {
    pub(super) fn new(kind: Kind, retryable: bool, message: impl Into<String>) -> Self {
        Self { kind, retryable, message: message.into(), more: Vec::new() }
    }

    /// The error as a response to `id`.
    fn response(&self, id: Option<&RawValue>) -> String {
        let code = codes::row(self.kind, Door::Session, Revision::Early).code;
        let mut data = json!({ "kind": self.kind.word(), "retryable": self.retryable });
        if let Some(members) = data.as_object_mut() {
            // The server's request id in `more`, if any, replaces this one.
            members.insert("request_id".to_owned(), json!(base::RequestId::next().as_str()));
            members.extend(self.more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        let error = json!({ "code": code, "message": self.message, "data": data });
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.map_or("null", RawValue::get))
    }

    /// The error line for a request, or for every request of a batch.
    pub(super) fn line(&self, ids: &[&RawValue], is_batch: bool) -> String {
        let responses = ids.iter().map(|id| self.response(Some(id))).collect::<Vec<_>>();
        if is_batch { format!("[{}]", responses.join(",")) } else { responses.join("") }
    }

    /// The error line for input that cannot be parsed.
    pub(super) fn parse_error(&self) -> String {
        self.response(None)
    }
}

/// Converts an HTTP error without a JSON-RPC body.
pub(super) fn failure_of(status: u16, reason: Option<&str>, retry_after: Option<u64>, request_id: Option<String>) -> Failure {
    let reason = reason.unwrap_or("no reason given");
    let mut failure = match status {
        401 => Failure::new(Kind::NotPermitted, false, "session ended or key revoked (401); restart `toolcrib stdio`"),
        403 => Failure::new(Kind::NotPermitted, false, format!("the server refused this session (403 {reason})")),
        404 => Failure::new(Kind::NotFound, false, "session not found (404); restart `toolcrib stdio`"),
        410 => Failure::new(Kind::NotFound, false, "session ended (410); restart `toolcrib stdio`"),
        413 => Failure::new(Kind::TooLarge, false, format!("the message is too large for the server (413 {reason})")),
        429 => Failure::new(Kind::Unavailable, true, "too many requests (429); wait and try again"),
        500 => Failure::new(Kind::Internal, false, "internal server error (500)"),
        502..=504 => Failure::new(Kind::Unavailable, true, format!("the server is unavailable ({status}); try again later")),
        _ => Failure::new(Kind::Internal, false, format!("unexpected server response: {status} ({reason})")),
    };
    failure.more.extend(retry_after.map(|seconds| ("retry_after_seconds", json!(seconds))));
    failure.more.extend(request_id.map(|id| ("request_id", json!(id))));
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(line: &str) -> Vec<String> {
        match Line::read(line) {
            Line::Batch(ids) => ids.iter().map(|id| id.get().to_owned()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn kinds_of_lines_are_distinguished() {
        assert!(
            matches!(Line::read(r#" {"jsonrpc":"2.0","id":1,"method":"ping"}"#), Line::Message(e) if e.id.unwrap().get() == "1")
        );
        assert!(matches!(Line::read(r#"{"method":"ping","id":null}"#), Line::Message(e) if e.id.is_none()));
        assert_eq!(ids(r#"[{"method":"a","id":"x"},{"method":"n"},{"id":3,"result":{}},5]"#), ["\"x\""]);
        assert!(ids("[]").is_empty());
        assert!(matches!(Line::read("5"), Line::Other));
        assert!(matches!(Line::read(r#"{"method":5,"id":1}"#), Line::Other));
        assert!(matches!(Line::read("{nonsense"), Line::Garbage));
        assert!(matches!(Line::read("{} {}"), Line::Garbage));
        assert!(matches!(Line::read("\u{feff}{\"method\":\"ping\"}"), Line::Message(_)));
    }

    #[test]
    fn initialize_negotiates_a_version() {
        let negotiates = |line: &'static str| match Line::read(line) {
            Line::Message(envelope) => envelope.negotiates(),
            other => panic!("{other:?}"),
        };
        assert_eq!(negotiates(r#"{"method":"initialize","id":1,"params":{"protocolVersion":"2025-06-18"}}"#), Some("2025-06-18"));
        assert_eq!(negotiates(r#"{"method":"initialize","id":1,"params":{"protocolVersion":"2099-01-01"}}"#), Some("2025-11-25"));
        assert_eq!(negotiates(r#"{"method":"initialize","id":1}"#), Some("2024-11-05"));
        assert_eq!(negotiates(r#"{"method":"ping","id":1,"params":{"protocolVersion":"2025-06-18"}}"#), None);
    }

    #[test]
    fn cancellation_gives_the_request_id() {
        let cancels = |line: &'static str| match Line::read(line) {
            Line::Message(envelope) => envelope.cancels(),
            other => panic!("{other:?}"),
        };
        let raw = |json: &'static str| serde_json::from_str::<&RawValue>(json).unwrap();
        assert_eq!(
            cancels(r#"{"method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#),
            Some(id_key(raw("\"a\"")))
        );
        assert_eq!(cancels(r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#), Some(id_key(raw(" 7"))));
        assert_eq!(cancels(r#"{"method":"notifications/initialized"}"#), None);
        assert_eq!(cancels(r#"{"method":"notifications/cancelled","params":{}}"#), None);
    }

    #[test]
    fn failures_are_responses_with_the_request_id() {
        let id: &RawValue = serde_json::from_str("\"\\u0061\"").unwrap();
        let failure = failure_of(429, Some("Too many requests"), Some(3), Some("req_1".into()));
        let line = failure.line(&[id], false);
        assert!(line.starts_with(r#"{"jsonrpc":"2.0","id":"\u0061","error":{"code":-32603,"#), "{line}");
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            value["error"]["data"],
            json!({"kind": "unavailable", "retryable": true, "retry_after_seconds": 3, "request_id": "req_1"})
        );
        assert!(failure_of(410, None, None, None).message.contains("ended"));
        for (status, code) in
            [(401, -32003), (403, -32003), (404, -32000), (410, -32000), (413, -32000), (500, -32603), (503, -32603)]
        {
            let value: Value = serde_json::from_str(&failure_of(status, None, None, None).line(&[id], false)).unwrap();
            assert_eq!(value["error"]["code"], code, "{status}: the code of the kind in the table");
        }
        let two: Value = serde_json::from_str(&failure.line(&[id, id], true)).unwrap();
        assert_eq!(two.as_array().unwrap().len(), 2);
        let parse: Value = serde_json::from_str(&Failure::new(Kind::ParseError, false, "x").parse_error()).unwrap();
        assert_eq!((&parse["id"], &parse["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
}
