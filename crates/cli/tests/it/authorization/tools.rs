//! Every tool × every caller that it refuses, at both doors and in both eras, and success with exactly the tool's scope.

use base::{Clock, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use super::all_but;
use crate::menu::{TOOLS, Things, ToolRow, tools_that_differ};
use crate::support::{Crib, Engine, Reply, Session, Tenant, both_engines, call, modern, request, text};

/// A door and the credential to present.
struct Way {
    name: &'static str,
    url: String,
    credential: Option<String>,
}

impl Way {
    fn new(name: &'static str, url: &str, credential: &str) -> Self {
        Self { name, url: url.to_owned(), credential: Some(credential.to_owned()) }
    }

    async fn send(&self, crib: &Crib, message: &Value) -> Reply {
        let mut post = crib.http.post(&self.url);
        if let Some(credential) = &self.credential {
            post = post.bearer_auth(credential);
        }
        if message["params"]["_meta"].is_object() {
            post = post.header("mcp-protocol-version", "2026-07-28").header("mcp-method", message["method"].as_str().unwrap());
            post = post.header("mcp-name", message["params"]["name"].as_str().unwrap());
        }
        crib.send(post.body(message.to_string())).await
    }

    async fn lists(&self, crib: &Crib, tool: &str) -> bool {
        let listed = self.send(crib, &request(1, "tools/list", json!({}))).await.result();
        listed["tools"].as_array().unwrap().iter().any(|listed| listed["name"] == tool)
    }
}

/// The same call in both eras.
fn calls(tool: &str, arguments: &Value) -> [Value; 2] {
    [call(1, tool, arguments.clone()), modern(1, "tools/call", json!({"name": tool, "arguments": arguments}))]
}

/// The callers that the doors refuse before they read the body, with the status.
async fn refused_at_the_door(ours: &Tenant<'_>, theirs: &Tenant<'_>, clock: &Clock) -> Vec<(Way, u16)> {
    let crib = ours.crib;
    let (session_door, agent_door) = (|id: &str| format!("{}/api/mcp/{id}", crib.url), format!("{}/api/mcp", crib.url));
    let soon = clock.now().plus_ms(60_000).rfc3339();
    let expired_key = ours.post("keys", json!({"name": "k", "projects": "all", "expiresAt": soon})).await.expect(201);
    let expired_key = text(&expired_key["key"]["fullKey"]);
    let expired_session = ours.session_with(json!({"ttlSeconds": 60})).await;
    let expired_agent = ours.agent(&["*"], &[]).await;
    clock.advance_ms(15 * 60_000);

    let session = ours.session().await;
    let open = session_door(&session.id);
    let revoked = ours.post("keys", json!({"name": "k", "projects": "all"})).await.expect(201);
    ours.api(Method::DELETE, &format!("keys/{}", text(&revoked["key"]["id"])), None).await.expect(200);
    let elsewhere = ours.post("projects", json!({"name": "elsewhere"})).await.expect(201);
    let narrow = ours.post("keys", json!({"name": "k", "projects": [elsewhere["project"]["id"]]})).await.expect(201);
    let ended = ours.session().await;
    ours.post(&format!("sessions/{}/end", ended.id), json!({})).await.expect(200);
    let disabled = ours.agent(&["*"], &[]).await;
    ours.api(Method::PATCH, &format!("agents/{}", disabled.id), Some(json!({"disabled": true}))).await.expect(200);
    let deleted = ours.agent(&["*"], &[]).await;
    ours.api(Method::DELETE, &format!("agents/{}", deleted.id), None).await.expect(204);
    let agent = ours.agent(&["*"], &[]).await;

    // One batch uses up this key's burst. From then on, this key and the busy agent may call once a minute.
    let spent = ours.key_with(&["*"]).await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = crib.http.post(&open).bearer_auth(&spent).body(Value::from(vec![note; BURST as usize]).to_string());
    assert_eq!(crib.send(batch).await.status, 202);
    // Issuing the token counts against the agent's rate limit.
    let busy = json!({"name": "busy", "scopes": ["*"], "tools": [], "rate_limit": {"per_minute": 1}});
    let busy = ours.agent_with(busy).await;

    let unknown = format!("rsk_live_{}", "0".repeat(64));
    let nobody = |url: &str| Way { name: "no credential", url: url.to_owned(), credential: None };
    vec![
        (nobody(&open), 401),
        (Way::new("an unknown key", &open, &unknown), 401),
        (Way::new("a revoked key", &open, &text(&revoked["key"]["fullKey"])), 401),
        (Way::new("an expired key", &open, &expired_key), 401),
        (Way::new("an expired session's own key", &session_door(&expired_session.id), &expired_session.key), 410),
        (Way::new("an agent's token", &open, &agent.token), 401),
        (Way::new("an unknown session", &session_door(&Things::nowhere().session), &ours.key), 404),
        (Way::new("another org's key", &open, &theirs.key), 403),
        (Way::new("a key that does not cover the project", &open, &text(&narrow["key"]["fullKey"])), 403),
        (Way::new("another session's key", &open, &ours.session().await.key), 403),
        (Way::new("an ended session's own key", &session_door(&ended.id), &ended.key), 410),
        (Way::new("an ended session's own key elsewhere", &open, &ended.key), 401),
        (Way::new("an ended session", &session_door(&ended.id), &ours.key), 410),
        (Way::new("an expired session", &session_door(&expired_session.id), &ours.key), 410),
        (Way::new("a spent key", &open, &spent), 429),
        (nobody(&agent_door), 401),
        (Way::new("an unknown token", &agent_door, "agt_live_0"), 401),
        (Way::new("an expired token", &agent_door, &expired_agent.token), 401),
        (Way::new("a disabled agent", &agent_door, &disabled.token), 401),
        (Way::new("a deleted agent", &agent_door, &deleted.token), 401),
        (Way::new("a key", &agent_door, &ours.key), 401),
        (Way::new("a session's key", &agent_door, &session.key), 401),
        (Way::new("a spent agent", &agent_door, &busy.token), 429),
    ]
}

fn error_text(status: u16) -> &'static str {
    match status {
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Session not found",
        410 => "Session ended",
        429 => "Too many requests",
        other => panic!("unexpected status {other}"),
    }
}

