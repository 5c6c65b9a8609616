//! The parser behind [`super::parse`]: it checks depth, UTF-8, syntax and the envelope, in that order.

use std::fmt;

use base::limits::{JSON_VALUES_MAX, Limits};
use base::{Error, Kind};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::depth::{self, Excess};
use super::{Id, Incoming, Message, Notification, Refusal, Request};
use crate::object;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const TOO_MANY_VALUES: &str = "the JSON has too many values; send less at once";

/// Parses a body or a line of stdio.
///
/// # Errors
/// A refusal of the whole body: not JSON or nested too deeply (`parse_error`, id null); a bad envelope, too many values, or a
/// batch that is empty or too long (`invalid_request`).
pub fn parse<'a>(body: &'a [u8], limits: &Limits) -> Result<Incoming<'a>, Refusal<'a>> {
    // Some clients start with a byte-order mark, which is not part of the message.
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    match depth::excess(body, limits.json_depth_max, JSON_VALUES_MAX) {
        Some(Excess::Depth) => return Err(refuse(Id::NULL, Kind::ParseError, "the JSON is nested too deeply")),
        Some(Excess::Values) => return Err(refuse(Id::NULL, Kind::InvalidRequest, TOO_MANY_VALUES)),
        None => {}
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return Err(refuse(Id::NULL, Kind::ParseError, "the message is not UTF-8"));
    };
    match text.trim_start_matches([' ', '\t', '\r', '\n']).as_bytes().first() {
        Some(b'{') => message(text).map(Incoming::One),
        Some(b'[') => batch(text, limits.batch_messages_max),
        _ => Err(match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => refuse(Id::NULL, Kind::InvalidRequest, "a message must be a JSON object"),
            Err(error) => not_json(&error),
        }),
    }
}

fn refuse<'a>(id: Id<'a>, kind: Kind, message: &'static str) -> Refusal<'a> {
    Refusal { id, error: Error::new(kind, message) }
}

fn not_json(error: &serde_json::Error) -> Refusal<'static> {
    let message = if error.is_eof() { "the JSON ends too early" } else { "the message is not JSON" };
    let error = Error::new(Kind::ParseError, message).with("line", error.line()).with("column", error.column());
    Refusal { id: Id::NULL, error }
}

fn batch(text: &str, messages_max: usize) -> Result<Incoming<'_>, Refusal<'_>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let elements = Elements { kept_max: messages_max }.deserialize(&mut deserializer);
    let (kept, count) = elements.and_then(|read| deserializer.end().map(|()| read)).map_err(|error| not_json(&error))?;
    match count {
        0 => Err(refuse(Id::NULL, Kind::InvalidRequest, "a batch must have at least one message")),
        _ if count > messages_max => {
            let error = Error::new(Kind::InvalidRequest, format!("a batch can have at most {messages_max} messages"));
            Err(Refusal { id: Id::NULL, error })
        }
        _ => Ok(Incoming::Batch(kept.into_iter().map(element).collect())),
    }
}

fn element(raw: &RawValue) -> Result<Message<'_>, Refusal<'_>> {
    if !object::is_object(raw) {
        return Err(refuse(Id::NULL, Kind::InvalidRequest, "a message must be a JSON object"));
    }
    match message(raw.get())? {
        Message::Request(request) if request.method == "initialize" => {
            Err(refuse(request.id, Kind::InvalidRequest, "`initialize` cannot be part of a batch"))
        }
        message => Ok(message),
    }
}

/// Parses one envelope. Unknown members are ignored.
fn message(text: &str) -> Result<Message<'_>, Refusal<'_>> {
    let envelope = object::members(text, &["jsonrpc", "id", "method", "params", "result", "error"]);
    let [version, id, method, params, result, error] = envelope.map_err(|error| match error.is_data() {
        true => refuse(Id::NULL, Kind::InvalidRequest, "the message has a duplicate member"),
        false => not_json(&error),
    })?;
    let legal = id.and_then(Id::legal);
    let echo = legal.clone().unwrap_or(Id::NULL);
    let bad = |message| refuse(echo.clone(), Kind::InvalidRequest, message);

    let Some(method) = method else {
        return match result.or(error) {
            Some(_) => Ok(Message::Response),
            None => Err(bad("`method` is missing")),
        };
    };
    if version.and_then(object::text).as_deref() != Some("2.0") {
        return Err(bad("`jsonrpc` must be \"2.0\""));
    }
    let method = object::text(method).ok_or_else(|| bad("`method` must be a string"))?;
    if id.is_some() && legal.is_none() {
        return Err(bad("`id` must be a string or a number"));
    }
    let params = match params.map(|raw| (raw, raw.get().as_bytes().first())) {
        // JSON-RPC does not allow `null` here, but some clients write absent optional members as null.
        None | Some((_, Some(b'n'))) => None,
        Some((raw, Some(b'{'))) => Some(raw),
        // Params by position are legal JSON-RPC, but none of our methods takes them.
        Some((_, Some(b'['))) if legal.is_some() => {
            return Err(refuse(echo, Kind::InvalidParams, "`params` must be an object"));
        }
        Some((_, Some(b'['))) => None,
        Some(_) => return Err(bad("`params` must be an object")),
    };
    match legal {
        Some(id) => Ok(Message::Request(Request { id, method, params })),
        None if method == "initialize" => Ok(Message::Request(Request { id: Id::NULL, method, params })),
        None => Ok(Message::Notification(Notification { method, params })),
    }
}

/// Collects the elements of an array. It counts all of them but keeps only as many as a batch may have.
struct Elements {
    kept_max: usize,
}

impl<'de> DeserializeSeed<'de> for Elements {
    type Value = (Vec<&'de RawValue>, usize);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Elements {
    type Value = (Vec<&'de RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < self.kept_max {
            let Some(raw) = seq.next_element()? else {
                let count = kept.len();
                return Ok((kept, count));
            };
            kept.push(raw);
        }
        let mut count = kept.len();
        while seq.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((kept, count))
    }
}
