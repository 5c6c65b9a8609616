//! Agents: the secret is shown once, and changed rights apply at once.

use reqwest::Method;
use serde_json::{Value, json};

use super::{members, refused, text};
use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn agent_secret_is_shown_once(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let body = json!({
            "name": "builder", "projectId": tenant.project, "scopes": ["kits:read"], "tool_names": "safe",
            "tools": ["kits_get", "kits.list"], "rate_limit": {"per_minute": 7},
        });
        let made = tenant.post("agents", body).await.expect(201);
        assert_eq!(members(&made), ["agent_id", "agent_key", "agent_secret", "scopes", "tools"]);
        assert_eq!(made["scopes"], json!(["kits:read"]));
        assert_eq!(made["tools"], json!(["kits.get", "kits.list"]), "tools have canonical names");
        let (id, secret) = (text(&made["agent_id"]), text(&made["agent_secret"]));
        let path = format!("agents/{id}");
        let shown = tenant.get(&path).await;
        let listed = tenant.get("agents").await;
        for reply in [&shown, &listed] {
            assert!(!reply.text.contains(&secret) && !reply.text.contains("agent_secret"));
        }
        let agent = shown.expect(200)["agent"].clone();
        let expected = [
            "agent_id",
            "agent_key",
            "createdAt",
            "disabled",
            "name",
            "projectId",
            "rate_limit",
            "scopes",
            "tool_names",
            "tools",
            "updatedAt",
        ];
        assert_eq!(members(&agent), expected);
        assert_eq!(listed.expect(200), json!({"agents": [agent], "nextCursor": null}));
        assert_eq!((&agent["projectId"], &agent["rate_limit"]), (&json!(tenant.project), &json!({"per_minute": 7})));
        assert_eq!(
            (&agent["tool_names"], &agent["disabled"], &agent["agent_key"]),
            (&json!("safe"), &json!(false), &made["agent_key"])
        );

        let rotated = tenant.api(Method::POST, &format!("{path}/rotate"), None).await.expect(200);
        assert_eq!(members(&rotated), members(&made));
        assert_ne!(rotated["agent_secret"], made["agent_secret"]);
        assert_eq!(rotated["agent_key"], made["agent_key"]);
        assert_eq!(tenant.api(Method::DELETE, &path, None).await.expect(204), Value::Null);
        for (method, path) in
            [(Method::DELETE, path.clone()), (Method::GET, path.clone()), (Method::POST, format!("{path}/rotate"))]
        {
            refused(&tenant.api(method, &path, None).await, 404, "not_found");
        }
    }

    async fn agent_is_changed_member_by_member(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["kits:read"], &["kits.list"]).await;
        let path = format!("agents/{}", agent.id);
        let change = async |body: Value| tenant.api(Method::PATCH, &path, Some(body)).await;
        let mut expected = tenant.get(&path).await.expect(200)["agent"].clone();
        for (body, member, value) in [
            (json!({}), "name", json!("agent")),
            (json!({"scopes": ["bricks:read", "kits:read"]}), "scopes", json!(["bricks:read", "kits:read"])),
            (json!({"tools": ["bricks_list"]}), "tools", json!(["bricks.list"])),
            (json!({"rate_limit": {"per_minute": 3}}), "rate_limit", json!({"per_minute": 3})),
            (json!({"rate_limit": null}), "rate_limit", json!(null)),
            (json!({"disabled": true}), "disabled", json!(true)),
            (json!({"disabled": false}), "disabled", json!(false)),
        ] {
            let changed = change(body.clone()).await.expect(200)["agent"].clone();
            expected[member] = value;
            expected["updatedAt"] = changed["updatedAt"].clone();
            assert_eq!(changed, expected, "{body}");
        }
        for bad in [
            json!({"scopes": null}),
            json!({"scopes": ["kits:eat"]}),
            json!({"tools": ["Bricks.list"]}),
            json!({"tools": ["nothing"]}),
            json!({"rate_limit": {"per_minute": 0}}),
            json!({"rate_limit": 5}),
            json!({"disabled": "yes"}),
            json!({"name": "other"}),
            json!({"agent_secret": "mine"}),
        ] {
            refused(&change(bad).await, 400, "invalid_params");
        }
        assert_eq!(tenant.get(&path).await.expect(200)["agent"], expected);
    }

    async fn invalid_agents_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for bad in [
            json!({}),
            json!({"name": "a", "scopes": []}),
            json!({"name": "a", "tools": []}),
            json!({"name": "a", "scopes": ["x"], "tools": []}),
            json!({"name": "a", "scopes": [], "tools": ["x"]}),
            json!({"name": "a", "scopes": [], "tools": [], "tool_names": "x"}),
            json!({"name": "a", "scopes": [], "tools": [], "rate_limit": {"per_minute": 1, "burst": 1}}),
            json!({"name": "a", "scopes": [], "tools": [], "projectId": "x"}),
            json!({"name": "a", "scopes": [], "tools": [], "workspace_id": tenant.org}),
        ] {
            refused(&tenant.post("agents", bad).await, 400, "invalid_params");
        }
        let nowhere = json!({"name": "a", "scopes": [], "tools": [], "projectId": "prj_00000000000000000000000000"});
        refused(&tenant.post("agents", nowhere).await, 404, "not_found");
        assert_eq!(tenant.get("agents").await.expect(200)["agents"], json!([]));
    }

    async fn thirty_agents_can_authenticate_at_once(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let mut fleet = Vec::new();
        for _ in 0..30 {
            fleet.push(tenant.agent(&["*"], &[]).await);
        }
        // All come from one address, which may fail at most ten times. Successes do not count.
        let started = futures_util::future::join_all(fleet.iter().map(|agent| agent.authenticate())).await;
        let statuses: Vec<u16> = started.iter().map(|reply| reply.status).collect();
        assert_eq!(statuses, [200; 30]);
    }
}
