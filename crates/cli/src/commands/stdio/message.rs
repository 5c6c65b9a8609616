//! A line of stdio: what it is, as far as the bridge must know, and the error lines that the bridge writes itself.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The parts of a message that the bridge looks at.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<'m> {
    /// The id, as the client wrote it.
    #[serde(borrow, default)]
    pub(super) id: Option<&'m RawValue>,
    /// The method; a client's response has none.
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'m, str>>,
    /// The params, not looked into.
    #[serde(borrow, default)]
    pub(super) params: Option<&'m RawValue>,
}

/// What a line holds.
#[derive(Debug)]
pub(super) enum Line<'m> {
    /// One message.
    Message(Envelope<'m>),
    /// Several, in an array: their requests' ids.
    Batch(Vec<&'m RawValue>),
    /// JSON that is no message. The server says what is wrong with it.
    Other,
    /// No JSON.
    Garbage,
}

impl<'m> Line<'m> {
    /// Looks at a line.
    pub(super) fn read(text: &'m str) -> Self {
        // Some shells put a byte-order mark before everything they write.
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
    /// The version that the answer to this message agrees on, if it is a legacy `initialize`.
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

/// An id in one form, however it was written.
pub(super) fn id_key(id: &RawValue) -> String {
    serde_json::from_str::<Value>(id.get()).map_or_else(|_| id.get().to_owned(), |value| value.to_string())
}

/// Why the bridge has no answer from the server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    /// The stable word of `error.data.kind`.
    pub(super) kind: &'static str,
    /// Whether the same call may succeed later.
    pub(super) retryable: bool,
    /// What was wrong and what to do.
    pub(super) message: String,
    /// More for the client's eyes.
    pub(super) more: Vec<(&'static str, Value)>,
}

impl Failure {
    pub(super) fn new(kind: &'static str, retryable: bool, message: impl Into<String>) -> Self {
        Self { kind, retryable, message: message.into(), more: Vec::new() }
    }

    /// The error as a response to `id`.
    fn response(&self, code: i64, id: Option<&RawValue>) -> String {
        let mut data = json!({ "kind": self.kind, "retryable": self.retryable });
        if let Some(members) = data.as_object_mut() {
            // The server's own, where it has spoken, replaces this one.
            members.insert("request_id".to_owned(), json!(base::RequestId::next().as_str()));
            members.extend(self.more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        let error = json!({ "code": code, "message": self.message, "data": data });
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.map_or("null", RawValue::get))
    }

    /// The line for one request, or for each of a batch.
    pub(super) fn line(&self, ids: &[&RawValue], is_batch: bool) -> String {
        const INTERNAL: i64 = -32603;
        let responses = ids.iter().map(|id| self.response(INTERNAL, Some(id))).collect::<Vec<_>>();
        if is_batch { format!("[{}]", responses.join(",")) } else { responses.join("") }
    }

    /// The line for something that could not be read at all.
    pub(super) fn parse_error(&self) -> String {
        const PARSE_ERROR: i64 = -32700;
        self.response(PARSE_ERROR, None)
    }
}

/// The failure that an HTTP status stands for, when the body is no JSON-RPC.
pub(super) fn failure_of(status: u16, said: Option<&str>, retry_after: Option<u64>, request_id: Option<String>) -> Failure {
    let said = said.unwrap_or("no reason given");
    let mut failure = match status {
        401 => Failure::new(
            "not_permitted",
            false,
            "the session has ended or its key was revoked (401): start `toolcrib stdio` anew",
        ),
        403 => Failure::new("not_permitted", false, format!("the server refuses this session (403 {said})")),
        404 => Failure::new("not_found", false, "the server does not know this session (404): start `toolcrib stdio` anew"),
        410 => Failure::new("not_found", false, "the session has ended (410): start `toolcrib stdio` anew"),
        413 => Failure::new("too_large", false, format!("the message is too large for the server (413 {said})")),
        429 => Failure::new("unavailable", true, "too many requests (429): wait and try again"),
        500 => Failure::new("internal", false, "the call failed inside the server (500)"),
        502..=504 => Failure::new("unavailable", true, format!("the server cannot be used now ({status})")),
        _ => Failure::new("internal", false, format!("the server answered {status} ({said})")),
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
    fn lines_are_told_apart() {
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
    fn initialize_agrees_on_a_version() {
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
    fn cancellations_name_their_request() {
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
    fn failures_are_answers_with_the_callers_id() {
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
        let two: Value = serde_json::from_str(&failure.line(&[id, id], true)).unwrap();
        assert_eq!(two.as_array().unwrap().len(), 2);
        let parse: Value = serde_json::from_str(&Failure::new("parse_error", false, "x").parse_error()).unwrap();
        assert_eq!((&parse["id"], &parse["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
}
