//! The whole table: every kind at every door in every revision.

use base::Error;
use expect_test::expect;

use super::*;
use crate::fault::ClientCapability;

const REVISIONS: [Revision; 3] = [Revision::Early, Revision::Late, Revision::Modern];

#[test]
fn the_table() {
    let mut table = String::new();
    for kind in Kind::ALL {
        table.push_str(&format!("{:<22}", kind.word()));
        for revision in REVISIONS {
            for door in [Door::Session, Door::Agent] {
                let Row { code, status, redacted, is_result } = row(kind, door, revision);
                let notes = format!("{}{}", if redacted { "r" } else { "" }, if is_result { "isError" } else { "" });
                table.push_str(&format!("| {code} {} {notes:<8}", status.as_u16()));
            }
        }
        table = table.trim_end().to_owned() + "\n";
    }
    // Columns: session and agent door before 2025-11-25, from 2025-11-25 on, and modern; `r` means redacted.
    expect![[r#"
        parse_error           | -32700 200         | -32700 200         | -32700 200         | -32700 200         | -32700 400         | -32700 400
        invalid_request       | -32600 200         | -32600 200         | -32600 200         | -32600 200         | -32600 400         | -32600 400
        method_not_found      | -32601 200         | -32601 200         | -32601 200         | -32601 200         | -32601 404         | -32601 404
        tool_not_found        | -32601 200         | -32601 200         | -32601 200         | -32601 200         | -32602 200         | -32602 200
        invalid_params        | -32602 200         | -32602 200         | -32602 200 isError | -32602 200 isError | -32602 200 isError | -32602 200 isError
        not_permitted         | -32003 200         | -32001 200         | -32003 200         | -32001 200         | -32003 200         | -32001 200
        not_found             | -32000 200         | -32002 200 r       | -32000 200         | -32002 200 r       | -32000 200 isError | -32000 200 isError
        conflict              | -32000 200         | -32002 200 r       | -32000 200         | -32002 200 r       | -32000 200 isError | -32000 200 isError
        syntax_error          | -32000 200         | -32002 200 r       | -32000 200         | -32002 200 r       | -32000 200 isError | -32000 200 isError
        too_large             | -32000 200         | -32002 200 r       | -32000 200         | -32002 200 r       | -32000 200 isError | -32000 200 isError
        unavailable           | -32603 200 r       | -32002 200 r       | -32603 200 r       | -32002 200 r       | -32603 200 r       | -32603 200 r
        timeout               | -32603 200 r       | -32002 200 r       | -32603 200 r       | -32002 200 r       | -32603 200 r       | -32603 200 r
        peer_timeout          | -32201 200         | -32201 200         | -32201 200         | -32201 200         | -32201 200 isError | -32201 200 isError
        peer_transport        | -32202 200         | -32202 200         | -32202 200         | -32202 200         | -32202 200 isError | -32202 200 isError
        peer_invalid_response | -32203 200         | -32203 200         | -32203 200         | -32203 200         | -32203 200 isError | -32203 200 isError
        peer_task_failed      | -32204 200         | -32204 200         | -32204 200         | -32204 200         | -32204 200 isError | -32204 200 isError
        internal              | -32603 200 r       | -32002 200 r       | -32603 200 r       | -32002 200 r       | -32603 200 r       | -32603 200 r
    "#]]
    .assert_eq(&table);
}

fn spoken(error: Error, door: Door, revision: Revision, method: Method) -> String {
    shown(&error.into(), door, revision, method)
}

fn shown(fault: &Fault, door: Door, revision: Revision, method: Method) -> String {
    let request = RequestId::from_row("req_1");
    match (Speaker { door, revision, request: &request }).speak(fault, Some(method)) {
        Spoken::Error(failure) => {
            format!("{} {} {} {}", failure.status.as_u16(), failure.code, failure.message, Value::Object(failure.data))
        }
        Spoken::Result(result) => serde_json::to_string(&result).unwrap(),
    }
}

#[test]
fn errors_have_the_fields_that_callers_need() {
    let error =
        || Error::new(Kind::SyntaxError, "line 3 does not parse").with("line", 3).with("kind", "forged").logged("/srv/secret.rs");
    let transcript = [
        spoken(error(), Door::Session, Revision::Early, Method::ToolsCall),
        spoken(error(), Door::Agent, Revision::Early, Method::ToolsCall),
        spoken(error(), Door::Session, Revision::Modern, Method::ToolsCall),
        spoken(error(), Door::Agent, Revision::Modern, Method::ResourcesRead),
        spoken(
            Error::new(Kind::PeerTimeout, "the peer took too long").with("taskId", "t"),
            Door::Agent,
            Revision::Modern,
            Method::ToolsCall,
        ),
        spoken(Error::internal("no such table: keys"), Door::Session, Revision::Early, Method::ToolsCall),
        spoken(
            Error::new(Kind::Unavailable, "disk /dev/sda is full").with("disk", "/dev/sda"),
            Door::Agent,
            Revision::Modern,
            Method::ToolsCall,
        ),
        spoken(
            Error::invalid("path", "`path` is missing").with("tool", "read_code"),
            Door::Agent,
            Revision::Modern,
            Method::ToolsCall,
        ),
        shown(&Fault::capabilities(&[ClientCapability::Sampling]), Door::Session, Revision::Modern, Method::ToolsCall),
        shown(&Fault::header("Mcp-Name", "is missing"), Door::Session, Revision::Modern, Method::ToolsCall),
        shown(&Fault::version("v9"), Door::Session, Revision::Modern, Method::ToolsList),
    ];
    expect![[r#"
        200 -32000 line 3 does not parse {"line":3,"kind":"syntax_error","retryable":false,"request_id":"req_1"}
        200 -32002 the call failed inside the server {"kind":"syntax_error","retryable":false,"request_id":"req_1"}
        {"content":[{"type":"text","text":"line 3 does not parse"}],"structuredContent":{"error":{"line":3,"kind":"syntax_error","retryable":false,"request_id":"req_1","code":-32000,"message":"line 3 does not parse"}},"isError":true}
        200 -32602 line 3 does not parse {"line":3,"kind":"syntax_error","retryable":false,"request_id":"req_1"}
        {"content":[{"type":"text","text":"the peer took too long"}],"structuredContent":{"error":{"taskId":"t","kind":"peer_timeout","retryable":true,"request_id":"req_1","code":-32201,"message":"the peer took too long"}},"isError":true}
        200 -32603 the call failed inside the server {"kind":"internal","retryable":false,"request_id":"req_1"}
        200 -32603 the server cannot do this right now {"kind":"unavailable","retryable":true,"request_id":"req_1"}
        200 -32602 `path` is missing {"parameter":"path","tool":"read_code","kind":"invalid_params","retryable":false,"request_id":"req_1"}
        400 -32021 the client did not declare a capability that this call needs {"requiredCapabilities":{"sampling":{}},"kind":"invalid_request","retryable":false,"request_id":"req_1"}
        400 -32020 the header `Mcp-Name` is missing {"header":"Mcp-Name","kind":"invalid_request","retryable":false,"request_id":"req_1"}
        400 -32022 this protocol version is not supported {"requested":"v9","supported":["2026-07-28"],"kind":"invalid_request","retryable":false,"request_id":"req_1"}"#]]
    .assert_eq(&transcript.join("\n"));
}

#[test]
fn redacted_rows_leak_nothing() {
    for kind in Kind::ALL {
        for (door, revision) in REVISIONS.into_iter().flat_map(|revision| [(Door::Session, revision), (Door::Agent, revision)]) {
            let error = Error::new(kind, "SECRET message").with("field", "SECRET field").logged("LOG");
            let text = spoken(error, door, revision, Method::ToolsCall);
            assert!(!text.contains("LOG"), "{text}");
            assert_eq!(text.contains("SECRET"), !row(kind, door, revision).redacted, "{text}");
            assert!(text.contains(kind.word()) && text.contains("req_1"), "{text}");
        }
    }
}

#[test]
fn codes_follow_the_specification() {
    for kind in Kind::ALL {
        for door in [Door::Session, Door::Agent] {
            for revision in [Revision::Early, Revision::Late] {
                assert_eq!(row(kind, door, revision).status, StatusCode::OK);
            }
            let modern = row(kind, door, Revision::Modern);
            assert!(modern.code != -32002 && modern.code != -32042, "{}", kind.word());
            assert!(!(-32099..=-32020).contains(&modern.code), "{}", kind.word());
            assert!(!modern.is_result || modern.status == StatusCode::OK);
        }
    }
}

#[test]
fn bad_arguments_are_a_result_for_clients_that_expect_one() {
    let error = || {
        let violations = json!([
            {"parameter": "limit", "message": "`limit` is too small"},
            {"parameter": "colour", "message": "`colour` is not a parameter of this tool"},
        ]);
        Error::invalid("limit", "`limit` is too small").with("violations", violations)
    };
    let fault = || Fault::from(error()).about_arguments_of("bricks.list");
    let missing = Fault::from(Error::invalid("name", "`name` is missing"));
    let state = Fault::from(Error::invalid("requestState", "it is not ours")).about_arguments_of("bricks.list");
    let transcript = [
        shown(&fault(), Door::Session, Revision::Early, Method::ToolsCall),
        shown(&fault(), Door::Agent, Revision::Late, Method::ToolsCall),
        shown(&fault(), Door::Session, Revision::Modern, Method::ToolsCall),
        shown(&missing, Door::Session, Revision::Modern, Method::ToolsCall),
        shown(&state, Door::Session, Revision::Modern, Method::ToolsCall),
    ];
    expect![[r#"
        200 -32602 `limit` is too small {"parameter":"limit","violations":[{"parameter":"limit","message":"`limit` is too small"},{"parameter":"colour","message":"`colour` is not a parameter of this tool"}],"details":"`limit` is too small; `colour` is not a parameter of this tool","tool":"bricks.list","kind":"invalid_params","retryable":false,"request_id":"req_1"}
        {"content":[{"type":"text","text":"`limit` is too small; `colour` is not a parameter of this tool"}],"structuredContent":{"error":{"parameter":"limit","violations":[{"parameter":"limit","message":"`limit` is too small"},{"parameter":"colour","message":"`colour` is not a parameter of this tool"}],"details":"`limit` is too small; `colour` is not a parameter of this tool","tool":"bricks.list","kind":"invalid_params","retryable":false,"request_id":"req_1","code":-32602,"message":"`limit` is too small"}},"isError":true}
        {"content":[{"type":"text","text":"`limit` is too small; `colour` is not a parameter of this tool"}],"structuredContent":{"error":{"parameter":"limit","violations":[{"parameter":"limit","message":"`limit` is too small"},{"parameter":"colour","message":"`colour` is not a parameter of this tool"}],"details":"`limit` is too small; `colour` is not a parameter of this tool","tool":"bricks.list","kind":"invalid_params","retryable":false,"request_id":"req_1","code":-32602,"message":"`limit` is too small"}},"isError":true}
        200 -32602 `name` is missing {"parameter":"name","kind":"invalid_params","retryable":false,"request_id":"req_1"}
        200 -32602 it is not ours {"parameter":"requestState","kind":"invalid_params","retryable":false,"request_id":"req_1"}"#]]
    .assert_eq(&transcript.join("\n"));
}
