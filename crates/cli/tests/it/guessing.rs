//! Limits on guesses at logins and agents, by account and by address.

use base::{Clock, Timestamp};
use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines};

const PASSWORD: &str = "correct horse battery";

/// A server behind a trusted proxy, with a stopped clock. The test chooses the client addresses.
async fn proxied(engine: Engine) -> Crib {
    let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
    Crib::start_with(engine, |config| {
        config.clock = clock;
        config.trust_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await
}

async fn post(crib: &Crib, path: &str, body: Value, from: &str) -> u16 {
    let post = crib.http.post(format!("{}{path}", crib.url)).header("x-forwarded-for", from);
    crib.send(post.json(&body)).await.status
}

async fn log_in(crib: &Crib, email: &str, password: &str, from: &str) -> u16 {
    post(crib, "/api/console/login", json!({"email": email, "password": password}), from).await
}

async fn authenticate(crib: &Crib, key: &str, secret: &str, from: &str) -> u16 {
    post(crib, "/api/agents/authenticate", json!({"agent_key": key, "agent_secret": secret}), from).await
}

both_engines! {
    async fn failed_logins_count_by_account_and_address(engine: Engine) {
        let crib = proxied(engine).await;
        let tenant = crib.tenant().await;
        let (person, other) = (tenant.person("owner").await, tenant.person("member").await);
        for _ in 0..10 {
            assert_eq!(log_in(&crib, &person.email, "wrong", "203.0.113.1").await, 401);
        }
        assert_eq!(log_in(&crib, &person.email, PASSWORD, "203.0.113.1").await, 429, "even the right password is refused");
        assert_eq!(log_in(&crib, &person.email, PASSWORD, "203.0.113.2").await, 200, "another address is not blocked");
        assert_eq!(log_in(&crib, &other.email, PASSWORD, "203.0.113.1").await, 200, "another account is not blocked");
    }

    async fn ipv6_addresses_count_per_network(engine: Engine) {
        let crib = proxied(engine).await;
        let tenant = crib.tenant().await;
        let person = tenant.person("owner").await;
        let agent = tenant.agent(&["*"], &[]).await;
        for number in 0..10 {
            let from = format!("2001:db8:1:2:{number:x}::{number:x}");
            assert_eq!(log_in(&crib, &person.email, "wrong", &from).await, 401);
            assert_eq!(authenticate(&crib, &format!("agk_{number}"), "wrong", &from).await, 401);
        }
        for (from, status) in [("2001:db8:1:2:ffff::1", 429), ("2001:db8:1:3::1", 200)] {
            assert_eq!(log_in(&crib, &person.email, PASSWORD, from).await, status, "{from}");
            assert_eq!(authenticate(&crib, &agent.agent_key, &agent.agent_secret, from).await, status, "{from}");
        }
    }

    async fn account_limit_is_ten_times_the_address_limit(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        // Each guess computes a slow hash, so the limit is low.
        let crib = Crib::start_with(engine, |config| {
            config.clock = clock.clone();
            config.trust_proxies = vec!["127.0.0.0/8".parse().unwrap()];
            config.limits.login_failures_per_minute = 2;
        })
        .await;
        let tenant = crib.tenant().await;
        let (person, other) = (tenant.person("owner").await, tenant.person("member").await);
        for number in 0..20 {
            assert_eq!(log_in(&crib, &person.email, "wrong", &format!("203.0.113.{number}")).await, 401);
        }
        assert_eq!(log_in(&crib, &person.email, PASSWORD, "203.0.113.99").await, 429);
        assert_eq!(log_in(&crib, &other.email, PASSWORD, "203.0.113.99").await, 200);
        clock.advance_ms(60_000);
        assert_eq!(log_in(&crib, &person.email, PASSWORD, "203.0.113.99").await, 200);
    }

    async fn issued_tokens_count_against_the_agent_rate_limit(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let slow = json!({"name": "slow", "scopes": ["*"], "tools": ["bricks.list"], "rate_limit": {"per_minute": 4}});
        // Registering the agent issues its first token.
        let agent = tenant.agent_with(slow).await;
        let other = tenant.agent(&["*"], &["bricks.list"]).await;
        let before = tenant.trail("eventType=agent.authenticated").await.len();
        let mut statuses = Vec::new();
        for _ in 0..5 {
            statuses.push(agent.authenticate().await.status);
        }
        assert_eq!(statuses, [200, 200, 200, 429, 429]);
        assert_eq!(tenant.trail("eventType=agent.authenticated").await.len(), before + 3);
        assert_eq!(agent.call("bricks.list", json!({})).await.status, 429, "calls share the same limit");
        other.authenticate().await.expect(200);
    }
}
