//! A session's key ends with its session and with the credential of its opener.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, Reply, Tenant, both_engines, request};

/// Pings a session's door with the session's own key.
async fn ping(crib: &Crib, opened: &Value) -> u16 {
    let path = format!("/api/mcp/{}", opened["sessionId"].as_str().unwrap());
    let bearer = opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"].as_str().unwrap();
    let post = crib.http.post(format!("{}{path}", crib.url)).header("authorization", bearer);
    crib.send(post.body(request(1, "ping", json!({})).to_string())).await.status
}

async fn open(tenant: &Tenant<'_>, key: &str, body: Value) -> Reply {
    tenant.crib.api(Method::POST, &format!("/api/org/{}/sessions", tenant.org), key, Some(body)).await
}

both_engines! {
    async fn demoting_a_person_ends_their_sessions(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let mut person = tenant.person("admin").await;
        let path = format!("users/{}", person.id);
        let sessions = format!("/api/org/{}/sessions", tenant.org);
        let body = json!({"projectId": tenant.project});
        let others = open(&tenant, &tenant.key, body.clone()).await.expect(201);
        let admin = json!({"role": "admin", "password": "quite another password"});
        for change in [Some(admin.clone()), Some(json!({"disabled": true})), Some(json!({"role": "member"})), None] {
            tenant.as_operator(Method::PATCH, &path, Some(json!({"disabled": false}))).await.expect(200);
            tenant.as_operator(Method::PATCH, &path, Some(admin.clone())).await.expect(200);
            person.log_in("quite another password").await.expect(200);
            let opened = person.api(Method::POST, &sessions, Some(body.clone())).await.expect(201);
            assert_eq!(ping(&crib, &opened).await, 200);
            let method = if change.is_some() { Method::PATCH } else { Method::DELETE };
            let changed = tenant.as_operator(method, &path, change.clone()).await;
            assert!((200..300).contains(&changed.status), "{}", changed.text);
            assert_eq!(ping(&crib, &opened).await, 410, "{change:?}");
            let id = opened["sessionId"].as_str().unwrap();
            assert_eq!(tenant.get(&format!("sessions/{id}")).await.expect(200)["session"]["state"], "ended", "{change:?}");
            assert_eq!(tenant.trail(&format!("entityId={id}&eventType=session.ended")).await.len(), 1, "{change:?}");
        }
        assert_eq!(ping(&crib, &others).await, 200, "other sessions keep working");
    }

    async fn new_admin_key_ends_sessions_of_the_old_one(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let body = json!({"projectId": tenant.project});
        let by_operator = open(&tenant, &crib.admin_key, body.clone()).await.expect(201);
        let by_key = open(&tenant, &tenant.key, body).await.expect(201);
        let (org, old_key, database_url) = (tenant.org.clone(), crib.admin_key.clone(), crib.database_url());
        let again = async |folder| Crib::start_in(folder, engine, |config| {
            if database_url.is_some() {
                config.database_url.clone_from(&database_url);
            }
        }).await;
        // A restart with the same `server.json` keeps the operator's key.
        let crib = again(crib.stop_and_keep().await).await;
        assert_eq!((ping(&crib, &by_operator).await, ping(&crib, &by_key).await), (200, 200));
        let folder = crib.stop_and_keep().await;
        std::fs::remove_file(folder.path().join("data/server.json")).unwrap();
        let crib = again(folder).await;
        assert_eq!(crib.api(Method::GET, "/api/orgs", &old_key, None).await.status, 401);
        assert_eq!((ping(&crib, &by_operator).await, ping(&crib, &by_key).await), (401, 200));
        let path = format!("/api/audit?org={org}&eventType=session.keys_revoked");
        let entries = crib.api(Method::GET, &path, &crib.admin_key, None).await.expect(200)["events"].clone();
        assert_eq!((entries.as_array().unwrap().len(), &entries[0]["payload"]["keys"]), (1, &json!(1)), "{entries}");
    }

    async fn disabling_or_removing_an_agent_ends_its_sessions(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for (method, change) in [(Method::PATCH, Some(json!({"disabled": true}))), (Method::DELETE, None)] {
            let (agent, other) = (tenant.agent(&["*"], &[]).await, tenant.agent(&["*"], &[]).await);
            let body = |agent: &str| json!({"projectId": tenant.project, "agentId": agent});
            let of_agent = open(&tenant, &tenant.key, body(&agent.id)).await.expect(201);
            let of_other = open(&tenant, &tenant.key, body(&other.id)).await.expect(201);
            let path = format!("agents/{}", agent.id);
            // Another change to the agent ends no session.
            tenant.api(Method::PATCH, &path, Some(json!({"tools": ["bricks.list"]}))).await.expect(200);
            assert_eq!((ping(&crib, &of_agent).await, ping(&crib, &of_other).await), (200, 200));
            let changed = tenant.api(method, &path, change).await;
            assert!((200..300).contains(&changed.status), "{}", changed.text);
            assert_eq!((ping(&crib, &of_agent).await, ping(&crib, &of_other).await), (410, 200));
            let id = of_agent["sessionId"].as_str().unwrap();
            assert!(tenant.get(&format!("sessions/{id}")).await.expect(200)["session"]["endedAt"].is_string());
            let entries = tenant.trail(&format!("entityId={id}&eventType=session.ended")).await;
            assert_eq!(entries.len(), 1, "{entries:?}");
        }
    }

    async fn session_expires_with_its_openers_key(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let expires_at = base::Timestamp::from_ms(1_800_000_060_000).rfc3339();
        let minted = tenant.post("keys", json!({"name": "short", "projects": "all", "expiresAt": expires_at})).await.expect(201);
        let opened = open(&tenant, minted["key"]["fullKey"].as_str().unwrap(), json!({"projectId": tenant.project})).await.expect(201);
        assert_eq!(opened["expiresAt"], json!(expires_at), "{opened}");
        clock.advance_ms(59_000);
        assert_eq!(ping(&crib, &opened).await, 200);
        clock.advance_ms(1_000);
        assert_eq!(ping(&crib, &opened).await, 410);
    }
}
