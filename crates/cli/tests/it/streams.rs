//! Streamed answers: notifications before the answer, subscriptions, and abandoned calls.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use server::Config;

use crate::support::{Agent, Crib, Engine, Reply, Session, both_engines, call, eventually, modern};

const STREAM: &str = "application/json, text/event-stream";
/// Far longer than any step takes. Only a failing test waits this long.
const PATIENCE: Duration = Duration::from_secs(20);

fn with_fixtures(config: &mut Config) {
    config.conformance = true;
}

/// A call of a fixture with these members in its `_meta`.
fn fixture(era: &str, tool: &str, meta: &Value) -> Value {
    let mut message = match era {
        "legacy" => call(1, tool, json!({})),
        _ => modern(1, "tools/call", json!({"name": tool, "arguments": {}})),
    };
    for (name, value) in meta.as_object().unwrap() {
        message["params"]["_meta"][name] = value.clone();
    }
    message
}

fn post(crib: &Crib, url: &str, credential: &str, accept: Option<&str>, message: &Value) -> reqwest::RequestBuilder {
    let mut post = crib.http.post(url).bearer_auth(credential);
    if let Some(accept) = accept {
        post = post.header("accept", accept);
    }
    if message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string() {
        post = post.header("mcp-protocol-version", "2026-07-28").header("mcp-method", message["method"].as_str().unwrap());
        if let Some(name) = message["params"]["name"].as_str() {
            post = post.header("mcp-name", name);
        }
    }
    post.body(message.to_string())
}

/// Whether the reply is a stream, and its messages.
fn messages(reply: &Reply) -> (bool, Vec<Value>) {
    match reply.header("content-type") {
        Some("application/json") => (false, vec![reply.json()]),
        _ => (true, reply.events()),
    }
}

