//! Refusals of the doors outside JSON-RPC, and their order.

use reqwest::Method;
use serde_json::json;

use crate::support::{Crib, Engine, both_engines, request};

both_engines! {
    async fn session_door_refuses_in_the_order_of_the_contract(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let session = ours.session().await;
        let ended = ours.session().await;
        ours.post(&format!("sessions/{}/end", ended.id), json!({})).await.expect(200);
        let other_project = ours.post("projects", json!({"name": "second"})).await.expect(201);
        let narrow = ours
            .post("keys", json!({"name": "narrow", "projects": [other_project["project"]["id"]]}))
            .await
            .expect(201)["key"]["fullKey"]
            .as_str()
            .unwrap()
            .to_owned();
        let unknown = "ses_00000000000000000000000000";
        let no_key = format!("rsk_live_{}", "0".repeat(64));
        for (session, key, status, error) in [
            (session.id.as_str(), None, 401, "Unauthorized"),
            (session.id.as_str(), Some("Basic abc"), 401, "Unauthorized"),
            (session.id.as_str(), Some("Bearer"), 401, "Unauthorized"),
            (session.id.as_str(), Some("Bearer nonsense"), 401, "Unauthorized"),
            (session.id.as_str(), Some(&*format!("Bearer {no_key}")), 401, "Unauthorized"),
            (unknown, Some(&*format!("Bearer {no_key}")), 401, "Unauthorized"),
            (unknown, Some(&*format!("Bearer {}", ours.key)), 404, "Session not found"),
            ("nonsense", Some(&*format!("Bearer {}", ours.key)), 404, "Session not found"),
            (session.id.as_str(), Some(&*format!("Bearer {}", theirs.key)), 403, "Forbidden"),
            (session.id.as_str(), Some(&*format!("Bearer {narrow}")), 403, "Forbidden"),
            (ended.id.as_str(), Some(&*format!("Bearer {}", theirs.key)), 403, "Forbidden"),
            (ended.id.as_str(), Some(&*format!("Bearer {}", session.key)), 403, "Forbidden"),
            (ended.id.as_str(), Some(&*format!("Bearer {}", ours.key)), 410, "Session ended"),
        ] {
            let mut builder = crib.http.post(format!("{}/api/mcp/{session}", crib.url));
            if let Some(key) = key {
                builder = builder.header("authorization", key);
            }
            let reply = crib.send(builder.body(request(1, "ping", json!({})).to_string())).await;
            assert_eq!(reply.expect(status), json!({"error": error}), "{session} {key:?}");
            assert!(reply.header("x-request-id").is_some());
            assert_eq!(reply.header("www-authenticate").is_some(), status == 401);
        }
        // An ended session's key gets 410 at its own door, and 401 everywhere else.
        let dead = async |url: &str| crib.send(crib.http.post(url).bearer_auth(&ended.key).body("{}")).await;
        assert_eq!(dead(&ended.url).await.expect(410), json!({"error": "Session ended"}));
        assert_eq!(dead(&session.url).await.status, 401);
        assert_eq!(dead(&format!("{}/api/mcp/{unknown}", crib.url)).await.status, 401);
        assert_eq!(crib.api(Method::GET, "/api/bricks", &ended.key, None).await.status, 401);
    }

    async fn doors_accept_only_post(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for url in [session.url.clone(), format!("{}/api/mcp", crib.url)] {
            for method in [Method::GET, Method::DELETE, Method::PUT] {
                let reply = crib.send(crib.http.request(method.clone(), &url).bearer_auth(&session.key)).await;
                assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "{method} {url}");
            }
        }
    }

    async fn foreign_host_or_origin_is_refused_first(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.allow_hosts = vec!["crib.example".to_owned()]).await;
        let session = crib.tenant().await.session().await;
        for (name, value, status) in [
            ("host", "evil.example", 403),
            ("host", "localhost:1", 200),
            ("host", "crib.example", 200),
            ("origin", "http://evil.example", 403),
            ("origin", "null", 403),
            ("origin", "http://localhost:5173", 200),
        ] {
            let reply = crib.send(session.builder().header(name, value).body(request(1, "ping", json!({})).to_string())).await;
            assert_eq!(reply.status, status, "{name}: {value}");
        }
        let two = session.builder().header("origin", "http://localhost").header("origin", "http://evil.example");
        assert_eq!(crib.send(two.body(request(1, "ping", json!({})).to_string())).await.status, 403, "every origin must be allowed");
    }

    async fn oversized_body_is_refused_after_the_credential_check(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.body_bytes_max = 1_000).await;
        let session = crib.tenant().await.session().await;
        let big = "x".repeat(1_001);
        assert_eq!(session.raw(big.clone()).await.status, 413);
        assert_eq!(crib.send(crib.http.post(&session.url).bearer_auth("nonsense").body(big)).await.status, 401);
        let fits = format!("{:<1000}", request(1, "ping", json!({})).to_string());
        assert_eq!(session.raw(fits).await.status, 200);
    }

    async fn rate_limit_answers_429_with_retry_after(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.key_calls_per_minute = 1;
            config.limits.key_calls_burst = 4;
        }).await;
        let tenant = crib.tenant().await;
        let (one, two) = (tenant.session().await, tenant.session().await);
        let ping = request(1, "ping", json!({}));
        assert_eq!(one.rpc(&ping).await.status, 200);
        // Sessions of one key share its limit. Each element of a batch counts, and a batch is accepted whole or not at all. A refused
        // batch costs one call, which is taken before its body is read.
        assert_eq!(two.rpc(&json!([ping, ping, ping, ping])).await.status, 429);
        assert_eq!(two.rpc(&json!([ping, ping])).await.status, 200);
        let refused = one.rpc(&ping).await;
        assert_eq!(refused.expect(429), json!({"error": "Too many requests"}));
        let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }

    async fn expired_session_gets_410(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let session = tenant.session_with(json!({"ttlSeconds": 60})).await;
        let ping = request(1, "ping", json!({}));
        assert_eq!(session.rpc(&ping).await.status, 200);
        clock.advance_ms(60_000);
        assert_eq!(session.rpc(&ping).await.expect(410), json!({"error": "Session ended"}), "the session's own key gets the same answer");
        let reply = crib.send(crib.http.post(&session.url).bearer_auth(&tenant.key).body(ping.to_string())).await;
        assert_eq!(reply.expect(410), json!({"error": "Session ended"}));
        // Setting the clock back breaks nothing.
        clock.advance_ms(-86_400_000);
        assert_eq!(tenant.session().await.rpc(&ping).await.status, 200);
    }

    async fn revocation_applies_to_the_next_request(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let minted = tenant.post("keys", json!({"name": "k", "projects": "all"})).await.expect(201);
        let (id, key) = (minted["key"]["id"].as_str().unwrap(), minted["key"]["fullKey"].as_str().unwrap());
        let path = format!("/api/org/{}/sessions", tenant.org);
        let opened = crib.api(Method::POST, &path, key, Some(json!({"projectId": tenant.project}))).await.expect(201);
        let url = opened["mcpUrl"].as_str().unwrap();
        let bearer = opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"].as_str().unwrap();
        let ping = request(1, "ping", json!({})).to_string();
        let with_key = || crib.send(crib.http.post(url).bearer_auth(key).body(ping.clone()));
        let with_session_key = || crib.send(crib.http.post(url).header("authorization", bearer).body(ping.clone()));
        assert_eq!((with_key().await.status, with_session_key().await.status), (200, 200));
        assert_eq!(tenant.api(Method::DELETE, &format!("keys/{id}"), None).await.status, 200);
        assert_eq!((with_key().await.status, with_session_key().await.status), (401, 410), "the key, and the session key of the session that it opened");
    }
}
