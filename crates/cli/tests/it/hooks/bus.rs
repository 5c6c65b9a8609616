//! The in-memory bus: the events of each call, their order, and the isolation of subscribers.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use server::{Subscriber, Subscribers, VerbEvent};

use crate::support::{Crib, Engine, both_engines};

/// Remembers every event as JSON.
#[derive(Default)]
struct Recorder(Mutex<Vec<Value>>);

impl Subscriber for Recorder {
    fn on(&self, event: &VerbEvent<'_>) {
        self.0.lock().unwrap().push(serde_json::to_value(event).unwrap());
    }
}

impl Recorder {
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Panics at everything.
struct Panicker;

impl Subscriber for Panicker {
    fn on(&self, _: &VerbEvent<'_>) {
        panic!("a subscriber's own fault")
    }
}

/// The names of an event's members.
fn members(event: &Value) -> Vec<&str> {
    let mut members: Vec<_> = event.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

fn phases(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["phase"].as_str().unwrap()).collect()
}

both_engines! {
    async fn each_call_emits_its_phases_in_order(engine: Engine) {
        let recorder = Arc::new(Recorder::default());
        let subscribers = Subscribers(vec![recorder.clone()]);
        let crib = Crib::start_with(engine, |config| config.subscribers = subscribers).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;

        let arguments = json!({"limit": 3});
        session.call("bricks_list", arguments.clone()).await.result();
        let events = recorder.take();
        assert_eq!(phases(&events), ["pre-verb", "post-verb"]);
        let common = ["args", "emittedAt", "legacyAlias", "orgId", "phase", "sessionId", "verb"];
        assert_eq!(members(&events[0]), common);
        assert_eq!((&events[0]["verb"], &events[0]["legacyAlias"]), (&json!("bricks.list"), &json!("bricks_list")));
        assert_eq!((&events[0]["orgId"], &events[0]["sessionId"]), (&json!(tenant.org), &json!(session.id)));
        assert_eq!(events[0]["args"], arguments, "subscribers in memory see the arguments");
        assert_eq!(events[1]["outcome"], "completed");
        assert!(events[1]["durationMs"].as_f64().unwrap() > 0.0);

        // The call was admitted, and the tool refused it.
        session.call("kits.get", json!({"kit_id": format!("kit_{}", "0".repeat(26))})).await.error();
        let events = recorder.take();
        assert_eq!(phases(&events), ["pre-verb", "post-verb", "verb-error"]);
        assert!(events[0].get("denied").is_none() && events[0].get("legacyAlias").is_none(), "{}", events[0]);
        assert_eq!((&events[1]["outcome"], &events[2]["error"]["code"]), (&json!("failed"), &json!(-32602)));
        assert!(events[2]["error"]["message"].as_str().unwrap().contains("kit"), "{}", events[2]);
        assert!(events[2].get("outcome").is_none() && events[1].get("error").is_none());

        // The call was refused before the tool: by policy, by its arguments, or as unknown.
        let forbid = json!({"cedar": r#"forbid (principal, action == Action::"kits.list", resource);"#});
        tenant.put("policies/no-kits", forbid).await.expect(200);
        for (tool, arguments, code) in
            [("kits.list", json!({}), -32003), ("bricks.list", json!({"limit": "x"}), -32602), ("made.up", json!({}), -32601)]
        {
            session.call(tool, arguments).await.error();
            let events = recorder.take();
            assert_eq!(phases(&events), ["pre-verb", "verb-error"], "{tool}");
            assert_eq!((&events[0]["denied"], &events[0]["verb"]), (&json!(true), &json!(tool)));
            assert!(events[1].get("denied").is_none());
            assert_eq!(events[1]["error"]["code"], code, "{tool}");
        }

        // An agent has no session.
        tenant.agent(&["*"], &["bricks.list"]).await.call("bricks.list", json!({})).await.result();
        let events = recorder.take();
        assert_eq!(members(&events[0]), ["args", "emittedAt", "orgId", "phase", "verb"]);

        let figures = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
        for line in [
            "toolcrib_calls_in_flight 0",
            r#"toolcrib_policy_denials_total{reason="forbidden"} 1"#,
            r#"toolcrib_calls_total{tool="unknown",door="session",outcome="refused"} 1"#,
            r#"toolcrib_calls_total{tool="bricks.list",door="session",outcome="completed"} 1"#,
            "toolcrib_hook_panics_total 0",
        ] {
            assert!(figures.contains(&format!("{line}\n")), "{line}:\n{figures}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn panicking_subscriber_affects_nobody() {
    let recorder = Arc::new(Recorder::default());
    let subscribers = Subscribers(vec![Arc::new(Panicker), recorder.clone()]);
    let crib = Crib::start_with(Engine::Sqlite, |config| config.subscribers = subscribers).await;
    let session = crib.tenant().await.session().await;
    session.call("bricks.list", json!({})).await.result();
    assert_eq!(phases(&recorder.take()), ["pre-verb", "post-verb"], "the next subscriber still gets its events");
    let figures = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
    assert!(figures.contains("toolcrib_hook_panics_total 2\n"), "{figures}");
}