/// Callers that may use every tool but this one, with the error code.
async fn refused_by_the_gate(ours: &Tenant<'_>, session: &Session<'_>, row: &ToolRow) -> Vec<(Way, i64)> {
    let agent_door = format!("{}/api/mcp", ours.crib.url);
    let names: Vec<&str> = TOOLS.iter().map(|row| row.name).collect();
    let others: Vec<&str> = names.iter().copied().filter(|name| *name != row.name).collect();
    let key = ours.key_with(&all_but(row.scope)).await;
    let narrow = ours.session_with(json!({"tools": others})).await;
    let without_scope = ours.agent(&all_but(row.scope), &names).await;
    let without_entry = ours.agent(&["*"], &others).await;
    vec![
        (Way::new("a key without the scope", &session.url, &key), -32003),
        (Way::new("a session without the tool", &narrow.url, &narrow.key), -32003),
        (Way::new("a session without the tool, with the org's key", &narrow.url, &ours.key), -32003),
        (Way::new("an agent without the scope", &agent_door, &without_scope.token), -32001),
        (Way::new("an agent without the tool", &agent_door, &without_entry.token), -32001),
    ]
}

/// Callers that may use only this tool.
async fn admitted(ours: &Tenant<'_>, session: &Session<'_>, row: &ToolRow) -> [Way; 2] {
    let key = ours.key_with(&[row.scope]).await;
    let agent = ours.agent(&[row.scope], &[row.name]).await;
    let agent_door = format!("{}/api/mcp", ours.crib.url);
    [Way::new("a key with the scope", &session.url, &key), Way::new("an agent with both", &agent_door, &agent.token)]
}

async fn rows(session: &Session<'_>) -> (Value, Value) {
    let list = async |tool: &str| session.call(tool, json!({"limit": 100})).await.result()["structuredContent"].clone();
    (list("bricks.list").await, list("kits.list").await)
}

const BURST: u32 = 500;

#[test]
fn every_tool_has_a_row() {
    assert!(tools_that_differ().is_empty(), "{:?}", tools_that_differ());
    let catalogue = ::tools::Catalogue::builtin().unwrap();
    for row in TOOLS {
        assert_eq!(catalogue.find(row.name).unwrap().spec().scope.word(), row.scope, "{}", row.name);
    }
}

both_engines! {
    async fn every_tool_refuses_wrong_callers_and_admits_its_scope(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| {
            config.clock = clock.clone();
            (config.limits.key_calls_per_minute, config.limits.key_calls_burst) = (1, BURST);
        })
        .await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let at_the_door = refused_at_the_door(&ours, &theirs, &clock).await;
        let things = Things::make(&ours, "things").await;
        let session = ours.session().await;
        let before = rows(&session).await;

        for row in TOOLS {
            let [legacy, modern] = calls(row.name, &(row.arguments)(&things));
            for (way, status) in &at_the_door {
                for message in [&legacy, &modern] {
                    if *status == 429 {
                        // If a minute has passed, one call is free again: use it up.
                        way.send(&crib, &request(1, "ping", json!({}))).await;
                    }
                    let reply = way.send(&crib, message).await;
                    assert_eq!(reply.expect(*status), json!({"error": error_text(*status)}), "{}: {}", row.name, way.name);
                }
            }
            for (way, code) in refused_by_the_gate(&ours, &session, row).await {
                // Permission is checked before the schema.
                let nonsense = calls(row.name, &json!({"nonsense": 1}));
                for message in [&legacy, &modern].into_iter().chain(&nonsense) {
                    let error = way.send(&crib, message).await.error();
                    let said = (error["code"].as_i64(), error["data"]["kind"].as_str());
                    assert_eq!(said, (Some(code), Some("not_permitted")), "{}: {}", row.name, way.name);
                }
                assert!(!way.lists(&crib, row.name).await, "{}: {}", row.name, way.name);
            }
            for way in admitted(&ours, &session, row).await {
                let bad = [json!({"nonsense": 1}), json!({"workspace_id": theirs.org}), json!([]), json!("x")];
                for message in bad.iter().flat_map(|arguments| calls(row.name, arguments)) {
                    assert_eq!(way.send(&crib, &message).await.failed_code(), -32602, "{}: {message}", way.name);
                }
            }
        }
        assert_eq!(rows(&session).await, before, "a refused call changed something");

        for row in TOOLS {
            for way in admitted(&ours, &session, row).await {
                for name in [row.name.to_owned(), row.name.replace('.', "_")] {
                    for message in calls(&name, &(row.arguments)(&things)) {
                        let result = way.send(&crib, &message).await.result();
                        assert!(result["structuredContent"].is_object() && result["content"][0]["type"] == "text", "{result}");
                        assert!(result.get("isError").is_none_or(|failed| failed == false), "{name}: {}: {result}", way.name);
                    }
                }
                assert!(way.lists(&crib, row.name).await, "{}: {}", row.name, way.name);
            }
        }
        assert_ne!(rows(&session).await, before);
    }
}
