//! Limits on call rates, concurrent calls and result sizes.

use serde_json::json;

use crate::support::{Crib, Engine, Session, both_engines, eventually, modern, request};

both_engines! {
    async fn callers_of_an_org_share_its_rate_limit(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.org_calls_per_minute = 1;
            config.limits.org_calls_burst = 20;
        })
        .await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (session, agent) = (tenant.session().await, tenant.agent(&["*"], &[]).await);
        let ping = request(1, "ping", json!({}));
        let mut passed = 0;
        while session.rpc(&ping).await.status == 200 {
            passed += 1;
            assert!(passed < 10_000, "the rate has no limit");
        }
        assert!((1..=20).contains(&passed), "{passed}");
        let refused = agent.rpc(&ping).await;
        assert_eq!(refused.expect(429), json!({"error": "Too many requests"}), "another caller used up the org's calls");
        assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
        assert_eq!(other.session().await.rpc(&ping).await.status, 200, "another org has its own limit");
    }

    async fn management_calls_have_their_own_rate_limit(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.key_calls_per_minute = 1;
            config.limits.key_calls_burst = 10;
        })
        .await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let ping = request(1, "ping", json!({}));
        let mut calls = 0;
        while session.rpc(&ping).await.status == 200 {
            calls += 1;
            assert!(calls < 10_000, "the rate has no limit");
        }
        tenant.get("agents").await.expect(200);
        let mut refused = tenant.get("agents").await;
        for _ in 0..10 {
            refused = tenant.get("agents").await;
        }
        assert_eq!(refused.status, 429, "{}", refused.text);
        assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    }

    async fn agent_can_be_disabled_when_the_org_is_rate_limited(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.org_calls_per_minute = 1;
            config.limits.org_calls_burst = 20;
        })
        .await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &[]).await;
        let ping = request(1, "ping", json!({}));
        let mut calls = 0;
        while agent.rpc(&ping).await.status == 200 {
            calls += 1;
            assert!(calls < 10_000, "the rate has no limit");
        }
        tenant.api(reqwest::Method::PATCH, &format!("agents/{}", agent.id), Some(json!({"disabled": true}))).await.expect(200);
        assert_eq!(agent.rpc(&ping).await.status, 401);
    }

    async fn concurrent_calls_are_limited_and_streams_do_not_count(engine: Engine) {
        for spent in ["caller", "org"] {
            let crib = Crib::start_with(engine, |config| match spent {
                "caller" => config.limits.caller_calls_at_once = 1,
                _ => config.limits.org_calls_at_once = 1,
            })
            .await;
            let session = crib.tenant().await.session().await;
            let ping = request(1, "ping", json!({}));
            // An incomplete body holds the only place. If a ping takes the place first, the body is refused and sent again.
            let slow = loop {
                let mut slow = crate::bounds::Raw::open(&crib).await;
                slow.head(&session, 1_000).await;
                tokio::select! {
                    () = eventually("the place is taken", async || session.rpc(&ping).await.status == 429) => break slow,
                    status = slow.status() => assert_eq!(status, 429),
                }
            };
            let refused = session.rpc(&ping).await;
            assert_eq!((refused.expect(429), refused.header("retry-after")), (json!({"error": "Too many requests"}), Some("1")));
            drop(slow);
            eventually("the place is free again", async || session.rpc(&ping).await.status == 200).await;
            // Streams have their own limit.
            let listen = modern("s", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
            let stream = session.builder().header("accept", "application/json, text/event-stream");
            let stream = stream.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "subscriptions/listen");
            let stream = stream.body(listen.to_string()).send().await.unwrap();
            assert_eq!(stream.status(), 200, "{spent}");
            assert_eq!(session.rpc(&ping).await.status, 200, "{spent}: the stream holds no place");
        }
    }

    async fn oversized_result_is_refused_with_its_size(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.result_bytes_max = 100).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        session.call("bricks.list", json!({})).await.result();
        let long = "a name that fills the list ".repeat(4);
        for kind in ["boolean", "boolean"] {
            session.call("bricks.create_draft", json!({"name": long, "type": kind, "evaluation_prompt": "p"})).await;
        }
        let refused = session.call("bricks.list", json!({})).await;
        let data = &refused.error()["data"];
        assert_eq!((&data["kind"], &data["limit"]), (&json!("too_large"), &json!(100)), "{}", refused.text);
        assert!(data["bytes"].as_u64().unwrap() > 100);
        let recorded = tenant.trail(&format!("requestId={}", refused.header("x-request-id").unwrap())).await;
        assert_eq!(recorded[0]["payload"]["outcome"], "failed", "{recorded:?}");
    }
}

/// A load balancer sends one caller's calls to three nodes in turn.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_on_one_database_share_a_rate_limit() {
    const BURST: u32 = 100;
    let limited = |config: &mut server::Config| {
        config.limits.key_calls_per_minute = 60;
        config.limits.key_calls_burst = BURST;
    };
    let first = Crib::start_with(Engine::Postgres, limited).await;
    let second = first.another_node(limited).await;
    let third = first.another_node(limited).await;
    let nodes = [&first, &second, &third];
    let session = first.tenant().await.session().await;
    let began = std::time::Instant::now();
    let mut passed = 0;
    let mut refused_in_a_row = 0;
    for turn in 0.. {
        match ping_at(nodes[turn % 3], &session).await {
            200 => (passed, refused_in_a_row) = (passed + 1, 0),
            429 => refused_in_a_row += 1,
            other => panic!("{other}"),
        }
        if refused_in_a_row == 3 {
            break;
        }
    }
    // The bucket refills one call a second while the test runs.
    let gained = u32::try_from(began.elapsed().as_secs()).unwrap() + 1;
    assert!((BURST - BURST / 5..=BURST + BURST / 5 + gained).contains(&passed), "{passed} of {BURST}, {gained} gained");
    second.stop().await;
    third.stop().await;
}

async fn ping_at(node: &Crib, session: &Session<'_>) -> u16 {
    let door = format!("{}/api/mcp/{}", node.url, session.id);
    let ping = request(1, "ping", json!({})).to_string();
    node.send(node.http.post(door).bearer_auth(&session.key).body(ping)).await.status
}
