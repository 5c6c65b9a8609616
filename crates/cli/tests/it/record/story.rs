//! The answer, the audit trail and the bus agree about every call.

use std::sync::{Arc, Mutex};

use reqwest::Method;
use serde_json::{Value, json};
use server::{Subscriber, Subscribers, VerbEvent};
use store::Faults;

use crate::support::{Crib, Engine, Session, Tenant, both_engines, eventually, modern};

/// Records every event with its request.
#[derive(Default)]
struct Recorder(Mutex<Vec<Value>>);

impl Subscriber for Recorder {
    fn on(&self, event: &VerbEvent<'_>) {
        let mut value = serde_json::to_value(event).unwrap();
        value["request"] = json!(event.call.request.to_string());
        value["word"] = json!(event.call.outcome.word());
        self.0.lock().unwrap().push(value);
    }
}

impl Recorder {
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// The last call on the bus: its phases, its outcome, and its last event.
fn on_the_bus(recorder: &Recorder) -> (Vec<String>, Option<String>, Value) {
    let events = recorder.take();
    let phases = events.iter().map(|event| event["phase"].as_str().unwrap().to_owned()).collect();
    let outcome = events.iter().find_map(|event| event["outcome"].as_str().map(str::to_owned));
    (phases, outcome, events.last().cloned().unwrap_or_default())
}

fn draft() -> Value {
    json!({"name": "n", "type": "score", "evaluation_prompt": "p"})
}

async fn bricks(tenant: &Tenant<'_>) -> usize {
    let listed = tenant.crib.api(Method::GET, "/api/bricks", &tenant.key, None).await.expect(200);
    listed["bricks"].as_array().unwrap().len()
}

async fn start(engine: Engine, change: impl FnOnce(&mut server::Config)) -> (Crib, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let subscribers = Subscribers(vec![recorder.clone()]);
    let crib = Crib::start_with(engine, |config| {
        config.subscribers = subscribers;
        change(config);
    })
    .await;
    (crib, recorder)
}

both_engines! {
    async fn trail_and_bus_agree_on_outcome_verb_and_request(engine: Engine) {
        let (crib, recorder) = start(engine, |_| ()).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let forbid = json!({"cedar": r#"forbid (principal, action == Action::"kits.list", resource);"#});
        tenant.put("policies/no-kits", forbid).await.expect(200);
        for (tool, arguments, alias) in [
            ("bricks_list", json!({}), Some("bricks_list")),
            ("bricks_create_draft", draft(), Some("bricks_create_draft")),
            ("kits.list", json!({}), None),
            ("bricks.list", json!({"limit": "x"}), None),
            ("made.up", json!({}), None),
            ("kits.get", json!({"kit_id": format!("kit_{}", "0".repeat(26))}), None),
        ] {
            let reply = session.call(tool, arguments).await;
            let request = reply.header("x-request-id").unwrap();
            let entries = tenant.trail(&format!("requestId={request}")).await;
            assert_eq!(entries.len(), 1, "{tool}: {entries:?}");
            let (phases, _, last) = on_the_bus(&recorder);
            assert_eq!((&last["request"], &last["verb"]), (&json!(request), &entries[0]["entityId"]), "{tool}");
            assert_eq!(last["word"], entries[0]["payload"]["outcome"], "{tool}");
            assert_eq!(last["legacyAlias"].as_str(), alias, "{tool}");
            assert_eq!(entries[0]["payload"]["legacyAlias"].as_str(), alias, "{tool}");
            if entries[0]["eventType"] == "call.refused" && entries[0]["payload"]["decision"]["allowed"] != true {
                assert_eq!(phases, ["pre-verb", "verb-error"], "{tool}");
            }
        }
    }

    async fn change_with_an_oversized_answer_is_recorded_as_done(engine: Engine) {
        let (crib, recorder) = start(engine, |config| config.limits.result_bytes_max = 10).await;
        let tenant = crib.tenant().await;
        let reply = tenant.session().await.call("bricks.create_draft", draft()).await;
        assert_eq!(reply.error()["data"]["kind"], "too_large");
        assert_eq!(bricks(&tenant).await, 1);
        let entries = tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await;
        let types: Vec<_> = entries.iter().map(|event| event["eventType"].as_str().unwrap()).collect();
        assert_eq!(types, ["call.failed", "call.completed"], "newest first");
        assert_eq!((&entries[0]["payload"]["effectStands"], &entries[0]["payload"]["error"]["kind"]), (&json!(true), &json!("too_large")));
        let (phases, outcome, last) = on_the_bus(&recorder);
        assert_eq!(phases, ["pre-verb", "post-verb", "verb-error"]);
        assert_eq!(outcome.as_deref(), Some("completed"), "the bus agrees with the trail");
        assert_eq!(last["error"]["code"], entries[0]["payload"]["error"]["code"]);
        let tasks = tenant.get("tasks").await.expect(200);
        assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "{tasks}");
        assert_eq!(tasks["tasks"][0]["state"], "failed", "{tasks}");
        let costs = tenant.get("costs").await.expect(200);
        assert_eq!((&costs["total"]["calls"], &costs["total"]["failed"]), (&json!(1), &json!(1)));
    }

    async fn timed_out_call_changed_what_its_record_states(engine: Engine) {
        let (crib, recorder) = start(engine, |config| config.limits.call_seconds_max = 0).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let mut completed = 0;
        for _ in 0..20 {
            let reply = session.call("bricks.create_draft", draft()).await;
            let entries = tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await;
            let done = entries.iter().filter(|event| event["eventType"] == "call.completed").count();
            completed += done;
            let (phases, outcome, last) = on_the_bus(&recorder);
            let is_done = outcome.as_deref() == Some("completed");
            assert_eq!(is_done, done == 1, "{entries:?} {phases:?}");
            assert_eq!(phases.contains(&"verb-error".to_owned()), entries[0]["eventType"] == "call.failed", "{entries:?}");
            if entries[0]["eventType"] == "call.failed" {
                assert_eq!(reply.error()["data"]["kind"], "timeout");
                assert_eq!(entries[0]["payload"]["effectStands"] == json!(true), done == 1, "{entries:?}");
                assert_eq!(last["error"]["code"], entries[0]["payload"]["error"]["code"]);
            }
        }
        assert_eq!(bricks(&tenant).await, completed);
    }

    async fn unanswerable_input_request_is_no_completed_call(engine: Engine) {
        let (crib, recorder) = start(engine, |config| config.conformance = true).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let asks = json!({"name": "test_input_required_result_elicitation", "arguments": {}});
        let reply = session.modern(&modern(1, "tools/call", asks)).await;
        let code = reply.error_code();
        let entries = tenant.trail(&format!("requestId={}", reply.header("x-request-id").unwrap())).await;
        assert_eq!((entries.len(), &entries[0]["payload"]["error"]["code"]), (1, &json!(code)), "{entries:?}");
        assert_ne!(entries[0]["eventType"], "call.completed");
        let (_, outcome, last) = on_the_bus(&recorder);
        assert_eq!((outcome.as_deref(), &last["error"]["code"]), (Some("failed"), &json!(code)));
    }

    async fn call_that_cannot_be_recorded_fails(engine: Engine) {
        let faults = Faults::on_demand();
        let (crib, recorder) = start(engine, |config| config.faults = faults.clone()).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        session.call("bricks.list", json!({})).await.result();
        let mut failed = 0;
        for step in 1..=20 {
            recorder.take();
            faults.fail(step);
            let reply = session.call("bricks.list", json!({})).await;
            faults.calm();
            let Some(error) = reply.json().get("error").cloned() else { continue };
            let (_, outcome, last) = on_the_bus(&recorder);
            // If the caller could not be identified, there is no call.
            if last.is_null() {
                continue;
            }
            failed += 1;
            assert_eq!((outcome.as_deref(), &last["error"]["code"]), (Some("failed"), &error["code"]), "step {step}");
            let request = reply.header("x-request-id").unwrap().to_owned();
            let entries = async || tenant.trail(&format!("requestId={request}")).await;
            eventually("the failure is recorded", async || !entries().await.is_empty()).await;
            let entries = entries().await;
            let recorded = (&entries[0]["eventType"], &entries[0]["payload"]["error"]["code"]);
            assert_eq!(recorded, (&json!("call.failed"), &error["code"]), "{entries:?}");
        }
        assert!(failed > 0, "no fault hit a call's record");
    }
}

/// Starts a call and disconnects while it runs.
async fn call_and_disconnect(session: &Session<'_>, crib: &Crib) {
    let in_flight = async || {
        let figures = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
        figures.contains("toolcrib_calls_in_flight 1\n")
    };
    tokio::select! {
        reply = session.call("bricks.create_draft", draft()) => panic!("the call must wait for the lock: {}", reply.text),
        () = eventually("the call is running", in_flight) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_call_is_recorded_whichever_store_step_fails() {
    let faults = Faults::on_demand();
    let (crib, recorder) = start(Engine::Sqlite, |config| config.faults = faults.clone()).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    session.call("bricks.list", json!({})).await.result();
    let database = rusqlite::Connection::open(crib.folder.path().join("data/toolcrib.db")).unwrap();
    for step in 1..=12 {
        recorder.take();
        // A lock on the database keeps the call from ending before its client disconnects.
        database.execute_batch("BEGIN IMMEDIATE").unwrap();
        call_and_disconnect(&session, &crib).await;
        let cancelled = async || {
            recorder.0.lock().unwrap().iter().any(|event| event["phase"] == "verb-error" && event["word"] == "cancelled")
        };
        eventually("the bus has the event", cancelled).await;
        faults.fail(step);
        database.execute_batch("ROLLBACK").unwrap();
        // The fault may hit this request itself.
        let is_recorded = async || {
            let reply = crib.api(Method::GET, "/api/audit?limit=200&eventType=call.cancelled", &tenant.key, None).await;
            reply.status == 200 && reply.json()["events"].as_array().unwrap().len() == step as usize
        };
        eventually("the cancelled call is recorded", is_recorded).await;
        faults.calm();
    }
    assert_eq!(bricks(&tenant).await, 0, "a cancelled call wrote its change");
    assert!(tenant.trail("eventType=call.completed&entityId=bricks.create_draft").await.is_empty());
}
