//! Every call and every change is an audit entry: who did what, and with what outcome.

use reqwest::Method;
use serde_json::{Value, json};

use super::Export;
use crate::menu::{Need, ROUTES, Things};
use crate::support::{Crib, Engine, both_engines, call, request};

both_engines! {
    async fn every_call_is_recorded_with_its_outcome(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session_with(json!({"workType": "feature"})).await;
        let limited = tenant.agent(&["bricks:read"], &["bricks.list", "kits.list"]).await;
        let brick = json!({"name": "b", "type": "boolean", "evaluation_prompt": "p"});
        let calls = [
            (session.call("bricks.create_draft", brick.clone()).await, "call.completed", "bricks.create_draft", None),
            (session.call("bricks_list", json!({})).await, "call.completed", "bricks.list", None),
            (session.call("no.such.tool", json!({})).await, "call.refused", "no.such.tool", Some("tool_not_found")),
            (session.call("bricks.list", json!({"limit": "x"})).await, "call.refused", "bricks.list", Some("invalid_params")),
            (session.rpc(&request(1, "tools/call", json!({"arguments": {}}))).await, "call.refused", "", Some("invalid_params")),
            (session.rpc(&request(1, "tools/call", json!({"name": 7}))).await, "call.refused", "", Some("invalid_params")),
            (limited.call("kits.list", json!({})).await, "call.refused", "kits.list", Some("not_permitted")),
            (limited.call("bricks.create_draft", brick).await, "call.refused", "bricks.create_draft", Some("not_permitted")),
        ];
        for (reply, event_type, tool, kind) in calls {
            let request = reply.header("x-request-id").unwrap();
            let entries = tenant.trail(&format!("requestId={request}")).await;
            assert_eq!(entries.len(), 1, "{tool}: {entries:?}");
            let (event, payload) = (&entries[0], &entries[0]["payload"]);
            assert_eq!((&event["eventType"], &event["entityType"], &event["entityId"]), (&json!(event_type), &json!("tool"), &json!(tool)));
            assert_eq!(event["workspaceId"], tenant.org);
            assert_eq!(payload["error"]["kind"], kind.map_or(Value::Null, Value::from), "{event}");
            if let Some(code) = reply.json()["error"]["code"].as_i64() {
                assert_eq!(payload["error"]["code"], code, "{event}");
            }
            assert!(payload["durationMs"].as_f64().unwrap() >= 0.0 && payload["startedAt"].is_string());
        }
        let entries = tenant.trail("entityId=bricks.list&eventType=call.completed").await;
        assert_eq!((&entries[0]["actorType"], &entries[0]["actorId"]), (&json!("session"), &json!(session.id)));
        assert_eq!(entries[0]["payload"]["decision"]["policies"], json!(["starter#own-tools"]));
        assert_eq!(entries[0]["payload"]["decision"]["policySet"].as_str().unwrap().len(), 64);
        let entries = tenant.trail(&format!("actorId={}", limited.id)).await;
        assert!(entries.iter().any(|event| event["actorType"] == "agent" && event["payload"]["door"] == "agent"));
        Export::of(&tenant).await.verified();
    }

    async fn unknown_tool_name_is_recorded_short_and_printable(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        for name in [format!("no\u{0}{}", "x".repeat(5_000)), "\u{1b}[2J".to_owned(), "é".repeat(70_000)] {
            let reply = session.call(&name, json!({})).await;
            assert_eq!(reply.error_code(), -32601);
            let entries = tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await;
            let kept = entries[0]["entityId"].as_str().unwrap();
            assert!(kept.chars().count() <= 120 && !kept.chars().any(char::is_control), "{kept:?}");
        }
        Export::of(&tenant).await.verified();
    }

    async fn arguments_are_recorded_as_a_digest_per_org(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let secret = "the launch code is 0000";
        let brick = |prompt: &str| json!({"name": "b", "type": "boolean", "evaluation_prompt": prompt});
        let session = tenant.session().await;
        for prompt in [secret, secret, "something else"] {
            session.call("bricks.create_draft", brick(prompt)).await.result();
        }
        other.session().await.call("bricks.create_draft", brick(secret)).await.result();
        // Member order and whitespace do not change the digest.
        let spaced = format!(
            r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "bricks.create_draft", "arguments": {{ "type": "boolean", "name": "b", "evaluation_prompt": "{secret}" }} }} }}"#
        );
        session.raw(spaced).await.result();
        let digests = async |tenant: &crate::support::Tenant<'_>| -> Vec<String> {
            let entries = tenant.trail("entityId=bricks.create_draft").await;
            entries.iter().map(|event| event["payload"]["argumentsDigest"].as_str().unwrap().to_owned()).collect()
        };
        let ours = digests(&tenant).await;
        assert_eq!((&ours[0], &ours[2]), (&ours[3], &ours[3]));
        assert_ne!(ours[1], ours[3]);
        assert_ne!(digests(&other).await[0], ours[3], "each org has its own digests");
        for tenant in [&tenant, &other] {
            assert!(!Export::of(tenant).await.lines.contains("launch code"));
        }
    }

    async fn every_changing_route_is_recorded(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let owner = tenant.person("owner").await;
        // These routes belong to no org, or record a login.
        let silent = ["/api/agents/authenticate", "/api/console/login", "/api/console/logout", "/api/orgs"];
        // These routes only ask.
        let questions =
            ["/api/audit/verify", "/policy/check", "/policy/explain", "/memory/search", "/graph/search", "/code/search", "/code/index"];
        for (index, row) in ROUTES.iter().filter(|row| row.changes()).enumerate() {
            if silent.contains(&row.path) || questions.iter().any(|question| row.path.ends_with(question)) {
                continue;
            }
            let things = Things::make(&tenant, &format!("c{index}")).await;
            let (path, body) = (things.fill(row.path), (row.body)(&things));
            let reply = match row.need {
                Need::InstanceAdmin => crib.api(row.method(), &path, &crib.admin_key, body).await,
                _ => owner.api(row.method(), &path, body).await,
            };
            assert!((200..300).contains(&reply.status), "{} {path}: {} {}", row.method, reply.status, reply.text);
            let entries = tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await;
            assert!(!entries.is_empty(), "{} {} left no entry", row.method, row.path);
            let actor = if row.need == Need::InstanceAdmin { "instance_admin" } else { "user" };
            assert!(entries.iter().all(|event| event["actorType"] == actor), "{entries:?}");
        }
        let export = Export::of(&tenant).await;
        export.verified();
        for secret in ["rsk_live_", "ags_", "correct horse", "agt_live_"] {
            assert!(!export.lines.contains(secret), "{secret}");
        }
    }

    async fn bricks_published_with_a_kit_are_recorded_and_repeats_are_not(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let owner = tenant.person("owner").await;
        let session = tenant.session().await;
        let opened = tenant.trail("eventType=session.opened").await;
        let key = opened[0]["payload"]["keyId"].as_str().unwrap().to_owned();
        let things = Things::make_without_user(&tenant, "kit").await;
        let brick = json!({"name": "second", "type": "boolean", "evaluation_prompt": "?"});
        let called = session.call("bricks.create_draft", brick).await;
        let request = called.header("x-request-id").unwrap().to_owned();
        let second = called.result()["structuredContent"]["brick_id"].as_str().unwrap().to_owned();
        assert_eq!(tenant.trail(&format!("requestId={request}")).await[0]["payload"]["keyId"], key, "the key that opened the session");
        let decide = async |path: String, body| owner.api(Method::POST, &path, body).await.expect_success();
        decide(format!("/api/bricks/{}/publish", things.brick), None).await;
        decide(format!("/api/kits/{}/versions", things.kit), Some(json!({"brick_ids": [things.brick, second]}))).await;
        let request = decide(format!("/api/kits/{}/publish", things.kit), None).await;
        let entries = tenant.trail(&format!("requestId={request}")).await;
        let entries: Vec<_> = entries.iter().rev().map(|event| (event["eventType"].as_str().unwrap(), &event["entityId"])).collect();
        let expected = [("kit.published", &json!(things.kit)), ("brick.published", &json!(second))];
        assert_eq!(entries, expected, "the first was published earlier");
        for (kind, id) in [("brick", &second), ("kit", &things.kit)] {
            let request = decide(format!("/api/{kind}s/{id}/deprecate"), None).await;
            assert_eq!(tenant.trail(&format!("requestId={request}")).await.len(), 1, "{kind}");
            let request = decide(format!("/api/{kind}s/{id}/deprecate"), None).await;
            assert!(tenant.trail(&format!("requestId={request}")).await.is_empty(), "{kind}: deprecating twice changes nothing");
        }
    }

    async fn logins_and_agent_tokens_are_recorded(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &["bricks.list"]).await;
        let entries = tenant.trail("eventType=agent.authenticated").await;
        assert_eq!((&entries[0]["actorId"], entries[0]["requestId"].is_string()), (&json!(agent.id), true));
        let person = tenant.person("member").await;
        assert_eq!(tenant.trail("eventType=user.logged_in").await.len(), 1);
        assert_eq!(person.api(Method::POST, "/api/console/logout", None).await.status, 204);
        assert_eq!(tenant.trail("eventType=user.logged_out").await.len(), 1);
    }

    async fn door_403_is_recorded_in_the_sessions_org_and_401_is_not(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let session = theirs.session().await;
        let before = theirs.trail("").await.len();
        let post_with_key = async |key: &str| {
            let request = crib.http.post(format!("{}/api/mcp/{}", crib.url, session.id)).bearer_auth(key);
            crib.send(request.json(&call(1, "bricks.list", json!({})))).await
        };
        assert_eq!(post_with_key("rsk_live_nonsense").await.status, 401);
        assert_eq!(theirs.trail("").await.len(), before);
        let refused = post_with_key(&ours.key).await;
        assert_eq!(refused.status, 403);
        let entries = theirs.trail("eventType=door.forbidden").await;
        assert_eq!((&entries[0]["entityId"], &entries[0]["actorType"]), (&json!(session.id), &json!("key")));
        assert_eq!(entries[0]["requestId"], refused.header("x-request-id").unwrap());
        assert!(ours.trail("eventType=door.forbidden").await.is_empty());
    }

    async fn filters_combine_and_time_bounds_apply(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        for _ in 0..5 {
            clock.advance_ms(1_000);
            session.call("bricks.list", json!({})).await.result();
            session.call("kits.list", json!({})).await.result();
        }
        let count = async |filter: &str| tenant.trail(filter).await.len();
        assert_eq!(count("entityId=bricks.list").await, 5);
        assert_eq!(count(&format!("actorId={}&entityId=kits.list", session.id)).await, 5);
        assert_eq!(count(&format!("actorId={}&eventType=call.completed", session.id)).await, 10);
        let at = |seconds: i64| base::Timestamp::from_ms(1_800_000_000_000 + seconds * 1_000).rfc3339();
        assert_eq!(count(&format!("since={}&until={}", at(2), at(4))).await, 4);
        assert_eq!(count(&format!("entityId=bricks.list&since={}", at(4))).await, 2);
        assert_eq!(count(&format!("until={}", at(1))).await, tenant.trail("").await.len() - 10);
        for bad in ["since=yesterday", "eventtype=x", "limit=0", "actorId=", "actorId=a%00b"] {
            let refused = crib.api(Method::GET, &format!("/api/audit?{bad}"), &tenant.key, None).await;
            assert_eq!(refused.status, 400, "{bad}: {}", refused.text);
        }
        let narrow = json!({"name": "k", "projects": [tenant.project], "scopes": ["audit:read", "policies:write", "org:read"]});
        let narrow = tenant.post("keys", narrow).await.expect(201)["key"]["fullKey"].as_str().unwrap().to_owned();
        for path in ["/api/audit", "/api/audit/export", "/api/audit/checkpoint", &format!("/api/org/{}/policies", tenant.org)] {
            assert_eq!(crib.api(Method::GET, path, &narrow, None).await.status, 403, "{path}");
        }
    }
}
