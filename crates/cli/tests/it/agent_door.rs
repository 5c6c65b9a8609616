//! The agent door: tokens, scopes, allowlists and error codes.

use reqwest::Method;
use serde_json::json;

use crate::support::{Crib, Engine, both_engines, request};

const ALL: [&str; 4] = ["bricks:create_draft", "bricks:read", "kits:create_draft", "kits:read"];

both_engines! {
    async fn failures_behind_a_trusted_proxy_count_per_client(engine: Engine) {
        let trust = |config: &mut server::Config| config.trust_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        for (trusts, others) in [(true, 200), (false, 429)] {
            let crib = Crib::start_with(engine, |config| if trusts { trust(config) }).await;
            let agent = crib.tenant().await.agent(&["*"], &["bricks.list"]).await;
            let authenticate = async |key: &str, secret: &str, client: &str| {
                let body = json!({"agent_key": key, "agent_secret": secret});
                let post = crib.http.post(format!("{}/api/agents/authenticate", crib.url)).header("x-forwarded-for", client);
                crib.send(post.json(&body)).await.status
            };
            for number in 0..10 {
                // A client can forge the first address. The proxy appends the real one.
                let claimed = format!("192.0.2.{number}, 203.0.113.1");
                assert_eq!(authenticate(&format!("agk_{number}"), "wrong", &claimed).await, 401);
            }
            assert_eq!(authenticate(&agent.agent_key, &agent.agent_secret, "203.0.113.1").await, 429);
            assert_eq!(authenticate(&agent.agent_key, &agent.agent_secret, "203.0.113.2").await, others);
        }
    }

    async fn guesses_from_many_addresses_count_against_one_agent(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.trust_proxies = vec!["127.0.0.0/8".parse().unwrap()]).await;
        let tenant = crib.tenant().await;
        let (agent, other) = (tenant.agent(&["*"], &[]).await, tenant.agent(&["*"], &[]).await);
        let post = async |path: &str, body: serde_json::Value, number: u8| {
            let post = crib.http.post(format!("{}{path}", crib.url)).header("x-forwarded-for", format!("203.0.113.{number}"));
            crib.send(post.json(&body)).await.status
        };
        let agents = |key: &str, secret: &str| json!({"agent_key": key, "agent_secret": secret});
        for number in 0..10 {
            assert_eq!(post("/api/agents/authenticate", agents(&agent.agent_key, "wrong"), number).await, 401);
        }
        assert_eq!(post("/api/agents/authenticate", agents(&agent.agent_key, &agent.agent_secret), 50).await, 429);
        assert_eq!(post("/api/agents/authenticate", agents(&other.agent_key, &other.agent_secret), 50).await, 200);
    }

    async fn agent_lists_only_tools_that_scope_and_allowlist_both_name(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for (scopes, tools, listed) in [
            (&ALL[..], &["bricks.list", "kits.get"][..], &["bricks.list", "kits.get"][..]),
            (&["bricks:read"], &["bricks.list", "kits.get"], &["bricks.list"]),
            (&["*"], &["bricks_list"], &["bricks.list"]),
            (&ALL, &[], &[]),
            (&[], &["bricks.list"], &[]),
        ] {
            assert_eq!(tenant.agent(scopes, tools).await.tools().await, listed, "{scopes:?} {tools:?}");
        }
    }

    async fn unlisted_tool_cannot_be_called(engine: Engine) {
        let crib = Crib::start(engine).await;
        let agent = crib.tenant().await.agent(&["bricks:read", "kits:read"], &["bricks.list", "kits.create_draft"]).await;
        for (tool, arguments, code) in [
            ("kits.get", json!({}), -32001),
            ("kits.create_draft", json!({}), -32001),
            ("bricks.create_draft", json!({"nonsense": 1}), -32001),
            ("no_such_tool", json!({}), -32601),
            ("bricks.list", json!({"limit": 0}), -32602),
        ] {
            assert_eq!(agent.call(tool, arguments).await.error_code(), code, "{tool}");
        }
        assert_eq!(agent.call("bricks.list", json!({})).await.result()["structuredContent"], json!({"bricks": []}));
    }

    async fn tokens_expire_and_are_revoked_with_their_agent(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let mut agent = tenant.agent(&ALL, &["bricks.list"]).await;
        let ping = request(1, "ping", json!({}));
        let issued = agent.authenticate().await.expect(200);
        assert_eq!(issued["expires_at"], base::Timestamp::from_ms(1_800_000_900_000).rfc3339());
        assert_eq!(issued["workspace_id"], tenant.org.as_str());
        assert_eq!(issued["scopes"], json!(ALL));
        clock.advance_ms(15 * 60_000 - 1);
        assert_eq!(agent.rpc(&ping).await.status, 200);
        clock.advance_ms(1);
        assert_eq!(agent.rpc(&ping).await.expect(401), json!({"error": "Unauthorized"}));

        let renew = async |agent: &mut crate::support::Agent<'_>| {
            agent.token = agent.authenticate().await.expect(200)["access_token"].as_str().unwrap().to_owned();
        };
        renew(&mut agent).await;
        let rotated = tenant.post(&format!("agents/{}/rotate", agent.id), json!({})).await.expect(200);
        assert_eq!(agent.rpc(&ping).await.status, 401, "rotation revokes tokens");
        assert_eq!(agent.authenticate().await.status, 401, "rotation revokes the old secret");
        agent.agent_secret = rotated["agent_secret"].as_str().unwrap().to_owned();
        renew(&mut agent).await;

        tenant.api(Method::PATCH, &format!("agents/{}", agent.id), Some(json!({"disabled": true}))).await.expect(200);
        assert_eq!((agent.rpc(&ping).await.status, agent.authenticate().await.status), (401, 401));
        tenant.api(Method::PATCH, &format!("agents/{}", agent.id), Some(json!({"disabled": false}))).await.expect(200);
        renew(&mut agent).await;
        assert_eq!(agent.rpc(&ping).await.status, 200);
        assert_eq!(tenant.api(Method::DELETE, &format!("agents/{}", agent.id), None).await.status, 204);
        assert_eq!((agent.rpc(&ping).await.status, agent.authenticate().await.status), (401, 401));
    }

    async fn changed_scopes_and_tools_apply_to_the_next_request(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&ALL, &["bricks.list", "kits.list"]).await;
        assert_eq!(agent.tools().await, ["bricks.list", "kits.list"]);
        let path = format!("agents/{}", agent.id);
        tenant.api(Method::PATCH, &path, Some(json!({"tools": ["kits.list", "kits.get"]}))).await.expect(200);
        assert_eq!(agent.tools().await, ["kits.list", "kits.get"]);
        tenant.api(Method::PATCH, &path, Some(json!({"scopes": ["bricks:read"]}))).await.expect(200);
        assert_eq!(agent.tools().await, Vec::<String>::new());
    }

    async fn wrong_credentials_all_get_the_same_error(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&ALL, &["bricks.list"]).await;
        let disabled = tenant.agent(&ALL, &["bricks.list"]).await;
        tenant.api(Method::PATCH, &format!("agents/{}", disabled.id), Some(json!({"disabled": true}))).await.expect(200);
        let url = format!("{}/api/agents/authenticate", crib.url);
        let mut bodies = Vec::new();
        for (key, secret) in [
            (disabled.agent_key.as_str(), disabled.agent_secret.as_str()),
            (agent.agent_key.as_str(), "ags_wrong"),
            ("agk_unknown", agent.agent_secret.as_str()),
            ("agk_x", "ags_y"),
        ] {
            let reply = crib.send(crib.http.post(&url).json(&json!({"agent_key": key, "agent_secret": secret}))).await;
            bodies.push(reply.expect(401));
        }
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{bodies:?}");
        for missing in [json!({}), json!({"agent_key": "k"}), json!({"agent_secret": "s"}), json!({"agent_key": 1, "agent_secret": 2})] {
            assert_eq!(crib.send(crib.http.post(&url).json(&missing)).await.status, 400, "{missing}");
        }
    }

    async fn ten_failures_block_further_guesses(engine: Engine) {
        let crib = Crib::start(engine).await;
        let agent = crib.tenant().await.agent(&ALL, &["bricks.list"]).await;
        let url = format!("{}/api/agents/authenticate", crib.url);
        for _ in 0..10 {
            let wrong = json!({"agent_key": agent.agent_key, "agent_secret": "wrong"});
            assert_eq!(crib.send(crib.http.post(&url).json(&wrong)).await.status, 401);
        }
        let right = agent.authenticate().await;
        assert_eq!(right.status, 429, "even the right secret is refused");
        assert!(right.header("retry-after").is_some());
        assert_eq!(agent.rpc(&request(1, "ping", json!({}))).await.status, 200, "issued tokens keep working");
    }

    async fn agent_rate_limit_applies_to_calls_and_tokens(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant
            .agent_with(json!({"name": "slow", "scopes": ALL, "tools": ["bricks.list"], "rate_limit": {"per_minute": 2}}))
            .await;
        let ping = request(1, "ping", json!({}));
        let statuses = [agent.rpc(&ping).await.status, agent.rpc(&ping).await.status, agent.rpc(&ping).await.status];
        assert_eq!(statuses, [200, 429, 429], "issuing the token counted as the first call");
        let token = agent.authenticate().await;
        assert_eq!((token.status, token.header("retry-after").is_some()), (429, true), "issuing a token counts too: {}", token.text);
    }
}