both_engines! {
    async fn streams_per_caller_are_limited(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (session, other) = (tenant.session().await, tenant.session().await);
        let message = modern("s", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
        let listen = async |session: &Session<'_>| post(&crib, &session.url, &session.key, Some(STREAM), &message).send().await.unwrap();
        let mut streams = Vec::new();
        for _ in 0..base::limits::LISTENERS_PER_CALLER_MAX {
            streams.push(listen(&session).await);
        }
        assert!(streams.iter().all(|stream| stream.status() == 200));
        let refused = Reply::read(listen(&session).await).await;
        assert_eq!((refused.expect(429), refused.header("retry-after")), (json!({"error": "Too many requests"}), Some("30")));
        assert_eq!(session.call("bricks.list", json!({})).await.result()["structuredContent"], json!({"bricks": []}));
        assert_eq!(listen(&other).await.status(), 200, "another session has its own limit");
        streams.pop();
        eventually("an ended stream makes room", async || listen(&session).await.status() == 200).await;
    }

    async fn progress_and_logs_come_before_the_answer(engine: Engine) {
        let crib = Crib::start_with(engine, with_fixtures).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let tools = ["test_tool_with_progress", "test_tool_with_logging", "test_simple_text"];
        let agent = tenant.agent(&["conformance:run"], &tools).await;
        let agent_door = format!("{}/api/mcp", crib.url);
        const LEVEL: &str = "io.modelcontextprotocol/logLevel";
        for (url, credential) in [(&session.url, &session.key), (&agent_door, &agent.token)] {
            for (era, tool, meta, notices) in [
                ("legacy", tools[0], json!({"progressToken": "p"}), 3),
                ("legacy", tools[0], json!({"progressToken": 7}), 3),
                ("legacy", tools[0], json!({}), 0),
                ("legacy", tools[2], json!({"progressToken": "p"}), 0),
                ("modern", tools[0], json!({"progressToken": "p"}), 3),
                ("modern", tools[0], json!({}), 0),
                ("modern", tools[1], json!({}), 0),
                ("modern", tools[1], json!({LEVEL: "debug"}), 3),
                ("modern", tools[1], json!({LEVEL: "info"}), 3),
                ("modern", tools[1], json!({LEVEL: "error"}), 0),
            ] {
                let message = fixture(era, tool, &meta);
                let plain = crib.send(post(&crib, url, credential, Some("application/json"), &message)).await;
                assert!(!messages(&plain).0, "{message}: this client accepts no stream");
                let without = crib.send(post(&crib, url, credential, None, &message)).await;
                assert!(!messages(&without).0, "{message}");

                let streamed = crib.send(post(&crib, url, credential, Some(STREAM), &message)).await;
                assert!(streamed.header("x-request-id").is_some());
                let (is_stream, said) = messages(&streamed);
                let asked = meta != json!({});
                assert_eq!((is_stream, said.len()), (asked, notices + 1), "{message}: {}", streamed.text);
                let (answer, before) = said.split_last().unwrap();
                assert_eq!(answer["result"]["content"], plain.json()["result"]["content"], "both forms hold the same answer");
                assert_eq!(answer["id"], 1);
                for (number, notice) in before.iter().enumerate() {
                    assert!(notice.get("id").is_none() && notice["jsonrpc"] == "2.0", "{notice}");
                    if tool == tools[0] {
                        let said = (&notice["method"], &notice["params"]["progressToken"], &notice["params"]["progress"]);
                        assert_eq!(said.0, "notifications/progress");
                        assert_eq!(said.1, &meta["progressToken"], "the token keeps its type");
                        assert_eq!(said.2.as_f64(), Some([0.0, 50.0, 100.0][number]));
                    } else {
                        assert_eq!(
                            (&notice["method"], &notice["params"]["level"]),
                            (&json!("notifications/message"), &json!("info"))
                        );
                    }
                }
            }
        }
    }
}

/// An open stream of events.
struct Events {
    response: reqwest::Response,
    text: String,
}

impl Events {
    async fn open(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next message; `None` when the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.text = rest.to_owned();
                match data {
                    Some(data) => return Some(serde_json::from_str(&data).unwrap()),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("the stream is silent");
            self.text += std::str::from_utf8(&chunk.unwrap()?).unwrap();
        }
    }
}

/// Subscribes to these kinds of change, and waits for the acknowledgement.
async fn listen(crib: &Crib, url: &str, credential: &str, kinds: Value) -> Events {
    let message = modern("sub", "subscriptions/listen", json!({"notifications": kinds}));
    let mut events = Events::open(post(crib, url, credential, Some(STREAM), &message)).await;
    let heard = events.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(heard["params"]["notifications"], kinds);
    assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    events
}

async fn limit_to(crib: &Crib, key: &str, org: &str, agent: &Agent<'_>, tools: Value) {
    let path = format!("/api/org/{org}/agents/{}", agent.id);
    crib.api(Method::PATCH, &path, key, Some(json!({"tools": tools}))).await.expect(200);
}

both_engines! {
    async fn subscribers_are_notified_of_tool_changes(engine: Engine) {
        let crib = Crib::start_with(engine, with_fixtures).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (agent, stranger) = (tenant.agent(&["*"], &["bricks.list"]).await, other.agent(&["*"], &[]).await);
        let session = tenant.session().await;
        let url = format!("{}/api/mcp", crib.url);
        let mut tools = listen(&crib, &url, &agent.token, json!({"toolsListChanged": true})).await;
        let both = json!({"promptsListChanged": true, "toolsListChanged": true});
        let mut either = listen(&crib, &session.url, &session.key, both).await;
        let mut prompts = listen(&crib, &session.url, &session.key, json!({"promptsListChanged": true})).await;

        // Changes of another org are not reported, so the next notification is the first one.
        limit_to(&crib, &other.key, &other.org, &stranger, json!(["kits.list"])).await;
        session.call("test_trigger_prompt_change", json!({})).await.result();
        for stream in [&mut either, &mut prompts] {
            assert_eq!(stream.next().await.unwrap()["method"], "notifications/prompts/list_changed");
        }
        limit_to(&crib, &tenant.key, &tenant.org, &agent, json!(["kits.list", "kits.get"])).await;
        for stream in [&mut tools, &mut either] {
            let heard = stream.next().await.unwrap();
            assert_eq!(heard["method"], "notifications/tools/list_changed");
            assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
        }
        assert_eq!(agent.tools().await, ["kits.list", "kits.get"], "the new list is the changed one");
        session.call("test_trigger_prompt_change", json!({})).await.result();
        assert_eq!(prompts.next().await.unwrap()["method"], "notifications/prompts/list_changed", "it gets no tool change");

        // A stopping server ends the streams, so that clients subscribe again.
        let stopped = tokio::time::timeout(PATIENCE, crib.stop());
        stopped.await.expect("open streams delay the stop");
        let last = tools.next().await.unwrap();
        assert_eq!(
            (&last["id"], &last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"]),
            (&json!("sub"), &json!("sub"))
        );
        assert_eq!(tools.next().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn subscription_needs_a_stream_and_the_modern_era() {
    let crib = Crib::start(Engine::Sqlite).await;
    let session = crib.tenant().await.session().await;
    let ask =
        async |accept: Option<&str>, message: &Value| crib.send(post(&crib, &session.url, &session.key, accept, message)).await;
    let listen = |kinds: Value| modern(1, "subscriptions/listen", json!({"notifications": kinds}));
    let without = ask(Some("application/json"), &listen(json!({"toolsListChanged": true}))).await;
    assert_eq!((without.status, without.error_code()), (400, -32600), "{}", without.text);
    for bad in [json!([]), json!({"toolsListChanged": "yes"}), json!({"resourceSubscriptions": [7]}), json!(null)] {
        assert_eq!(ask(Some(STREAM), &listen(bad.clone())).await.error_code(), -32602, "{bad}");
    }
    let legacy = crate::support::request(1, "subscriptions/listen", json!({"notifications": {}}));
    assert_eq!(ask(Some(STREAM), &legacy).await.error_code(), -32601);
}

/// The value of a metric by its name and labels, or 0 if it is missing.
async fn figure(crib: &Crib, name: &str) -> u64 {
    let figures = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
    let value = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map_or(0, |value| value.parse().unwrap())
}

/// The number of calls of `tool` with this outcome.
async fn counted(crib: &Crib, tool: &str, outcome: &str) -> u64 {
    figure(crib, &format!("toolcrib_calls_total{{tool=\"{tool}\",door=\"session\",outcome=\"{outcome}\"}}")).await
}

async fn draft(session: &Session<'_>) -> Value {
    let brick = json!({"name": "b", "type": "score", "evaluation_prompt": "p"});
    session.call("bricks.create_draft", brick).await.result()
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_call_is_cancelled_and_counted() {
    let crib = Crib::start(Engine::Sqlite).await;
    let session = crib.tenant().await.session().await;
    draft(&session).await;
    // A lock on the database keeps a write from ending before its client disconnects.
    let database = rusqlite::Connection::open(crib.folder.path().join("data/toolcrib.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    for number in 1..=4 {
        tokio::select! {
            made = draft(&session) => panic!("the call must wait for the lock: {made}"),
            () = eventually("the call is running", async || figure(&crib, "toolcrib_calls_in_flight").await == 1) => {}
        }
        eventually("the cancelled call is counted", async || counted(&crib, "bricks.create_draft", "cancelled").await == number)
            .await;
    }
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(counted(&crib, "bricks.create_draft", "completed").await, 1);
    draft(&session).await;
    assert_eq!(counted(&crib, "bricks.create_draft", "completed").await, 2, "the next call works");
    // The write that had started may be kept. The waiting ones never started.
    let listed = session.call("bricks.list", json!({})).await.result();
    let bricks = listed["structuredContent"]["bricks"].as_array().unwrap().len();
    assert!((2..=3).contains(&bricks), "{bricks}");
}
