//! Sessions: opened with their own key and client configuration, ended once.

use base::{Clock, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use server::Swept;

use super::{members, refused, text};
use crate::support::{Crib, Engine, both_engines, request};

/// Whether a value, or anything in it, is null.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

both_engines! {
    async fn janitor_removes_expired_credentials(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let ended = tenant.session().await;
        tenant.post(&format!("sessions/{}/end", ended.id), json!({})).await.expect(200);
        let expiring = other.session_with(json!({"ttlSeconds": 60})).await;
        let lasting = tenant.session_with(json!({"ttlSeconds": 30 * 24 * 3_600})).await;
        tenant.agent(&["*"], &["bricks.list"]).await;
        let person = tenant.person("member").await;
        assert!(crib.sweep().await.is_nothing(), "valid and just expired credentials stay");
        let hour = 3_600_000;
        clock.advance_ms(hour);
        assert_eq!(crib.sweep().await, Swept { agent_tokens: 1, ..Swept::default() });
        clock.advance_ms(12 * hour);
        let late = other.agent(&["*"], &["bricks.list"]).await;
        assert_eq!(crib.sweep().await, Swept { logins: 1, ..Swept::default() });
        assert_eq!(late.tools().await, ["bricks.list"], "valid tokens keep working");
        clock.advance_ms(7 * 24 * hour);
        assert_eq!(crib.sweep().await, Swept { session_keys: 2, agent_tokens: 1, ..Swept::default() });
        assert!(crib.sweep().await.is_nothing());
        // Sessions stay, because audit entries name them.
        for (tenant, session) in [(&tenant, &ended), (&other, &expiring), (&tenant, &lasting)] {
            tenant.get(&format!("sessions/{}", session.id)).await.expect(200);
        }
        assert_eq!(lasting.call("bricks.list", json!({})).await.result()["structuredContent"], json!({"bricks": []}));
        tenant.get(&format!("users/{}", person.id)).await.expect(200);
    }

    async fn opened_session_has_a_complete_client_config(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| {
            config.clock = clock.clone();
            config.public_url = Some("https://crib.example/".to_owned());
        })
        .await;
        let tenant = crib.tenant().await;
        let opened = tenant.post("sessions", json!({"projectId": tenant.project})).await.expect(201);
        assert_eq!(members(&opened), ["expiresAt", "mcpConfig", "mcpUrl", "projectId", "sessionId"]);
        assert!(!has_null(&opened), "some clients reject a configuration with a null in it: {opened}");
        let id = text(&opened["sessionId"]);
        assert!(id.starts_with("ses_") && id.len() == 30, "{id}");
        assert_eq!(
            (&opened["projectId"], &opened["mcpUrl"]),
            (&json!(tenant.project), &json!(format!("https://crib.example/api/mcp/{id}")))
        );
        let day = Timestamp::from_ms(1_800_000_000_000 + 86_400_000).rfc3339();
        assert_eq!(opened["expiresAt"], json!(day), "the default lifetime is a day");
        let bearer = opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"].clone();
        assert!(text(&bearer).starts_with("Bearer rsk_live_"), "{bearer}");
        let entry = json!({"type": "http", "url": opened["mcpUrl"], "headers": {"Authorization": bearer}});
        assert_eq!(opened["mcpConfig"], json!({"mcpServers": {"toolcrib": entry}}));
        // The session's key opens only this door, and no management route.
        let post = |path: &str| crib.http.post(format!("{}{path}", crib.url)).header("authorization", text(&bearer));
        let ping = request(1, "ping", json!({})).to_string();
        assert_eq!(crib.send(post(&format!("/api/mcp/{id}")).body(ping.clone())).await.status, 200);
        assert_eq!(crib.send(post("/api/mcp").body(ping)).await.status, 401);
        let sessions =
            crib.send(post(&format!("/api/org/{}/sessions", tenant.org)).json(&json!({"projectId": tenant.project}))).await;
        refused(&sessions, 403, "forbidden");
    }

    async fn session_shows_how_it_was_opened(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &[]).await;
        let session = tenant
            .session_with(json!({
                "agentId": agent.id, "agentLabel": "claude", "workType": "bug_fix", "tools": ["kits_get", "bricks.list"],
                "tool_names": "safe", "ttlSeconds": 60,
            }))
            .await;
        let shown = tenant.get(&format!("sessions/{}", session.id)).await.expect(200);
        let shown = &shown["session"];
        let expected = [
            "agentId",
            "agentLabel",
            "createdAt",
            "endedAt",
            "expiresAt",
            "outcome",
            "projectId",
            "sessionId",
            "state",
            "tool_names",
            "tools",
            "workType",
        ];
        assert_eq!(members(shown), expected);
        assert_eq!(
            (&shown["agentId"], &shown["agentLabel"], &shown["workType"]),
            (&json!(agent.id), &json!("claude"), &json!("bug_fix"))
        );
        assert_eq!((&shown["tools"], &shown["tool_names"]), (&json!(["bricks.list", "kits.get"]), &json!("safe")));
        assert_eq!((&shown["state"], &shown["outcome"], &shown["endedAt"]), (&json!("open"), &json!(null), &json!(null)));
        let plain = tenant.session().await;
        let listed = tenant.get("sessions").await;
        assert!(!listed.text.contains("rsk_live_"), "the session key is shown only once");
        let listed = listed.expect(200);
        assert_eq!((&listed["sessions"][0]["sessionId"], &listed["sessions"][1]), (&json!(plain.id), shown));
        assert_eq!(listed["sessions"][0]["tools"], json!(null));
    }

    async fn session_ends_only_once(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        for (body, outcome) in [
            (Some(json!({"outcome": "accepted"})), json!("accepted")),
            (Some(json!({"outcome": "rework"})), json!("rework")),
            (Some(json!({"outcome": "rejected"})), json!("rejected")),
            (Some(json!({"outcome": null})), json!(null)),
            (Some(json!({})), json!(null)),
            (None, json!(null)),
        ] {
            let session = tenant.session().await;
            let path = format!("sessions/{}/end", session.id);
            for bad in [json!({"outcome": "perfect"}), json!({"how": "well"}), json!([]), json!("accepted")] {
                refused(&tenant.post(&path, bad).await, 400, "invalid_params");
            }
            assert_eq!(session.rpc(&request(1, "ping", json!({}))).await.status, 200, "an invalid request does not end the session");
            let ended = tenant.api(Method::POST, &path, body).await.expect(200);
            assert_eq!((&ended["session"]["state"], &ended["session"]["outcome"]), (&json!("ended"), &outcome));
            assert_eq!(ended["session"]["endedAt"], json!(clock.now().rfc3339()));
            refused(&tenant.post(&path, json!({"outcome": "accepted"})).await, 409, "conflict");
            assert_eq!(tenant.get(&format!("sessions/{}", session.id)).await.expect(200), ended, "the first outcome stays");
        }
        let session = tenant.session_with(json!({"ttlSeconds": 1})).await;
        clock.advance_ms(1_000);
        assert_eq!(tenant.get(&format!("sessions/{}", session.id)).await.expect(200)["session"]["state"], "expired");
        // An expired session still takes an outcome.
        let ended = tenant.post(&format!("sessions/{}/end", session.id), json!({"outcome": "accepted"})).await.expect(200);
        assert_eq!((&ended["session"]["state"], &ended["session"]["outcome"]), (&json!("ended"), &json!("accepted")));
        refused(&tenant.post("sessions/ses_00000000000000000000000000/end", json!({})).await, 404, "not_found");
    }

    async fn invalid_sessions_are_refused(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let elsewhere = text(&tenant.post("projects", json!({"name": "elsewhere"})).await.expect(201)["project"]["id"]);
        let tied = tenant.agent_with(json!({"name": "tied", "projectId": elsewhere, "scopes": [], "tools": []})).await;
        let disabled = tenant.agent(&[], &[]).await;
        tenant.api(Method::PATCH, &format!("agents/{}", disabled.id), Some(json!({"disabled": true}))).await.expect(200);
        let open = |member: &str, value: Value| {
            let mut body = json!({"projectId": tenant.project});
            body[member] = value;
            tenant.post("sessions", body)
        };
        for (member, value) in [
            ("ttlSeconds", json!(0)),
            ("ttlSeconds", json!(-1)),
            ("ttlSeconds", json!(2_592_001)),
            ("ttlSeconds", json!("60")),
            ("tools", json!(["no_such_tool"])),
            ("tools", json!("bricks.list")),
            ("tool_names", json!("dotted")),
            ("agentLabel", json!("")),
            ("agentLabel", json!("a\0")),
            ("workType", json!("x".repeat(121))),
            ("agentId", json!("nonsense")),
            ("agentId", json!(tied.id)),
            ("scopes", json!(["*"])),
            ("projectId", json!("nonsense")),
        ] {
            refused(&open(member, value).await, 400, "invalid_params");
        }
        for (member, value) in [
            ("projectId", json!("prj_00000000000000000000000000")),
            ("agentId", json!("agt_00000000000000000000000000")),
            ("agentId", json!(disabled.id)),
        ] {
            refused(&open(member, value).await, 404, "not_found");
        }
        assert_eq!(tenant.get("sessions").await.expect(200)["sessions"], json!([]));
        for (ttl, ms) in [(1, 1_000), (2_592_000, 2_592_000_000_i64)] {
            let opened = open("ttlSeconds", json!(ttl)).await.expect(201);
            assert_eq!(opened["expiresAt"], json!(clock.now().plus_ms(ms).rfc3339()));
        }
    }
}
