//! Sessions for a registered agent: who may open one, and its rights.

use reqwest::Method;
use serde_json::{Value, json};

use super::{refused, text};
use crate::support::{Crib, Engine, Reply, Session, Tenant, both_engines, call, request};

async fn open(tenant: &Tenant<'_>, key: &str, agent: &str) -> Reply {
    let body = json!({"projectId": tenant.project, "agentId": agent});
    tenant.crib.api(Method::POST, &format!("/api/org/{}/sessions", tenant.org), key, Some(body)).await
}

async fn mint(tenant: &Tenant<'_>, with: &str, mut body: Value) -> Reply {
    (body["name"], body["projects"]) = (json!("k"), json!("all"));
    tenant.mint_with(with, body).await
}

async fn tools(session: &Session<'_>) -> Vec<String> {
    let listed = session.rpc(&request(1, "tools/list", json!({}))).await.result();
    listed["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect()
}

both_engines! {
    async fn session_of_an_agent_has_at_most_the_agents_rights(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["bricks:read", "kits:read"], &["bricks.list", "kits.list", "bricks.create_draft"]).await;
        let path = format!("agents/{}", agent.id);
        let session = tenant.session_with(json!({"agentId": agent.id})).await;
        let narrow = tenant.session_with(json!({"agentId": agent.id, "tools": ["kits_list", "kits.get"]})).await;
        assert_eq!(tools(&session).await, ["bricks.list", "kits.list"]);
        assert_eq!(tools(&narrow).await, ["kits.list"]);
        let brick = json!({"name": "b", "type": "boolean", "evaluation_prompt": "p"});
        assert_eq!(session.call("bricks.create_draft", brick).await.error_code(), -32003, "the agent lacks the scope");
        assert_eq!(session.call("kits.get", json!({})).await.error_code(), -32003, "the agent lacks the tool");
        // This holds for every key, even the instance admin's.
        for key in [&tenant.key, &crib.admin_key] {
            let list = crib.http.post(&session.url).bearer_auth(key).body(call(1, "kits.get", json!({})).to_string());
            assert_eq!(crib.send(list).await.error_code(), -32003);
        }
        // The presented key limits the session too, and must cover the agent.
        let with_key = async |agents: serde_json::Value| {
            let body = json!({"name": "k", "projects": "all", "scopes": ["kits:read"], "agents": agents});
            let key = text(&tenant.post("keys", body).await.expect(201)["key"]["fullKey"]);
            crib.send(crib.http.post(&session.url).bearer_auth(key).body(request(1, "tools/list", json!({})).to_string())).await
        };
        assert_eq!(with_key(json!([])).await.status, 403);
        let refused = &tenant.trail("eventType=door.forbidden").await[0];
        assert_eq!(refused["payload"]["reason"], "agent_not_covered", "{refused}");
        let listed = with_key(json!([agent.id])).await.result();
        assert_eq!((listed["tools"].as_array().unwrap().len(), &listed["tools"][0]["name"]), (1, &json!("kits.list")));
        // A change to the agent applies to the next request.
        tenant.api(Method::PATCH, &path, Some(json!({"tools": ["kits.get"]}))).await.expect(200);
        assert_eq!((tools(&session).await, tools(&narrow).await), (vec!["kits.get".to_owned()], vec!["kits.get".to_owned()]));
        tenant.api(Method::PATCH, &path, Some(json!({"scopes": ["bricks:read"]}))).await.expect(200);
        assert_eq!(tools(&session).await, Vec::<String>::new());
        // `policy/explain` agrees with the call.
        let asked = json!({"sessionId": session.id, "tool": "kits.get"});
        assert_eq!(tenant.post("policy/explain", asked).await.expect(200)["allowed"], false);
    }

    async fn only_authorized_keys_open_sessions_for_an_agent(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (agent, other) = (tenant.agent(&["*"], &["bricks.list"]).await, tenant.agent(&["*"], &["bricks.list"]).await);
        let key = async |body: Value| text(&mint(&tenant, &tenant.key, body).await.expect(201)["key"]["fullKey"]);
        let none = key(json!({"scopes": ["sessions:write"]})).await;
        let one = key(json!({"scopes": ["sessions:write"], "agents": [agent.id]})).await;
        let all = key(json!({"scopes": ["sessions:write"], "agents": "all"})).await;
        let everything = key(json!({})).await;
        let everything_for_none = key(json!({"agents": []})).await;
        for (key, statuses) in [
            (&none, [403, 403]),
            (&one, [201, 403]),
            (&all, [201, 201]),
            (&everything, [201, 201]),
            (&everything_for_none, [403, 403]),
            (&crib.admin_key, [201, 201]),
        ] {
            let found = [open(&tenant, key, &agent.id).await.status, open(&tenant, key, &other.id).await.status];
            assert_eq!(found, statuses);
        }
        refused(&open(&tenant, &none, &agent.id).await, 403, "not_permitted");
        refused(&open(&tenant, &none, "agt_00000000000000000000000000").await, 404, "not_found");
        let path = format!("/api/org/{}/sessions", tenant.org);
        let body = json!({"projectId": tenant.project, "agentId": agent.id});
        for role in ["owner", "admin"] {
            tenant.person(role).await.api(Method::POST, &path, Some(body.clone())).await.expect(201);
        }
        // A label is no agent, so any key may set it.
        crib.api(Method::POST, &path, &none, Some(json!({"projectId": tenant.project, "agentLabel": agent.id}))).await.expect(201);
    }

    async fn key_cannot_grant_agents_it_lacks(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, theirs) = (crib.tenant().await, crib.tenant().await);
        let (one, two) = (tenant.agent(&["*"], &[]).await, tenant.agent(&["*"], &[]).await);
        let foreign = theirs.agent(&["*"], &[]).await;
        let minted = async |with: &str, body: Value| {
            let minted = mint(&tenant, with, body).await.expect(201)["key"].clone();
            let shown = tenant.get(&format!("keys/{}", text(&minted["id"]))).await.expect(200)["key"]["agents"].clone();
            assert_eq!(minted["agents"], shown);
            (shown, text(&minted["fullKey"]))
        };
        let (agents, everything) = minted(&tenant.key, json!({})).await;
        assert_eq!(agents, "all", "a key with all scopes covers all agents");
        assert_eq!(minted(&tenant.key, json!({"scopes": ["*", "kits:read"]})).await.0, "all");
        assert_eq!(minted(&tenant.key, json!({"scopes": ["kits:read"]})).await.0, json!([]));
        assert_eq!(minted(&everything, json!({"agents": []})).await.0, json!([]));
        let (agents, for_one) = minted(&everything, json!({"agents": [one.id]})).await;
        assert_eq!(agents, json!([one.id]));
        assert_eq!(minted(&for_one, json!({})).await.0, json!([one.id]), "the default is all agents of the minter");
        for (body, status) in [
            (json!({"agents": [one.id]}), 201),
            (json!({"agents": []}), 201),
            (json!({"agents": [two.id]}), 403),
            (json!({"agents": [one.id, two.id]}), 403),
            (json!({"agents": "all"}), 403),
            (json!({"agents": [foreign.id]}), 404),
            (json!({"agents": ["agt_00000000000000000000000000"]}), 404),
            (json!({"agents": "some"}), 400),
            (json!({"agents": [7]}), 400),
        ] {
            assert_eq!(mint(&tenant, &for_one, body.clone()).await.status, status, "{body}");
        }
        // A deleted agent does not block a request that does not name it.
        tenant.api(Method::DELETE, &format!("agents/{}", one.id), None).await.expect(204);
        assert_eq!(minted(&for_one, json!({})).await.0, json!([one.id]));
        let entries = tenant.trail("eventType=key.minted").await;
        let listed = json!([one.id]).to_string();
        assert!(entries.iter().any(|event| event["payload"]["agentIds"] == listed.as_str()), "{entries:?}");
    }
}
