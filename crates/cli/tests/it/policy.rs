//! Policy decides which tools are listed and called. It fails closed, and changes apply to the next request.

use serde_json::{Value, json};

use crate::menu::TOOLS;
use crate::support::{Crib, Engine, Tenant, both_engines, call, request};

const ALL: &[&str] = &["bricks.create_draft", "bricks.list", "kits.create_draft", "kits.list", "kits.get"];

async fn put(tenant: &Tenant<'_>, id: &str, cedar: &str) -> Value {
    tenant.put(&format!("policies/{id}"), json!({"cedar": cedar})).await.expect(200)["policy"].clone()
}

async fn delete(tenant: &Tenant<'_>, id: &str) {
    assert_eq!(tenant.api(reqwest::Method::DELETE, &format!("policies/{id}"), None).await.status, 204);
}

fn brick(name: &str) -> Value {
    json!({"name": name, "type": "boolean", "evaluation_prompt": "is it so?"})
}

both_engines! {
    async fn new_org_has_a_readable_starter_policy(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let found = tenant.get("policies").await.expect(200);
        let policies = found["policies"].as_array().unwrap();
        assert_eq!(policies.len(), 1);
        assert_eq!((&policies[0]["id"], &policies[0]["mode"], &policies[0]["version"]), (&json!("starter"), &json!("enforce"), &json!(1)));
        assert!(policies[0]["cedar"].as_str().unwrap().contains("tool_call"));
        let schema = found["schema"].as_str().unwrap();
        for tool in TOOLS {
            assert!(schema.contains(&format!("\"{}\"", tool.name)), "{}", tool.name);
        }
        assert_eq!(found["flagged"], json!([]));
        assert_eq!(tenant.session().await.call("bricks.list", json!({})).await.status, 200);
    }

    async fn without_a_permit_no_tool_is_listed_or_called(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (session, agent) = (tenant.session().await, tenant.agent(&["*"], ALL).await);
        assert_eq!(agent.tools().await, ALL);
        delete(&tenant, "starter").await;
        assert!(agent.tools().await.is_empty());
        for row in TOOLS {
            let refused = session.call(row.name, json!({})).await;
            // Arguments are checked before policy.
            assert!([-32003, -32602].contains(&refused.error_code()), "{}: {}", row.name, refused.text);
        }
        let refused = session.call("bricks.list", json!({})).await.error();
        assert_eq!((&refused["code"], &refused["data"]["kind"], &refused["data"]["reason"]), (&json!(-32003), &json!("not_permitted"), &json!("policy")));
        assert_eq!(agent.call("bricks.list", json!({})).await.error_code(), -32001);
        put(&tenant, "starter", "permit (principal, action, resource);").await;
        assert_eq!(agent.tools().await, ALL);
        session.call("bricks.list", json!({})).await.result();
    }

    async fn forbid_for_one_agent_hides_the_tool_from_that_agent(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (one, other) = (tenant.agent(&["*"], ALL).await, tenant.agent(&["*"], ALL).await);
        let cedar = format!(r#"forbid (principal == Agent::"{}", action == Action::"bricks.create_draft", resource);"#, one.id);
        put(&tenant, "no-drafts", &cedar).await;
        let without: Vec<_> = ALL.iter().copied().filter(|name| *name != "bricks.create_draft").collect();
        assert_eq!(one.tools().await, without);
        assert_eq!(other.tools().await, ALL);
        assert_eq!(one.call("bricks.create_draft", brick("a")).await.error_code(), -32001);
        // The other spelling names the same tool.
        assert_eq!(one.call("bricks_create_draft", brick("a")).await.error_code(), -32001);
        other.call("bricks.create_draft", brick("a")).await.result();
        // A session for the agent is a member of it.
        let session = tenant.session_with(json!({"agentId": one.id})).await;
        let in_agent = cedar.replace("principal ==", "principal in");
        put(&tenant, "no-drafts", &in_agent).await;
        assert_eq!(session.call("bricks.create_draft", brick("b")).await.error_code(), -32003);
        delete(&tenant, "no-drafts").await;
        assert_eq!(one.tools().await, ALL);
        session.call("bricks.create_draft", brick("b")).await.result();
    }

    async fn input_conditions_affect_calls_but_not_listings(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], ALL).await;
        let cedar = r#"forbid (principal, action == Action::"bricks.create_draft", resource)
            when { context.input has description && context.input.description like "*secret*" };"#;
        put(&tenant, "no-secrets", cedar).await;
        assert_eq!(agent.tools().await, ALL);
        let described = |text: &str| {
            let mut brick = brick("d");
            brick["description"] = json!(text);
            brick
        };
        assert_eq!(agent.call("bricks.create_draft", described("a secret thing")).await.error_code(), -32001);
        agent.call("bricks.create_draft", described("a plain thing")).await.result();
        agent.call("bricks.create_draft", brick("e")).await.result();
        // An overflow is an evaluation error, and an error denies the call.
        let overflow = r#"permit (principal, action == Action::"bricks.list", resource)
            when { context.input has limit && context.input.limit + 9223372036854775807 > 0 };"#;
        put(&tenant, "sum", overflow).await;
        agent.call("bricks.list", json!({})).await.result();
        assert_eq!(agent.call("bricks.list", json!({"limit": 5})).await.error_code(), -32001);
    }

    async fn time_conditions_affect_calls_and_listings(engine: Engine) {
        // 2027-01-15, eight in the morning.
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        put(&tenant, "not-before-nine", r#"forbid (principal, action == Action::"bricks.create_draft", resource)
            when { context.call.now.toTime() < duration("9h") };"#).await;
        let session = tenant.session().await;
        let has_drafts = async || {
            let listed = session.rpc(&request(1, "tools/list", json!({}))).await.result();
            listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "bricks.create_draft")
        };
        assert!(!has_drafts().await);
        assert_eq!(session.call("bricks.create_draft", brick("early")).await.error_code(), -32003);
        clock.advance_ms(3_600_000);
        assert!(has_drafts().await, "only the time has changed");
        session.call("bricks.create_draft", brick("late")).await.result();
    }

    async fn log_only_policy_changes_nothing_and_is_recorded(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let forbid = json!({"cedar": "forbid (principal, action, resource);", "mode": "log_only"});
        assert_eq!(tenant.put("policies/trial", forbid).await.expect(200)["policy"]["mode"], "log_only");
        session.call("bricks.list", json!({})).await.result();
        let shown = tenant.trail("entityId=bricks.list").await;
        let decision = &shown[0]["payload"]["decision"];
        assert_eq!((&decision["allowed"], &decision["logOnly"]["allowed"]), (&json!(true), &json!(false)), "{decision}");
        assert_eq!(decision["logOnly"]["policies"], json!(["trial"]));
        // A log-only permit permits nothing.
        delete(&tenant, "starter").await;
        let permit = json!({"cedar": "permit (principal, action, resource);", "mode": "log_only"});
        tenant.put("policies/trial", permit).await.expect(200);
        assert_eq!(session.call("bricks.list", json!({})).await.error_code(), -32003);
        tenant.put("policies/trial", json!({"cedar": "permit (principal, action, resource);", "mode": "enforce"})).await.expect(200);
        session.call("bricks.list", json!({})).await.result();
        let switched = tenant.trail("eventType=policy.mode_changed").await;
        assert_eq!((&switched[0]["payload"]["from"], &switched[0]["payload"]["to"]), (&json!("log_only"), &json!("enforce")));
    }

    async fn invalid_policy_is_refused_with_line_and_column(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let before = tenant.get("policies").await.expect(200);
        for (cedar, line, column) in [
            ("", None, None),
            ("// nothing but words", Some(1), Some(1)),
            ("permit (principal, action, resource)", None, None),
            ("permit (principal, action == Action::\"no.such\", resource);", Some(1), None),
            ("// é\npermit (principal, action, resource)\nwhen { principal.nothing == 1 };", Some(3), None),
            ("permit (principal == ?principal, action, resource);", Some(1), None),
        ] {
            let refused = tenant.put("policies/wrong", json!({"cedar": cedar})).await;
            if cedar.is_empty() {
                assert_eq!(refused.status, 400, "{}", refused.text);
                continue;
            }
            let body = refused.expect(422);
            let finding = &body["findings"][0];
            assert!(body["error"].is_string() && finding["message"].is_string(), "{cedar}: {body}");
            assert!(line.is_none_or(|line| finding["line"] == line), "{cedar}: {body}");
            assert!(column.is_none_or(|column| finding["column"] == column), "{cedar}: {body}");
            let checked = tenant.post("policy/check", json!({"cedar": cedar})).await.expect(200);
            assert_eq!(checked["findings"], body["findings"], "{cedar}");
        }
        assert_eq!(tenant.get("policies").await.expect(200), before);
        for name in ["UPPER", "-a", "a b", &"a".repeat(65)] {
            let refused = tenant.put(&format!("policies/{name}"), json!({"cedar": "permit (principal, action, resource);"})).await;
            assert_eq!(refused.status, 400, "{name}: {}", refused.text);
        }
    }

    async fn policy_versions_are_kept_and_equal_text_adds_none(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (first, second) = ("permit (principal, action, resource);", "forbid (principal is Agent, action, resource);");
        assert_eq!(put(&tenant, "p", first).await["version"], 1);
        assert_eq!(put(&tenant, "p", first).await["version"], 1);
        assert_eq!(put(&tenant, "p", second).await["version"], 2);
        delete(&tenant, "p").await;
        assert_eq!(tenant.api(reqwest::Method::DELETE, "policies/p", None).await.status, 404);
        assert_eq!(put(&tenant, "p", first).await["version"], 4);
        let versions = tenant.get("policies/p").await.expect(200)["versions"].clone();
        let texts: Vec<_> = versions.as_array().unwrap().iter().map(|version| (version["version"].clone(), version["cedar"].clone())).collect();
        assert_eq!(json!(texts), json!([[4, first], [3, null], [2, second], [1, first]]));
        assert_eq!(tenant.get("policies/never").await.status, 404);
    }

    async fn policies_of_one_org_never_affect_another(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let (our_session, their_session) = (ours.session().await, theirs.session().await);
        put(&ours, "stop", "forbid (principal, action, resource);").await;
        assert_eq!(our_session.call("bricks.list", json!({})).await.error_code(), -32003);
        their_session.call("bricks.list", json!({})).await.result();
        // A policy that names another org or its session has no effect there either.
        put(&ours, "stop", &format!(r#"forbid (principal in Org::"{}", action, resource);"#, theirs.org)).await;
        put(&ours, "stop2", &format!(r#"forbid (principal == Session::"{}", action, resource);"#, their_session.id)).await;
        our_session.call("bricks.list", json!({})).await.result();
        their_session.call("bricks.list", json!({})).await.result();
    }

    async fn policy_explain_gives_the_reason(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (session, agent) = (tenant.session().await, tenant.agent(&["bricks:read"], &["bricks.list"]).await);
        let ask = async |body: Value| tenant.post("policy/explain", body).await;
        let shown = ask(json!({"sessionId": session.id, "tool": "bricks_list", "arguments": {}})).await.expect(200);
        assert_eq!((&shown["allowed"], &shown["decision"]["reason"]), (&json!(true), &json!("permitted")));
        assert_eq!(shown["decision"]["policies"], json!(["starter#own-tools"]));
        let shown = ask(json!({"agentId": agent.id, "tool": "kits.list"})).await.expect(200);
        assert_eq!((&shown["allowed"], &shown["decision"]["allowed"]), (&json!(false), &json!(true)));
        assert!(shown["beforePolicy"].as_str().unwrap().contains("scope"), "{shown}");
        let tried = json!([{"id": "stop", "cedar": "forbid (principal is Agent, action, resource);"}]);
        let shown = ask(json!({"agentId": agent.id, "tool": "bricks.list", "with": tried})).await.expect(200);
        assert_eq!((&shown["allowed"], &shown["decision"]["policies"]), (&json!(false), &json!(["stop"])));
        let reader = tenant.key_with(&["org:read"]).await;
        let path = format!("/api/org/{}/policy/explain", tenant.org);
        let body = json!({"agentId": agent.id, "tool": "bricks.list", "with": tried});
        assert_eq!(crib.api(reqwest::Method::POST, &path, &reader, Some(body)).await.status, 403, "a trial policy needs the write scope");
        assert_eq!(ask(json!({"agentId": agent.id, "tool": "no.such"})).await.status, 404);
        assert_eq!(ask(json!({"tool": "bricks.list"})).await.status, 400);
        assert_eq!(ask(json!({"agentId": agent.id, "sessionId": session.id, "tool": "bricks.list"})).await.status, 400);
        // Explaining is no call, so nothing is recorded.
        assert!(tenant.trail("entityId=bricks.list").await.is_empty());
    }

    async fn policy_rules_are_limited_to_ten_thousand(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let rule = |number: usize| format!("forbid (principal == Agent::\"agt_{number}\", action, resource);\n");
        let rules: String = (0..9_990).map(rule).collect();
        put(&tenant, "many", &rules).await;
        session.call("bricks.list", json!({})).await.result();
        let refused = tenant.put("policies/more", json!({"cedar": rule(1).repeat(9)})).await;
        assert_eq!(refused.status, 413, "{}", refused.text);
        let endless = format!("// {}\npermit (principal, action, resource);", "x".repeat(1_000_000));
        assert_eq!(tenant.put("policies/long", json!({"cedar": endless})).await.status, 400);
        // All policies together are limited too, including those above.
        let long = format!("// {}\npermit (principal, action, resource);", "x".repeat(900_000));
        put(&tenant, "long", &long).await;
        let refused = tenant.put("policies/longer", json!({"cedar": long})).await;
        assert_eq!(refused.status, 413, "{}", refused.text);
        assert!(refused.text.contains("2000000 characters"), "{}", refused.text);
        session.rpc(&call(1, "bricks.list", json!({}))).await.result();
    }
}
