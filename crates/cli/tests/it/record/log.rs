//! The log explains refused requests and never holds their content.

use std::fs::{self, File};
use std::path::PathBuf;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, both_engines, call, eventually, http};

const MARKER: &str = "zanzibar7marker";

/// A server whose log is a file.
struct Logged {
    place: Place,
    process: Process,
    log: PathBuf,
    http: reqwest::Client,
    org: String,
    project: String,
}

impl Logged {
    async fn start(engine: Engine, level: &str) -> Self {
        let place = Place::new(engine);
        let log = place.folder.path().join("log");
        let mut command = place.serve();
        command.env("TOOLCRIB_LOG", level).stderr(File::create(&log).unwrap());
        let process = Process::start(command, &place.data()).await;
        let mut logged = Self { place, process, log, http: http(), org: String::new(), project: String::new() };
        let org = logged.api(Method::GET, "/api/org/default", None).await.1;
        logged.org = org["org"]["id"].as_str().unwrap().to_owned();
        let projects = logged.api(Method::GET, "/api/org/default/projects", None).await.1;
        logged.project = projects["projects"][0]["id"].as_str().unwrap().to_owned();
        logged
    }

    async fn api(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.http.request(method, format!("{}{path}", self.process.url)).bearer_auth(&self.process.admin_key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let reply = request.send().await.unwrap();
        (reply.status().as_u16(), serde_json::from_str(&reply.text().await.unwrap()).unwrap_or_default())
    }

    /// Opens a session. Returns its URL and key.
    async fn session(&self) -> (String, String) {
        let path = format!("/api/org/{}/sessions", self.org);
        let (status, opened) = self.api(Method::POST, &path, Some(json!({"projectId": self.project}))).await;
        assert_eq!(status, 201, "{opened}");
        let entry = &opened["mcpConfig"]["mcpServers"]["toolcrib"];
        let key = entry["headers"]["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap();
        (entry["url"].as_str().unwrap().to_owned(), key.to_owned())
    }

    fn lines(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    async fn stop(mut self) -> String {
        self.process.signal("TERM").await;
        self.process.child.wait().await.unwrap();
        let lines = fs::read_to_string(&self.log).unwrap();
        drop(self.place);
        lines
    }
}

both_engines! {
    async fn log_holds_no_arguments_at_any_level(engine: Engine) {
        let server = Logged::start(engine, "trace").await;
        let (url, key) = server.session().await;
        let post = async |body: String| {
            let request = server.http.post(&url).bearer_auth(&key).header("mcp-protocol-version", "2025-06-18");
            request.body(body).send().await.unwrap().text().await.unwrap()
        };
        let marked = json!({"name": MARKER, "type": "thing"});
        for (tool, arguments) in [
            ("af_memory_remember", json!({"content": format!("{MARKER} is a word")})),
            ("af_memory_remember", json!({"content": 7, MARKER: MARKER})),
            ("af_memory_remember", json!({"content": MARKER, "type": {"a": MARKER}})),
            ("af_memory_recall", json!({"query": format!("\"{MARKER} AND ("), "workType": MARKER})),
            ("graph_ingest", json!({"triplets": [{"source": marked, "relationship": MARKER, "target": marked}]})),
            ("graph_ingest", json!({"triplets": [{"source": marked, "relationship": MARKER, "target": marked, "validFrom": MARKER}]})),
            ("graph_query", json!({"query": MARKER})),
            ("graph_neighbors", json!({"entity": MARKER})),
            ("graph_path", json!({"from": MARKER, "to": format!("no {MARKER}")})),
            ("bricks.create_draft", json!({"name": MARKER, "type": MARKER, "evaluation_prompt": MARKER})),
            ("bricks.create_draft", json!({"name": MARKER, "type": "score", "evaluation_prompt": MARKER})),
            ("bricks.create_draft", json!({"name": format!("{MARKER}\u{0}"), "type": "score", "evaluation_prompt": "\u{0}"})),
            ("bricks.list", json!({"status": MARKER, "limit": MARKER})),
            ("kits.get", json!({"kit_id": MARKER})),
            ("kits.create_draft", json!({"name": MARKER, "brick_ids": [MARKER]})),
        ] {
            post(call(1, tool, arguments).to_string()).await;
        }
        post(format!("{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {{\"{MARKER}")).await;
        post(format!("[\"{MARKER}\", {{\"method\": \"tools/call\", \"id\": \"{MARKER}\", \"params\": \"{MARKER}\"}}]")).await;
        post(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "kits.list", "arguments": MARKER}}).to_string()).await;
        let project = format!("/api/org/{}/projects/{}", server.org, server.project);
        let policies = format!("/api/org/{}/policies/p", server.org);
        for (method, path, body) in [
            (Method::POST, format!("{project}/memory/search"), json!({"query": MARKER})),
            (Method::POST, format!("{project}/memory/search"), json!({"query": 7, MARKER: MARKER})),
            (Method::POST, format!("{project}/graph/search"), json!({"query": MARKER})),
            (Method::POST, format!("{project}/memory/rollback"), json!({"agentId": MARKER})),
            (Method::POST, format!("{project}/memory/rollback"), json!({"agentId": {"a": MARKER}})),
            (Method::PUT, policies, json!({"cedar": format!("permit (principal == Agent::\"{MARKER}\"")})),
            (Method::PATCH, project.clone(), json!({"root": format!("/{MARKER}")})),
            (Method::POST, format!("/api/org/{}/agents", server.org), json!({"name": "a", "scopes": [MARKER], "tools": [MARKER]})),
            (Method::POST, format!("/api/org/{}/agents", server.org), json!({"name": "a", "scopes": [], "tools": [MARKER]})),
            (Method::POST, "/api/agents/authenticate".to_owned(), json!({"agent_key": MARKER, "agent_secret": MARKER})),
        ] {
            server.api(method, &path, Some(body)).await;
        }
        server.api(Method::GET, &format!("{project}/memory?type={MARKER}&{MARKER}={MARKER}"), None).await;
        let log = server.stop().await;
        assert!(log.contains("DEBUG") && log.contains("outcome=\"completed\"") && log.contains("refused"), "{log}");
        let found: Vec<_> = log.lines().filter(|line| line.contains(MARKER)).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_explains_refused_requests() {
    let server = Logged::start(Engine::Sqlite, "info").await;
    let (url, key) = server.session().await;
    let (ended_url, _) = server.session().await;
    let ended = ended_url.rsplit('/').next().unwrap();
    server.api(Method::POST, &format!("/api/org/{}/sessions/{ended}/end", server.org), Some(json!({}))).await;
    let base = &server.process.url;
    let post = |url: &str| server.http.post(url).body("{}");
    for (request, status, words) in [
        (post(&url), 401, "no Authorization header"),
        (post(&url).header("authorization", "Basic abc"), 401, "must be `Bearer`"),
        (post(&url).bearer_auth("rsk_live_no"), 401, "unknown, revoked or expired"),
        (post(&format!("{base}/api/mcp")).bearer_auth("no"), 401, "unknown, revoked or expired"),
        (post(&format!("{base}/api/mcp/ses_{}", "0".repeat(26))).bearer_auth(&key), 404, "no such session"),
        (post(&ended_url).bearer_auth(&server.process.admin_key), 410, "has ended or expired"),
        (post(&url).bearer_auth(&key).header("host", "crib.test:80"), 403, "--allow-host crib.test"),
        (post(&url).bearer_auth(&key).header("host", "[::1]evil.test"), 403, "`[::1]evil.test` is malformed"),
        (post(&url).bearer_auth(&key).header("origin", "https://evil.test"), 403, "--allow-host evil.test"),
        (server.http.get(&url), 405, "only POST is allowed"),
        (server.http.get(format!("{base}/api/audit")), 401, "no Authorization header"),
        (server.http.get(format!("{base}/api/audit")).bearer_auth(&key), 403, "a session's key works only for its own session"),
        (server.http.get(format!("{base}/api/audit")).header("host", "u@localhost"), 403, "`u@localhost` is malformed"),
        (server.http.get(format!("{base}/api/no/such")), 404, "no such route"),
    ] {
        let reply = request.send().await.unwrap();
        let id = reply.headers()["x-request-id"].to_str().unwrap().to_owned();
        if reply.status().as_u16() != status {
            panic!("{words}: {}", reply.status());
        }
        let line = || {
            let lines = server.lines();
            lines.lines().find(|line| line.contains(&id)).map(str::to_owned)
        };
        eventually("the log has the line", async || line().is_some()).await;
        let line = line().unwrap();
        assert!(line.contains("INFO") && line.contains(words) && line.contains(&status.to_string()), "{words}: {line}");
    }
    for _ in 0..200 {
        post(&url).send().await.unwrap();
    }
    let log = server.stop().await;
    assert!(log.lines().filter(|line| line.contains("status=401")).count() < 100, "every refusal of a flood was logged");
}
