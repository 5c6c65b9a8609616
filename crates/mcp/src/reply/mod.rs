//! Writes answers directly into bytes.
//!
//! The body of a result is the same in both eras. The members of modern results (`resultType`, `ttlMs`, `cacheScope`, the
//! server's name in `_meta`) are added while it is written. So a cached body serves both eras, and a legacy answer cannot have
//! a modern member. For the same reason a body never has its own `_meta`.

pub mod sse;

use base::limits::LIST_TTL_MS;
use base::{Error, Kind};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::codes::Failure;
use crate::era::Era;
use crate::era::version::MODERN;
use crate::message::Id;
use crate::method::Method;

/// The server's name and version (`serverInfo`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// The configured name.
    pub name: String,
    /// The release.
    pub version: String,
}

/// The members that an era adds to a result.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a>(Option<Modern<'a>>);

#[derive(Clone, Copy, Debug)]
struct Modern<'a> {
    server: &'a ServerInfo,
    result_type: &'static str,
    ttl_ms: Option<u64>,
    subscription: Option<&'a Id<'a>>,
}

impl<'a> Stamp<'a> {
    /// No members.
    pub const LEGACY: Stamp<'static> = Stamp(None);

    /// The stamp of a complete result of `method`.
    pub fn complete(era: Era, method: Method, server: &'a ServerInfo) -> Self {
        match era {
            Era::Legacy => Stamp::LEGACY,
            Era::Modern => {
                let ttl_ms = method.cacheable().then_some(LIST_TTL_MS);
                Self(Some(Modern { server, result_type: "complete", ttl_ms, subscription: None }))
            }
        }
    }

    /// The stamp of a result that asks the caller for more.
    ///
    /// # Errors
    /// If the era is legacy, or the method cannot ask for more input.
    pub fn input_required(era: Era, method: Method, server: &'a ServerInfo) -> Result<Self, Error> {
        if era == Era::Legacy || !method.may_require_input() {
            let message = format!("this needs an answer from the client, which only protocol version {MODERN} can ask for");
            return Err(Error::new(Kind::InvalidRequest, message));
        }
        Ok(Self(Some(Modern { server, result_type: "input_required", ttl_ms: None, subscription: None })))
    }

    /// The stamp of the result that ends a subscription when the server closes it.
    pub fn subscription_ended(server: &'a ServerInfo, subscription: &'a Id<'a>) -> Self {
        Self(Some(Modern { server, result_type: "complete", ttl_ms: None, subscription: Some(subscription) }))
    }
}

/// The members that a stamp adds to the body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added<'a> {
    result_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    #[serde(rename = "_meta")]
    meta: AddedMeta<'a>,
}

#[derive(Serialize)]
struct AddedMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: &'a ServerInfo,
    #[serde(rename = "io.modelcontextprotocol/subscriptionId", skip_serializing_if = "Option::is_none")]
    subscription: Option<&'a Id<'a>>,
}

impl Stamp<'_> {
    /// Appends the members to the object at the end of `out`.
    fn press(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(Modern { server, result_type, ttl_ms, subscription }) = self.0 else { return Ok(()) };
        while out.pop_if(|byte| byte.is_ascii_whitespace()).is_some() {}
        if out.pop() != Some(b'}') {
            return Err(Error::internal("a result must be an object"));
        }
        while out.pop_if(|byte| byte.is_ascii_whitespace()).is_some() {}
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        // Lists depend on the caller's credential, so nobody else may reuse the answer.
        let cache_scope = ttl_ms.map(|_| "private");
        let added = Added { result_type, ttl_ms, cache_scope, meta: AddedMeta { server, subscription } };
        let start = out.len();
        push_json(out, &added)?;
        out.remove(start);
        Ok(())
    }
}

/// A result whose body is already JSON.
pub fn result(id: &Id<'_>, stamp: &Stamp<'_>, body: &RawValue) -> Result<Vec<u8>, Error> {
    let mut out = head(id, "result", body.get().len());
    out.extend_from_slice(body.get().as_bytes());
    stamp.press(&mut out)?;
    out.push(b'}');
    Ok(out)
}

/// A result whose body is serialised here.
pub fn result_of<T: Serialize>(id: &Id<'_>, stamp: &Stamp<'_>, body: &T) -> Result<Vec<u8>, Error> {
    let mut out = head(id, "result", 256);
    push_json(&mut out, body)?;
    stamp.press(&mut out)?;
    out.push(b'}');
    Ok(out)
}

/// An error.
pub fn error(id: &Id<'_>, failure: &Failure) -> Vec<u8> {
    let mut out = head(id, "error", 256);
    let body = Body { code: failure.code, message: &failure.message, data: &failure.data };
    // A map of strings and values always serialises. If it ever fails, the code is the most important part.
    if push_json(&mut out, &body).is_err() {
        out = head(id, "error", 64);
        out.extend_from_slice(br#"{"code":-32603,"message":"the call failed inside the server"}"#);
    }
    out.push(b'}');
    out
}

#[derive(Serialize)]
struct Body<'a> {
    code: i64,
    message: &'a str,
    data: &'a serde_json::Map<String, serde_json::Value>,
}

/// A notification. It has no id, so it is never answered.
pub fn notification<T: Serialize>(method: &'static str, params: &T) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    push_json(&mut out, &method)?;
    out.extend_from_slice(br#","params":"#);
    push_json(&mut out, params)?;
    out.push(b'}');
    Ok(out)
}

/// The answers of a legacy batch, joined into one array.
#[derive(Debug, Default)]
pub struct Batch(Vec<u8>);

impl Batch {
    /// Adds one answer.
    pub fn push(&mut self, answer: &[u8]) {
        self.0.push(if self.0.is_empty() { b'[' } else { b',' });
        self.0.extend_from_slice(answer);
    }

    /// The array; `None` if no element needs an answer (202).
    pub fn finish(mut self) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push(b']');
        Some(self.0)
    }
}

fn head(id: &Id<'_>, member: &str, body_bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(body_bytes + id.json().len() + 192);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.json().as_bytes());
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member.as_bytes());
    out.extend_from_slice(b"\":");
    out
}

fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), Error> {
    serde_json::to_writer(out, value).map_err(|error| Error::internal(format!("cannot serialise an answer: {error}")))
}

#[cfg(test)]
mod tests;
