//! Webhooks over the management API and the command line.

use reqwest::Method;
use serde_json::json;

use super::receiver::Receiver;
use super::webhooks::allow_local_webhooks;
use crate::support::{Crib, Engine, Place, Terminal, both_engines};

both_engines! {
    async fn webhook_is_changed_rotated_and_removed(engine: Engine) {
        let crib = Crib::start_with(engine, allow_local_webhooks).await;
        let (tenant, mut receiver) = (crib.tenant().await, Receiver::start().await);
        let hook = tenant.webhook("https://hooks.invalid/x", &["key.minted"]).await;
        assert!(hook.secret.starts_with("whsec_") && hook.secret.len() == 70);
        let shown = tenant.get(&format!("webhooks/{}", hook.id)).await;
        assert!(!shown.text.contains(&hook.secret), "the secret is shown only once");
        let path = format!("webhooks/{}", hook.id);
        let patch = async |body| tenant.api(Method::PATCH, &path, Some(body)).await;
        patch(json!({"disabled": true})).await.expect(200);
        tenant.key_with(&[]).await;
        patch(json!({"disabled": false, "url": receiver.url, "events": ["key.*"]})).await.expect(200);
        tenant.key_with(&["org:read"]).await;
        let got = receiver.next().await;
        assert_eq!(got.json()["data"]["payload"]["scopes"], "org:read", "events during the disabled time are not sent");
        assert!(got.is_signed_with(&hook.secret));
        let rotated = tenant.post(&format!("{path}/rotate"), json!({})).await.expect(200);
        let new_secret = rotated["secret"].as_str().unwrap();
        tenant.key_with(&["org:read"]).await;
        let got = receiver.next().await;
        assert!(got.is_signed_with(new_secret) && !got.is_signed_with(&hook.secret));
        assert_eq!(tenant.get("webhooks").await.expect(200)["webhooks"][0]["url"], receiver.url);
        let recorded: Vec<_> = tenant.trail(&format!("entityId={}", hook.id)).await.iter().map(|e| e["eventType"].clone()).collect();
        assert_eq!(recorded, ["webhook.rotated", "webhook.changed", "webhook.changed", "webhook.added"]);
        tenant.api(Method::DELETE, &path, None).await.expect(204);
        tenant.get(&path).await.expect(404);
        patch(json!({"disabled": true})).await.expect(404);
    }

    async fn invalid_webhooks_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for url in ["http://127.0.0.1/", "https://10.0.0.1/x", "http://[::1]:80/", "http://169.254.169.254/", "http://0x7f000001/", "http://localhost:1/"] {
            let refused = tenant.post("webhooks", json!({"url": url})).await;
            assert_eq!(refused.status, 400, "{url}: {}", refused.text);
            assert!(refused.text.contains("--allow-webhook-net"), "{}", refused.text);
        }
        for body in [
            json!({}),
            json!({"url": "ftp://x/"}),
            json!({"url": "https://u:p@h/"}),
            json!({"url": "https://h/", "events": []}),
            json!({"url": "https://h/", "events": ["everything"]}),
            json!({"url": "https://h/", "secret": "mine"}),
        ] {
            assert_eq!(tenant.post("webhooks", body.clone()).await.status, 400, "{body}");
        }
        // The number of webhooks is limited.
        for _ in 0..base::limits::WEBHOOKS_MAX {
            tenant.webhook("https://hooks.invalid/", &["org.changed"]).await;
        }
        tenant.post("webhooks", json!({"url": "https://hooks.invalid/"})).await.expect(409);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn command_line_manages_webhooks_and_shows_costs() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let made = terminal.json("webhook add https://hooks.invalid/x --event verb-error --event 'policy.*'").await;
    assert_eq!(made["webhook"]["events"], json!(["verb-error", "policy.*"]));
    let shown = terminal.run("webhook show https://hooks.invalid/x").await;
    assert!(shown.ok().contains("health.lag"), "{shown:?}");
    assert!(terminal.run("webhook list").await.ok().contains("https://hooks.invalid/x"));
    let rotated = terminal.run("webhook rotate https://hooks.invalid/x").await;
    assert!(rotated.ok().contains("whsec_") && rotated.err.contains("shown only once"), "{rotated:?}");
    assert_eq!(terminal.run("webhook dead-letters https://hooks.invalid/x").await.ok(), "no dead letters\n");
    let refused = terminal.run("webhook redeliver https://hooks.invalid/x 9999").await;
    assert!(refused.refused(1).contains("no such webhook or event"), "{refused:?}");
    // The webhook does not subscribe to the first event of the trail.
    let refused = terminal.run("webhook redeliver https://hooks.invalid/x 1").await;
    assert!(refused.refused(1).contains("does not subscribe to this event type"), "{refused:?}");
    terminal.run("webhook set https://hooks.invalid/x --disable").await.ok();
    assert_eq!(terminal.run("costs").await.ok(), "no calls\n");
    terminal.run("call bricks.list").await.ok();
    let costs = terminal.json("costs --since 1h --by verb").await;
    assert_eq!((&costs["costs"][0]["verb"], &costs["total"]["calls"]), (&json!("bricks.list"), &json!(1)));
    assert!(terminal.run("costs --by hour").await.ok().starts_with("HOUR "));
    assert!(terminal.run("costs --since yesterday").await.refused(1).contains("`yesterday`"));
    terminal.run("webhook remove https://hooks.invalid/x").await.ok();
    assert_eq!(terminal.run("webhook list").await.ok(), "no webhooks\n");
    drop(server);
}
