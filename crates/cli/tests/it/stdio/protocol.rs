//! The answers to lines on stdin.

use std::collections::BTreeMap;

use ::rmcp::ServiceExt;
use ::rmcp::model::CallToolRequestParams;
use ::rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use super::{Backend, Pipe, set_up, summary};
use crate::support::{Engine, Process, both_engines, call, modern, request};

/// Lines with the summary of their answer, or `None` if no answer is due.
fn lines() -> Vec<(String, Option<Value>)> {
    let ok = |id: Value| Some(json!({"id": id, "ok": true}));
    let error = |id: Value, code: i32| Some(json!({"id": id, "code": code}));
    let raw = |line: &str, answer: Option<Value>| (line.to_owned(), answer);
    let sent = |message: &Value, answer: Option<Value>| (message.to_string(), answer);
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}});
    let newer = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}});
    vec![
        sent(&request(1, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})), ok(json!(1))),
        sent(&notice, None),
        sent(&request(2, "tools/list", json!({})), ok(json!(2))),
        sent(&call("three", "bricks.list", json!({})), ok(json!("three"))),
        // The agreed version reports bad arguments as a result.
        sent(&call(4, "bricks.list", json!({"limit": 0})), ok(json!(4))),
        sent(&call(5, "bricks.eat", json!({})), error(json!(5), -32601)),
        sent(&request(6, "no/such", json!({})), error(json!(6), -32601)),
        sent(&cancelled, None),
        raw("", None),
        raw("  \t ", None),
        raw(r#" {"jsonrpc":"2.0","id":7,"method":"ping"}  "#, ok(json!(7))),
        raw("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\r", ok(json!(8))),
        raw(r#"{"jsonrpc":"2.0","id":"\u00e9\n","method":"ping"}"#, ok(json!("é\n"))),
        raw(r#"{"jsonrpc":"2.0","id":-1.5,"method":"ping"}"#, ok(json!(-1.5))),
        // Invalid JSON.
        raw("nonsense", error(Value::Null, -32700)),
        raw("{", error(Value::Null, -32700)),
        raw(r#"{"jsonrpc":"2.0","id":9,"method":"ping"} {"#, error(Value::Null, -32700)),
        raw(&"[".repeat(5_000), error(Value::Null, -32700)),
        raw(&format!("{}{}", "[".repeat(200), "]".repeat(200)), error(Value::Null, -32700)),
        // Valid JSON, but not a message.
        raw("5", error(Value::Null, -32600)),
        raw("null", error(Value::Null, -32600)),
        raw("\"text\"", error(Value::Null, -32600)),
        raw("{}", error(Value::Null, -32600)),
        raw("[]", error(Value::Null, -32600)),
        raw(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, error(Value::Null, -32600)),
        raw(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, error(Value::Null, -32600)),
        raw(r#"{"jsonrpc":"1.0","id":10,"method":"ping"}"#, error(json!(10), -32600)),
        raw(r#"{"jsonrpc":"2.0","id":11,"method":5}"#, error(json!(11), -32600)),
        raw(r#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":[]}"#, error(json!(12), -32602)),
        raw(r#"{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":5}}"#, error(json!(13), -32602)),
        // Responses from the client, and unknown notifications.
        raw(r#"{"jsonrpc":"2.0","id":14,"result":{}}"#, None),
        raw(r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":{"a":[1]}}"#, None),
        raw(r#"{"jsonrpc":"2.0","method":"tools/list"}"#, None),
        // Batches.
        sent(
            &json!([request(15, "ping", json!({})), notice, call("x", "kits.list", json!({}))]),
            Some(json!([{"id": 15, "ok": true}, {"id": "x", "ok": true}])),
        ),
        sent(&json!([notice, notice]), None),
        sent(&json!([1, request(16, "ping", json!({}))]), Some(json!([{"id": null, "code": -32600}, {"id": 16, "ok": true}]))),
        // Modern requests, without the headers that HTTP needs.
        sent(&modern(17, "server/discover", json!({})), ok(json!(17))),
        sent(&modern(18, "tools/list", json!({})), ok(json!(18))),
        sent(&modern(19, "tools/call", json!({"name": "kits.list", "arguments": {}})), ok(json!(19))),
        sent(&modern(20, "tools/call", json!({"name": "Grüße\n", "arguments": {}})), error(json!(20), -32602)),
        sent(&modern(21, "ping", json!({})), error(json!(21), -32601)),
        sent(&json!([modern(22, "tools/list", json!({}))]), error(Value::Null, -32600)),
        sent(&request(23, "tools/list", newer), error(json!(23), -32022)),
        sent(&request(24, "ping", json!({})), ok(json!(24))),
    ]
}

/// Writes every line and reads its answer. An extra answer would not match the next line, or would remain at the end.
async fn check(engine: Engine, kind: Backend) {
    let (_place, server, terminal) = set_up(engine, kind).await;
    // Log lines must not appear on stdout.
    let mut pipe = Pipe::open(&terminal.with("TOOLCRIB_LOG", "debug"), "");
    for (line, expected) in lines() {
        pipe.write(&line).await;
        if let Some(expected) = expected {
            let shown = line.chars().take(120).collect::<String>();
            assert_eq!(summary(&pipe.read().await), expected, "{shown}");
        }
    }
    pipe.write(b"\xff\xfe{}").await;
    assert_eq!(summary(&pipe.read().await), json!({"id": null, "code": -32700}), "invalid UTF-8 is a parse error");
    let ended = pipe.close().await;
    ended.assert_clean();
    assert!(ended.errors.contains("session opened"), "the log is on stderr: {}", ended.errors);
    drop(server);
}

both_engines! {
    async fn every_line_gets_its_answer_on_a_running_server(engine: Engine) {
        check(engine, Backend::Running).await;
    }

    async fn every_line_gets_its_answer_on_an_embedded_server(engine: Engine) {
        check(engine, Backend::Embedded).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_lists_creates_and_reads() {
    let (_place, _server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let mut pipe = Pipe::open(&terminal, "--tool bricks.list --tool bricks.create_draft --tool-names safe --work-type chore");
    let hello = pipe.ask(&request(0, "initialize", json!({"protocolVersion": "2024-11-05"}))).await;
    assert_eq!(hello["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(hello["result"]["capabilities"], json!({"tools": {}}));
    assert_eq!(hello["result"]["serverInfo"], json!({"name": "toolcrib", "version": env!("CARGO_PKG_VERSION")}));
    let listed = pipe.ask(&request(1, "tools/list", json!({}))).await;
    let names = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect::<Vec<_>>();
    assert_eq!(names, ["bricks_create_draft", "bricks_list"]);
    let draft = json!({"name": "Tone", "type": "boolean", "evaluation_prompt": "Line one\nline two \u{2028} \u{1f980}"});
    let made = pipe.ask(&call(2, "bricks_create_draft", draft)).await;
    let id = &made["result"]["structuredContent"]["brick_id"];
    let found = pipe.ask(&call(3, "bricks_list", json!({}))).await;
    assert_eq!(&found["result"]["structuredContent"]["bricks"][0]["brick_id"], id);
    assert_eq!(
        summary(&pipe.ask(&call(4, "kits.list", json!({}))).await),
        json!({"id": 4, "code": -32003}),
        "the tool is not in the allowlist"
    );
    pipe.close().await.assert_clean();
    let shown = terminal.json(&format!("brick show {}", id.as_str().unwrap())).await;
    assert_eq!(shown["brick"]["versions"][0]["evaluation_prompt"], "Line one\nline two \u{2028} \u{1f980}");
}

/// The version from `initialize` decides between an error and a result, even if the client does not wait for that answer.
#[tokio::test(flavor = "multi_thread")]
async fn bad_arguments_are_reported_as_the_agreed_version_requires() {
    let (_place, _server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let bad = |id: usize| call(id, "bricks.list", json!({"limit": 0}));
    let mut pipe = Pipe::open(&terminal, "");
    assert_eq!(pipe.ask(&bad(0)).await["error"]["code"], -32602, "no version is agreed yet");
    for (version, is_result) in [("2024-11-05", false), ("2025-06-18", false), ("2025-11-25", true), ("2099-01-01", true)] {
        let hello = request(1, "initialize", json!({"protocolVersion": version, "capabilities": {}}));
        // A script may send both at once.
        pipe.write(format!("{hello}\n{}", bad(2))).await;
        let mut answers = [pipe.read().await, pipe.read().await];
        answers.sort_by_key(|answer| answer["id"].as_u64());
        let error = if is_result { &answers[1]["result"]["structuredContent"]["error"] } else { &answers[1]["error"] };
        assert_eq!((&error["code"], answers[1].get("result").is_some()), (&json!(-32602), is_result), "{version}: {answers:?}");
        let batch = pipe.ask(&json!([bad(3)])).await;
        assert_eq!(batch[0].get("result").is_some(), is_result, "{version}: {batch}");
        let message = modern(4, "tools/call", json!({"name": "bricks.list", "arguments": {"limit": 0}}));
        assert_eq!(pipe.ask(&message).await["result"]["isError"], true, "a modern message names its own version");
    }
    pipe.write("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}").await;
    assert_eq!(summary(&pipe.read().await), json!({"id": 5, "ok": true}), "a byte-order mark is skipped");
    pipe.close().await.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_are_each_answered_once() {
    const COUNT: usize = 300;
    let (_place, _server, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let mut pipe = Pipe::open(&terminal, "");
    let draft = json!({"name": "n", "type": "boolean", "evaluation_prompt": "p"});
    let message = |id: usize| match id % 3 {
        0 => request(id, "ping", json!({})),
        1 => call(id, "bricks.create_draft", draft.clone()),
        _ => call(id, "bricks.list", json!({"limit": 1})),
    };
    let all = (0..COUNT).map(|id| format!("{}\n", message(id))).collect::<String>();
    pipe.write(all.trim_end()).await;
    // Stdin closes at once. Pending requests are still answered.
    let ended = pipe.close().await;
    assert_eq!(ended.code, Some(0));
    let mut answers = BTreeMap::new();
    for answer in &ended.rest {
        assert!(answer["result"].is_object(), "{answer}");
        assert!(answers.insert(answer["id"].as_u64().unwrap(), answer).is_none(), "answered twice: {answer}");
    }
    assert!(answers.keys().copied().eq(0..COUNT as u64), "{} answers", answers.len());
    for (id, answer) in answers {
        let is_of_its_kind = match id % 3 {
            0 => answer["result"] == json!({}),
            1 => answer["result"]["structuredContent"]["brick_id"].is_string(),
            _ => answer["result"]["structuredContent"]["bricks"].is_array(),
        };
        assert!(is_of_its_kind, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_arrive_before_the_answer() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let mut serve = place.serve();
    serve.env("TOOLCRIB_CONFORMANCE", "1");
    let _server = Process::start(serve, &place.data()).await;
    let mut pipe = Pipe::open(&terminal, "");
    let mut message = call(1, "test_tool_with_progress", json!({}));
    message["params"]["_meta"] = json!({"progressToken": "p"});
    pipe.write(message.to_string()).await;
    for progress in [0.0, 50.0, 100.0] {
        let notice = pipe.read().await;
        assert_eq!((&notice["method"], &notice["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p")));
        assert_eq!(notice["params"]["progress"], progress);
    }
    assert_eq!(summary(&pipe.read().await), json!({"id": 1, "ok": true}));

    // A subscription reports changes until it is cancelled.
    let listen = modern("sub", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(pipe.ask(&listen).await["method"], "notifications/subscriptions/acknowledged");
    let trigger = modern("t", "tools/call", json!({"name": "test_trigger_tool_change", "arguments": {}}));
    pipe.write(trigger.to_string()).await;
    let mut said = [pipe.read().await, pipe.read().await];
    said.sort_by_key(|message| message.get("id").is_some());
    assert_eq!((&said[0]["method"], &said[1]["id"]), (&json!("notifications/tools/list_changed"), &json!("t")));
    pipe.write(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "sub"}}).to_string()).await;
    let trigger = modern("u", "tools/call", json!({"name": "test_trigger_tool_change", "arguments": {}}));
    assert_eq!(summary(&pipe.ask(&trigger).await), json!({"id": "u", "ok": true}));
    let trigger = modern("v", "tools/call", json!({"name": "test_trigger_tool_change", "arguments": {}}));
    pipe.write(trigger.to_string()).await;
    let ended = pipe.close().await;
    // A notification that was already sent may still arrive. Later ones do not.
    let notices = ended.rest.iter().filter(|message| message.get("id").is_none()).count();
    assert!(ended.code == Some(0) && notices <= 1 && ended.rest.len() == notices + 1, "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn official_client_starts_stdio_with_an_embedded_server() {
    let (_place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let client = ().serve(TokioChildProcess::new(terminal.command("stdio")).unwrap()).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let names = tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>();
    assert!(names.contains(&"bricks_create_draft") && names.contains(&"kits_get"), "{names:?}");
    let draft = json!({"name": "n", "type": "score", "evaluation_prompt": "p"});
    let params = CallToolRequestParams::new("bricks.create_draft").with_arguments(draft.as_object().unwrap().clone());
    let made = serde_json::to_value(client.call_tool(params).await.unwrap()).unwrap();
    let listed = client.call_tool(CallToolRequestParams::new("bricks.list")).await.unwrap();
    let listed = serde_json::to_value(listed).unwrap();
    assert_eq!(listed["structuredContent"]["bricks"][0]["brick_id"], made["structuredContent"]["brick_id"]);
    client.cancel().await.unwrap();
}
