//! Any bytes as a request of either era, with and without modern headers: no panic, and what is admitted names a method.
#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use mcp::era::{Transport, admit};
use mcp::{Incoming, Message};

fuzz_target!(|body: &[u8]| {
    let limits = base::limits::Limits::default();
    let Ok(Incoming::One(Message::Request(request))) = mcp::message::parse(body, &limits) else { return };
    let mut headers = HeaderMap::new();
    let _ = admit(&request, Transport(&headers));
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2026-07-28"));
    if let Ok(method) = HeaderValue::from_str(&request.method) {
        headers.insert("mcp-method", method);
    }
    if let Ok(admitted) = admit(&request, Transport(&headers)) {
        assert_eq!(admitted.method.name(), request.method);
        let _ = admitted.params.arguments();
        let _ = admitted.params.input_responses();
    }
});
