//! The official MCP conformance suite at the real doors, and the protection of its fixtures.

use std::path::Path;

use serde_json::{Value, json};
use server::Config;
use testkit::node::NodePackages;
use tokio::sync::Mutex;

use crate::support::{Crib, Engine, Session, both_engines, call, modern, request};

const SUITE: &str = "@modelcontextprotocol/conformance/dist/index.js";
/// The oldest Node that the suite runs on.
const NODE_MAJOR_MIN: u32 = 22;

/// Some checks have short time limits, so the runs take turns.
static TURN: Mutex<()> = Mutex::const_new(());

fn with_fixtures(config: &mut Config) {
    config.conformance = true;
}

/// Runs everything that `revision` requires of a server. The test fails for a failure or warning outside the baseline, and for a
/// baseline entry that passes.
async fn conforms(crib: &Crib, url: &str, credential: &str, revision: &str) {
    let _turn = TURN.lock().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let source = folder.clone();
    let packages = tokio::task::spawn_blocking(move || NodePackages::install(&source, NODE_MAJOR_MIN)).await.unwrap();
    let mut suite = packages.script(SUITE, &[&folder.join("inject.mjs")]);
    suite
        .args(["server", "--url", url, "--requirements", revision])
        .arg("--expected-failures")
        .arg(folder.join(format!("baseline-{revision}.yml")))
        .arg("--output-dir")
        .arg(crib.folder.path().join("results"))
        .env("TOOLCRIB_HEADERS", json!({"Authorization": format!("Bearer {credential}")}).to_string());
    let output = tokio::process::Command::from(suite).kill_on_drop(true).output().await.unwrap();
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The suite's report, for `--show-output`.
    println!("{said}");
    // A suite that ran nothing would also exit with 0, so check its words too.
    let ran = said.contains(&format!("Running requirements {revision}")) && said.contains("Baseline check passed");
    assert!(output.status.success() && ran, "the suite ended with {}; its report is above", output.status);
}

async fn listed(session: &Session<'_>, method: &str, member: &str) -> Vec<Value> {
    session.rpc(&request(1, method, json!({}))).await.result()[member].as_array().unwrap().clone()
}

async fn fixture_names(session: &Session<'_>) -> Vec<String> {
    let tools = listed(session, "tools/list", "tools").await;
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("test_") || name.starts_with("json_schema_")).collect()
}

