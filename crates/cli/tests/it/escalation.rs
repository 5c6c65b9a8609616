//! No caller can gain rights: not by minting, not by changing others, not by racing.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::support::{Crib, Engine, both_engines, call, modern};

both_engines! {
    async fn key_cannot_mint_a_key_that_outlives_it(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let at = |seconds: i64| clock.now().plus_ms(seconds * 1_000).rfc3339();
        let body = json!({"name": "an hour", "projects": "all", "expiresAt": at(3_600)});
        let brief = tenant.post("keys", body).await.expect(201)["key"]["fullKey"].as_str().unwrap().to_owned();
        let path = format!("/api/org/{}/keys", tenant.org);
        let mint = async |body| crib.api(Method::POST, &path, &brief, Some(body)).await;
        let later = mint(json!({"name": "k", "projects": "all", "expiresAt": at(7_200)})).await;
        assert_eq!(later.status, 403, "{}", later.text);
        let unsaid = mint(json!({"name": "k", "projects": "all"})).await.expect(201);
        assert_eq!(unsaid["key"]["expiresAt"], at(3_600));
        let sooner = mint(json!({"name": "k", "projects": "all", "expiresAt": at(60)})).await.expect(201);
        assert_eq!(sooner["key"]["expiresAt"], at(60));
    }

    async fn narrow_key_can_revoke_itself_but_not_a_wider_one(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let narrow = tenant.post("keys", json!({"name": "narrow", "projects": "all", "scopes": ["keys:write"]})).await.expect(201);
        let (narrow_id, narrow_key) = (narrow["key"]["id"].as_str().unwrap(), narrow["key"]["fullKey"].as_str().unwrap());
        let listed = tenant.get("keys").await.expect(200);
        let wide = listed["keys"].as_array().unwrap().iter().find(|key| key["id"] != narrow["key"]["id"]).unwrap().clone();
        let revoke = async |id: &str| {
            crib.api(Method::DELETE, &format!("/api/org/{}/keys/{id}", tenant.org), narrow_key, None).await.status
        };
        assert_eq!(revoke(wide["id"].as_str().unwrap()).await, 403);
        assert_eq!(tenant.get("keys").await.status, 200, "the wider key still works");
        assert_eq!(revoke(narrow_id).await, 200);
        assert_eq!(revoke(narrow_id).await, 401, "the narrow key is revoked");
    }

    async fn agents_write_cannot_widen_a_stronger_agent(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &["bricks.list"]).await;
        let key = tenant.key_with(&["agents:write"]).await;
        let change = async |body| {
            crib.api(Method::PATCH, &format!("/api/org/{}/agents/{}", tenant.org, agent.id), &key, Some(body)).await.status
        };
        assert_eq!(change(json!({"tools": ["bricks.create_draft"]})).await, 403);
        assert_eq!(change(json!({"rate_limit": {"per_minute": 1000}})).await, 403);
        // A request that also disables the agent changes nothing else.
        for more in [json!({"tools": ["bricks.create_draft"]}), json!({"rate_limit": {"per_minute": 1000}}), json!({"scopes": ["agents:write"]})] {
            let mut body = more.clone();
            body["disabled"] = json!(true);
            assert_eq!(change(body).await, 403, "{more}");
        }
        assert_eq!(agent.tools().await, ["bricks.list"]);
        assert_eq!(change(json!({"disabled": true})).await, 200, "the key may disable the agent");
        assert_eq!(change(json!({"disabled": false})).await, 403);
        let rotate = format!("/api/org/{}/agents/{}/rotate", tenant.org, agent.id);
        assert_eq!(crib.api(Method::POST, &rotate, &key, None).await.status, 403);
    }

    async fn concurrent_guesses_do_not_bypass_the_limit(engine: Engine) {
        let crib = Crib::start(engine).await;
        let agent = crib.tenant().await.agent(&["*"], &["bricks.list"]).await;
        let url = format!("{}/api/agents/authenticate", crib.url);
        let wrong = json!({"agent_key": agent.agent_key, "agent_secret": "wrong"});
        let guesses = (0..40).map(|_| crib.send(crib.http.post(&url).json(&wrong)));
        let statuses: Vec<u16> = join_all(guesses).await.iter().map(|reply| reply.status).collect();
        let looked_at = statuses.iter().filter(|status| **status == 401).count();
        assert!(looked_at <= 10 && statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    }

    async fn stream_ends_with_its_session(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let listen = modern("s", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen"), ("accept", "text/event-stream")];
        let builder = headers.into_iter().fold(session.builder(), |builder, (name, value)| builder.header(name, value));
        let mut stream = builder.body(listen.to_string()).send().await.unwrap();
        let first = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
        assert!(first.contains("subscriptions/acknowledged"), "{first}");
        tenant.post(&format!("sessions/{}/end", session.id), json!({})).await.expect(200);
        let mut rest = String::new();
        while let Some(chunk) = stream.chunk().await.unwrap() {
            rest.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        assert!(!rest.contains("list_changed") && rest.contains("\"result\""), "{rest}");
    }

    async fn progress_request_gets_a_stream_without_progress(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let mut message = call(7, "bricks.list", json!({}));
        message["params"]["_meta"] = json!({"progressToken": "t"});
        let both = session.builder().header("accept", "application/json, text/event-stream").body(message.to_string());
        let events = crib.send(both).await.events();
        assert_eq!((events.len(), events[0]["id"].clone()), (1, json!(7)));
        let plain = crib.send(session.builder().header("accept", "application/json").body(message.to_string())).await;
        assert_eq!(plain.result()["structuredContent"], json!({"bricks": []}));
        let asking = async |message: String| crib.send(session.builder().header("accept", "text/event-stream").body(message)).await;
        let refused = asking(message.to_string().replace("bricks.list", "no_such")).await.events();
        assert_eq!((refused.len(), &refused[0]["error"]["code"]), (1, &json!(-32601)), "a refusal is the only event");
        let listed = asking(message.to_string().replace("tools/call", "prompts/list")).await.events();
        assert_eq!((listed.len(), &listed[0]["result"]["prompts"]), (1, &json!([])));
        // A refusal with its own HTTP status is plain JSON.
        let modern = session.builder().header("accept", "text/event-stream").header("mcp-protocol-version", "2026-07-28");
        let modern = modern.header("mcp-method", "no/such").body(message.to_string().replace("tools/call", "no/such"));
        let unknown = crib.send(modern).await;
        assert_eq!((unknown.status, unknown.error_code()), (404, -32601));
    }
}
