//! Transcripts of admission: requests with their headers, and the result.

use base::limits::Limits;
use base::{Door, RequestId};
use expect_test::{Expect, expect};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::*;
use crate::codes::Speaker;
use crate::message::{self, Incoming, Message};

const META: &str =
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const V: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

fn header_map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair =
        |(name, value): &(&'static str, &'static str)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_static(value));
    headers.iter().map(pair).collect()
}

fn word(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

/// `method {params}`, with `$` for a valid `_meta`.
fn show(request: &str, transport: Transport<'_>) -> String {
    let (method, params) = request.split_once(' ').unwrap();
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{}}}"#, params.replace('$', META));
    let Ok(Incoming::One(Message::Request(request))) = message::parse(body.as_bytes(), &Limits::default()) else {
        return "no request".to_owned();
    };
    match admit(&request, transport) {
        Ok(admitted) => format!("{} {}", word(admitted.era), admitted.method.name()),
        Err(Refused { era, fault }) => {
            let id = RequestId::from_row("req_1");
            let failure = Speaker { door: Door::Session, revision: transport.revision(era), request: &id }.failure(&fault);
            format!("{} {} {}: {}", word(era), failure.status.as_u16(), failure.code, failure.message)
        }
    }
}

fn check(cases: &[(&[(&'static str, &'static str)], &str)], expected: Expect) {
    let line = |(headers, request): &(&[(&'static str, &'static str)], &str)| show(request, Transport(&header_map(headers)));
    expected.assert_eq(&cases.iter().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn eras_are_recognised() {
    check(
        &[
            (&[], "tools/list {}"),
            (&[("mcp-protocol-version", "2025-11-25")], "tools/list {}"),
            (&[("mcp-protocol-version", "1999-01-01")], "ping {}"),
            (&[], "server/discover {}"),
            (&[], "tools/list {\"_meta\":{\"progressToken\":[]}}"),
            (&[], "tools/list {\"_meta\":7}"),
            (&[V, ("mcp-method", "tools/list")], "tools/list {$}"),
            (&[V, ("mcp-method", "server/discover")], "server/discover {$}"),
            (&[V, ("mcp-method", "ping")], "ping {$}"),
            (&[V, ("mcp-method", "initialize")], "initialize {$}"),
            (&[V, ("mcp-method", "a/b")], "a/b {$}"),
            (&[], "a/b {}"),
            (&[("mcp-protocol-version", "2025-11-25")], "tools/list {$}"),
            (&[], "tools/list {$}"),
        ],
        expect![[r#"
            legacy tools/list
            legacy tools/list
            legacy ping
            legacy 200 -32601: no such method
            legacy tools/list
            legacy tools/list
            modern tools/list
            modern server/discover
            modern 404 -32601: no such method
            modern 404 -32601: no such method
            modern 404 -32601: no such method
            legacy 200 -32601: no such method
            modern 400 -32020: the header `MCP-Protocol-Version` does not match the body
            modern 400 -32020: the header `MCP-Protocol-Version` is missing"#]],
    );
}

#[test]
fn modern_requests_need_meta() {
    const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let with = |meta: String| format!("server/discover {{\"_meta\":{{{meta}}}}}");
    let headers: &[(&str, &str)] = &[V, ("mcp-method", "server/discover")];
    check(
        &[
            (headers, "server/discover {}"),
            (headers, "server/discover {\"_meta\":null}"),
            (headers, "server/discover {\"_meta\":[]}"),
            (headers, &with(r#""io.modelcontextprotocol/clientCapabilities":{}"#.to_owned())),
            (headers, &with(VERSION.to_owned())),
            (headers, &with(format!(r#"{VERSION},"io.modelcontextprotocol/clientCapabilities":[]"#))),
            (headers, &with(r#""io.modelcontextprotocol/protocolVersion":7"#.to_owned())),
            (headers, &with(format!(r#"{VERSION},"io.modelcontextprotocol/clientCapabilities":{{}},"progressToken":true"#))),
            (
                headers,
                &with(format!(
                    r#"{VERSION},"io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/logLevel":"x""#
                )),
            ),
        ],
        expect![[r#"
            modern 400 -32602: `io.modelcontextprotocol/protocolVersion` is missing
            modern 400 -32602: `io.modelcontextprotocol/protocolVersion` is missing
            modern 400 -32602: `io.modelcontextprotocol/protocolVersion` is missing
            modern 400 -32602: `io.modelcontextprotocol/protocolVersion` is missing
            modern 400 -32602: `io.modelcontextprotocol/clientCapabilities` is missing
            modern 400 -32602: `io.modelcontextprotocol/clientCapabilities` must be an object
            modern 400 -32602: `io.modelcontextprotocol/protocolVersion` must be a string
            modern 400 -32602: `progressToken` must be a string or a number
            modern 400 -32602: `io.modelcontextprotocol/logLevel` must be a log level"#]],
    );
}

#[test]
fn unknown_versions_get_the_supported_ones() {
    let asks = |version: &str| {
        format!(
            r#"tools/list {{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}"#
        )
    };
    check(
        &[
            (&[("mcp-protocol-version", "v999.0.0"), ("mcp-method", "tools/list")], &asks("v999.0.0")),
            (&[V, ("mcp-method", "tools/list")], &asks("v999.0.0")),
            (&[("mcp-protocol-version", "2027-01-01")], "tools/list {}"),
            (&[("mcp-protocol-version", "2025-11-25")], &asks("2025-11-25")),
            (&[("mcp-protocol-version", "1.0")], "tools/list {}"),
            (&[("mcp-protocol-version", "")], "initialize {}"),
            (&[("mcp-protocol-version", "2025-11-25")], "initialize {}"),
        ],
        expect![[r#"
            modern 400 -32022: this protocol version is not supported
            modern 400 -32020: the header `MCP-Protocol-Version` does not match the body
            modern 400 -32022: this protocol version is not supported
            modern 400 -32022: this protocol version is not supported
            modern 400 -32022: this protocol version is not supported
            modern 400 -32022: this protocol version is not supported
            legacy initialize"#]],
    );
    let fault = Fault::version("v999.0.0");
    assert_eq!(fault.error().data()["supported"].to_string(), r#"["2026-07-28"]"#);
    assert_eq!(fault.error().data()["requested"], "v999.0.0");
}

#[test]
fn headers_must_match_the_body() {
    const CALL: (&str, &str) = ("mcp-method", "tools/call");
    check(
        &[
            (&[V], "tools/list {$}"),
            (&[V, ("mcp-method", "prompts/list")], "tools/list {$}"),
            (&[V, ("mcp-method", "TOOLS/LIST")], "tools/list {$}"),
            (&[V, ("MCP-METHOD", "tools/list")], "tools/list {$}"),
            (&[V, CALL, ("mcp-name", "kits.list")], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL, ("mcp-name", "  kits.list ")], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL, ("mcp-name", "=?base64?a2l0cy5saXN0?=")], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL, ("mcp-name", "=?base64?a2l0cy5saXN0")], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL, ("mcp-name", "=?base64?!?=")], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL, ("mcp-name", "kits.get")], "tools/call {\"name\":\"kits.list\",$}"),
            (&[V, CALL, ("mcp-name", "kits.get")], "tools/call {$}"),
            (&[V, CALL, ("mcp-name", "kits.get")], "tools/call {\"name\":{},$}"),
            (&[V, ("mcp-method", "resources/read"), ("mcp-name", "a:b")], "resources/read {\"uri\":\"a:b\",$}"),
            (&[V, ("mcp-method", "prompts/get")], "prompts/get {\"name\":\"p\",$}"),
        ],
        expect![[r#"
            modern 400 -32020: the header `Mcp-Method` is missing
            modern 400 -32020: the header `Mcp-Method` does not match the body
            modern 400 -32020: the header `Mcp-Method` does not match the body
            modern tools/list
            modern tools/call
            modern tools/call
            modern tools/call
            modern 400 -32020: the header `Mcp-Name` does not match the body
            modern 400 -32020: the header `Mcp-Name` has an invalid encoding
            modern 400 -32020: the header `Mcp-Name` is missing
            modern 400 -32020: the header `Mcp-Name` does not match the body
            modern tools/call
            modern tools/call
            modern resources/read
            modern 400 -32020: the header `Mcp-Name` is missing"#]],
    );
}

#[test]
fn meta_is_read() {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{
        "io.modelcontextprotocol\/protocolVersion":"2026-07-28","progressToken":7.0,
        "io.modelcontextprotocol/clientCapabilities":{"sampling":{},"roots":null,"elicitation":true},
        "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/logLevel":"warning",
        "traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"a=b","baggage":"k=v"}}}"#;
    let Ok(Incoming::One(Message::Request(request))) = message::parse(body, &Limits::default()) else { panic!("no request") };
    let headers = header_map(&[V, ("mcp-method", "tools/call"), ("mcp-name", "a")]);
    let meta = admit(&request, Transport(&headers)).unwrap().meta;
    assert_eq!(meta.progress.as_ref().map(|token| token.json()), Some("7.0"));
    assert_eq!(meta.log_level, crate::model::LogLevel::parse("warning"));
    assert!(meta.capabilities.require(&[crate::fault::ClientCapability::Sampling]).is_ok());
    assert!(meta.capabilities.require(&[crate::fault::ClientCapability::Roots]).is_err());
    let trace = meta.trace();
    assert_eq!(trace.parent.as_deref().map(str::len), Some(55));
    assert_eq!((trace.state.as_deref(), trace.baggage.as_deref()), (Some("a=b"), Some("k=v")));
}

#[test]
fn the_header_decides_how_a_failed_call_is_answered() {
    for (version, revision) in [
        (None, Revision::Early),
        (Some("2024-11-05"), Revision::Early),
        (Some("2025-06-18"), Revision::Early),
        (Some("2025-11-25"), Revision::Late),
        (Some(" 2026-01-26 "), Revision::Late),
    ] {
        let headers = header_map(&version.map(|version| ("mcp-protocol-version", version)).into_iter().collect::<Vec<_>>());
        assert_eq!(Transport(&headers).revision(Era::Legacy), revision, "{version:?}");
        assert_eq!(Transport(&headers).revision(Era::Modern), Revision::Modern, "{version:?}");
    }
}