both_engines! {
    async fn session_door_conforms_to_2026_07_28(engine: Engine) {
        let crib = Crib::start_with(engine, with_fixtures).await;
        let session = crib.tenant().await.session().await;
        conforms(&crib, &session.url, &session.key, "2026-07-28").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_door_conforms_to_2025_11_25() {
    let crib = Crib::start_with(Engine::Sqlite, with_fixtures).await;
    let session = crib.tenant().await.session().await;
    conforms(&crib, &session.url, &session.key, "2025-11-25").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_door_conforms_to_2026_07_28() {
    let crib = Crib::start_with(Engine::Sqlite, with_fixtures).await;
    let tenant = crib.tenant().await;
    let names = fixture_names(&tenant.session().await).await;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let agent = tenant.agent(&["conformance:run"], &names).await;
    assert_eq!(agent.tools().await, names, "the agent has only the fixtures");
    conforms(&crib, &format!("{}/api/mcp", crib.url), &agent.token, "2026-07-28").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fixtures_exist_only_when_enabled() {
    let crib = Crib::start(Engine::Sqlite).await;
    let session = crib.tenant().await.session().await;
    assert_eq!(fixture_names(&session).await, [""; 0]);
    assert_eq!(session.call("test_simple_text", json!({})).await.error_code(), -32601);
    for (method, member) in
        [("prompts/list", "prompts"), ("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")]
    {
        assert_eq!(listed(&session, method, member).await, [json!(null); 0], "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fixtures_need_their_scope() {
    let crib = Crib::start_with(Engine::Sqlite, with_fixtures).await;
    let mut tenant = crib.tenant().await;
    let everything = tenant.session().await;
    assert!(fixture_names(&everything).await.len() > 20);
    assert_eq!(listed(&everything, "prompts/list", "prompts").await.len(), 5);
    tenant.key = tenant.key_with(&["sessions:write", "kits:read"]).await;
    let session = tenant.session().await;
    assert_eq!(fixture_names(&session).await, [""; 0]);
    assert_eq!(session.call("test_simple_text", json!({})).await.error_code(), -32003);
    assert_eq!(listed(&session, "prompts/list", "prompts").await, [json!(null); 0]);
    for (method, params) in [
        ("prompts/get", json!({"name": "test_simple_prompt"})),
        ("resources/read", json!({"uri": "test://static-text"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "test_simple_prompt"}, "argument": {"name": "a", "value": ""}}),
        ),
    ] {
        assert_eq!(session.rpc(&request(1, method, params)).await.error_code(), -32602, "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn request_state_is_bound_to_session_and_tool() {
    let crib = Crib::start_with(Engine::Sqlite, with_fixtures).await;
    let tenant = crib.tenant().await;
    let (ours, theirs) = (tenant.session().await, tenant.session().await);
    const TOOL: &str = "test_input_required_result_request_state";
    let attempt = |tool: &str, more: Value| {
        let mut message = modern(1, "tools/call", json!({"name": tool, "arguments": {}}));
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
        message["params"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    };
    let asked = ours.modern(&attempt(TOOL, json!({}))).await.result();
    assert_eq!(asked["resultType"], "input_required");
    let answer = json!({"requestState": asked["requestState"], "inputResponses": {"confirm": {"action": "accept", "content": {"ok": true}}}});
    assert_eq!(theirs.modern(&attempt(TOOL, answer.clone())).await.error_code(), -32602);
    let elsewhere = attempt("test_input_required_result_tampered_state", answer.clone());
    assert_eq!(ours.modern(&elsewhere).await.error_code(), -32602);
    assert_eq!(ours.modern(&attempt(TOOL, answer)).await.result()["content"][0]["text"], "state-ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn input_is_requested_only_from_capable_clients() {
    let crib = Crib::start_with(Engine::Sqlite, with_fixtures).await;
    let session = crib.tenant().await.session().await;
    const TOOL: &str = "test_input_required_result_elicitation";
    let unable = session.modern(&modern(1, "tools/call", json!({"name": TOOL}))).await;
    assert_eq!((unable.status, unable.error_code()), (400, -32021));
    assert_eq!(unable.error()["data"]["requiredCapabilities"], json!({"elicitation": {}}));
    let legacy = session.rpc(&call(1, TOOL, json!({}))).await;
    assert_eq!((legacy.status, legacy.error_code()), (200, -32600));
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_logs_go_only_to_clients_that_asked() {
    let crib = Crib::start_with(Engine::Sqlite, with_fixtures).await;
    let session = crib.tenant().await.session().await;
    const STREAM: &str = "application/json, text/event-stream";
    let post = async |accept: &str, message: &Value| {
        let mut builder = session.builder().header("accept", accept);
        if !message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null() {
            builder = builder.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
            builder = builder.header("mcp-name", message["params"]["name"].as_str().unwrap());
        }
        crib.send(builder.body(message.to_string())).await
    };
    let mut progress = call(1, "test_tool_with_progress", json!({}));
    assert!(post(STREAM, &progress).await.result()["content"].is_array(), "the client did not ask for progress");
    progress["params"]["_meta"] = json!({"progressToken": 7});
    assert!(post("application/json", &progress).await.result()["content"].is_array(), "the client accepts no stream");
    let events = post(STREAM, &progress).await.events();
    let steps: Vec<&Value> = events.iter().map(|event| &event["params"]["progress"]).collect();
    assert_eq!(steps, [&json!(0), &json!(50), &json!(100), &Value::Null]);
    assert!(events[..3].iter().all(|event| event["params"]["progressToken"] == 7), "{events:?}");
    assert_eq!(events[3]["id"], 1);

    let legacy = post(STREAM, &call(1, "test_tool_with_logging", json!({}))).await.events();
    assert_eq!(legacy.len(), 4, "a legacy client gets the log lines without asking");
    let mut logging = modern(1, "tools/call", json!({"name": "test_logging_tool"}));
    for (level, lines) in [("debug", 3), ("info", 3), ("warning", 0)] {
        logging["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
        let reply = post(STREAM, &logging).await;
        let events = reply.events();
        assert_eq!(events.len(), lines + 1, "{level}: {}", reply.text);
        assert_eq!(events[lines]["result"]["resultType"], "complete", "{level}");
    }
}
