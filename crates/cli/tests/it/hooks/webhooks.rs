//! Webhooks: every event arrives at least once, in order and signed, and never delays a call.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::{Config, Retry};

use super::receiver::{Answer, Got, Receiver};
use crate::support::{Crib, Engine, Port, both_engines, eventually, in_time};

/// Allows receivers on this machine, and retries quickly.
pub(crate) fn allow_local_webhooks(config: &mut Config) {
    config.allow_webhook_nets = vec!["127.0.0.0/8".parse().unwrap()];
    config.webhook_retry = Retry { first_ms: 20, longest_ms: 100, tries: 4 };
}

/// The type and the tool of each message.
fn kinds(got: &[Got]) -> Vec<(String, String)> {
    got.iter().map(|got| (got.kind(), got.json()["data"]["verb"].as_str().unwrap_or("-").to_owned())).collect()
}

both_engines! {
    async fn webhook_gets_every_call_in_order_and_signed(engine: Engine) {
        let crib = Crib::start_with(engine, allow_local_webhooks).await;
        let (tenant, mut receiver) = (crib.tenant().await, Receiver::start().await);
        let session = tenant.session().await;
        session.call("bricks.list", json!({})).await.result();
        let hook = tenant.webhook(&receiver.url, &[]).await;
        session.call("kits_list", json!({"limit": 7})).await.result();
        session.call("kits.get", json!({"kit_id": format!("kit_{}", "0".repeat(26))})).await.error();
        session.call("bricks.list", json!({"limit": "secret words"})).await.error();
        let got = receiver.take(7).await;
        let expected = [
            ("pre-verb", "kits.list"),
            ("post-verb", "kits.list"),
            ("pre-verb", "kits.get"),
            ("post-verb", "kits.get"),
            ("verb-error", "kits.get"),
            ("pre-verb", "bricks.list"),
            ("verb-error", "bricks.list"),
        ];
        assert_eq!(kinds(&got), expected.map(|(kind, verb)| (kind.to_owned(), verb.to_owned())), "earlier calls are not sent");
        let mut ids = BTreeSet::new();
        for got in &got {
            assert!(got.is_signed_with(&hook.secret), "{got:?}");
            assert!(!got.is_signed_with(&format!("whsec_{}", "00".repeat(32))));
            let body = got.json();
            assert_eq!((body["id"].as_str().unwrap(), &body["workspaceId"]), (got.header("webhook-id"), &json!(tenant.org)));
            assert!(ids.insert(body["id"].to_string()), "two messages share an id");
            assert_eq!(got.header("content-type"), "application/json");
            assert!(!got.body.contains("secret words") && body["data"].get("args").is_none(), "{}", got.body);
        }
        let body = |index: usize| got[index].json();
        let data = &body(1)["data"];
        assert_eq!((&data["outcome"], &data["sessionId"], &data["orgId"]), (&json!("completed"), &json!(session.id), &json!(tenant.org)));
        assert_eq!((&data["legacyAlias"], body(2)["data"].get("legacyAlias")), (&json!("kits_list"), None));
        assert!(data["durationMs"].is_number() && data["argumentsDigest"].as_str().unwrap().starts_with("hmac-sha256:"));
        assert_eq!(body(4)["data"]["error"], json!({"code": -32602, "kind": "invalid_params", "message": "invalid arguments"}));
        assert_eq!((&body(5)["data"]["denied"], body(2)["data"].get("denied")), (&json!(true), None));
        assert!(got.is_sorted_by_key(Got::sequence));
        eventually("everything is delivered", async || tenant.health(&hook).await["lag"] == 0).await;
        let health = tenant.health(&hook).await;
        assert!(health["lastSuccessAt"].is_string() && health["lastError"].is_null(), "{health}");
        crib.stop().await;
    }

    async fn webhook_gets_only_the_chosen_events(engine: Engine) {
        let crib = Crib::start_with(engine, allow_local_webhooks).await;
        let (tenant, mut receiver) = (crib.tenant().await, Receiver::start().await);
        tenant.webhook(&receiver.url, &["key.minted", "policy.*"]).await;
        let session = tenant.session().await;
        session.call("bricks.list", json!({})).await.result();
        tenant.key_with(&["org:read"]).await;
        tenant.put("policies/p", json!({"cedar": "permit (principal, action, resource);"})).await.expect(200);
        let got = receiver.take(2).await;
        assert_eq!([got[0].kind(), got[1].kind()], ["key.minted", "policy.saved"]);
        let data = got[0].json()["data"].clone();
        assert_eq!((&data["entityType"], &data["payload"]["scopes"]), (&json!("key"), &json!("org:read")));
    }

    async fn receiver_that_was_down_misses_no_event(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            allow_local_webhooks(config);
            config.webhook_retry.tries = 1_000;
        }).await;
        let (tenant, port) = (crib.tenant().await, Port::reserve());
        let hook = tenant.webhook(&format!("http://{}/hook", port.address()), &["post-verb"]).await;
        let session = tenant.session().await;
        for _ in 0..5 {
            session.call("bricks.list", json!({})).await.result();
        }
        eventually("a delivery was tried", async || tenant.health(&hook).await["tries"].as_u64() > Some(1)).await;
        let health = tenant.health(&hook).await;
        assert!(health["lastError"].as_str().unwrap().contains("unreachable"), "{health}");
        assert!(health["lag"].as_i64() >= Some(5) && health["deadLetters"] == 0, "{health}");
        let mut receiver = Receiver::start_with(&port.address(), Arc::new(|_| 200)).await;
        let got = receiver.take(5).await;
        let sequences: Vec<_> = got.iter().map(Got::sequence).collect();
        let trail: Vec<_> = tenant.trail("eventType=call.completed").await.iter().rev().map(|e| e["sequenceNumber"].as_i64().unwrap()).collect();
        assert_eq!(sequences, trail);
    }

    async fn undeliverable_event_becomes_a_dead_letter(engine: Engine) {
        let crib = Crib::start_with(engine, allow_local_webhooks).await;
        let tenant = crib.tenant().await;
        // The receiver fails for one tool until it is repaired.
        let broken = Arc::new(Mutex::new("kits.list"));
        let answer: Answer = {
            let broken = Arc::clone(&broken);
            Arc::new(move |body: &Value| if body["data"]["verb"] == **broken.lock().unwrap() { 500 } else { 204 })
        };
        let mut receiver = Receiver::start_with("127.0.0.1:0", answer).await;
        let hook = tenant.webhook(&receiver.url, &["post-verb"]).await;
        let session = tenant.session().await;
        for tool in ["bricks.list", "kits.list", "bricks.list"] {
            session.call(tool, json!({})).await.result();
        }
        let got = receiver.take(6).await;
        let verbs: Vec<_> = kinds(&got).into_iter().map(|(_, verb)| verb).collect();
        assert_eq!(verbs, ["bricks.list", "kits.list", "kits.list", "kits.list", "kits.list", "bricks.list"]);
        let ids: BTreeSet<_> = got[1..5].iter().map(|got| got.header("webhook-id").to_owned()).collect();
        assert_eq!(ids.len(), 1, "a retry keeps its id");
        let dead = tenant.get(&format!("webhooks/{}/dead-letters", hook.id)).await.expect(200);
        let letter = dead["deadLetters"][0].clone();
        assert_eq!((letter["sequence"].as_i64(), &letter["type"]), (Some(got[1].sequence()), &json!("post-verb")));
        assert_eq!(letter["error"], "the receiver answered 500");
        assert_eq!(tenant.health(&hook).await["deadLetters"], 1);
        let again = async || {
            let path = format!("webhooks/{}/redeliver", hook.id);
            tenant.post(&path, json!({"sequence": letter["sequence"]})).await.expect(200)
        };
        assert_eq!(again().await, json!({"delivered": [], "error": "the receiver answered 500"}));
        *broken.lock().unwrap() = "";
        assert_eq!(again().await, json!({"delivered": ["post-verb"], "error": null}));
        let revived = receiver.take(2).await;
        assert!(revived[1].is_signed_with(&hook.secret) && revived[1].header("webhook-id") == got[1].header("webhook-id"));
        assert_eq!(tenant.health(&hook).await["deadLetters"], 0);
    }

    async fn slow_receiver_delays_neither_calls_nor_shutdown(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            allow_local_webhooks(config);
            config.webhook_retry.tries = 1_000;
        }).await;
        let (tenant, mut receiver) = (crib.tenant().await, Receiver::start().await);
        receiver.held.send_replace(true);
        tenant.webhook(&receiver.url, &["post-verb"]).await;
        let session = tenant.session().await;
        session.call("bricks.list", json!({})).await.result();
        let first = receiver.next().await;
        // The receiver answers nothing, so a call that waited for it would time out.
        in_time(async {
            for _ in 0..20 {
                session.call("bricks.list", json!({})).await.result();
            }
        })
        .await;
        while let Ok(again) = receiver.sent.try_recv() {
            assert_eq!(again.header("webhook-id"), first.header("webhook-id"), "a second event was sent before the first was answered");
        }
        let began = Instant::now();
        crib.stop().await;
        assert!(began.elapsed() < Duration::from_secs(8), "the stop waited for the receiver");
    }
}
