//! Helpers for the tests: servers, tenants, terminals and replies.

mod crib;
mod person;
mod port;
mod process;
mod reply;
mod tenant;
mod terminal;
mod transcript;

pub(crate) use crib::{Crib, start_server};
pub(crate) use person::{Person, with_body};
pub(crate) use port::Port;
pub(crate) use process::{Place, Process, binary, hearing_hangup};
pub(crate) use reply::{Reply, members, text};
pub(crate) use tenant::{Agent, Session, Tenant};
pub(crate) use terminal::{Said, Terminal, eventually, in_time, words};
pub(crate) use testkit::{Engine, both_engines};
pub(crate) use transcript::{Transcript, steady};

use serde_json::{Value, json};

/// A JSON-RPC request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A JSON-RPC `tools/call`.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// A modern request: its `_meta` replaces `initialize`.
pub(crate) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(id, method, params)
}

/// An HTTP client that talks to this machine only.
pub(crate) fn http() -> reqwest::Client {
    // Another test may have installed the same provider first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}
