//! Every step of the store fails once. Each answered request is recorded, no change is half done, and the server continues.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use store::Faults;

use super::Export;
use crate::support::{Crib, Engine, Reply, Session, Tenant, both_engines};

/// Far more steps than the script takes.
const STEPS_MAX: u32 = 1_000;

/// The results of a script: a name, the request's id, and whether the answer is the same as without faults.
struct Answers(Vec<(&'static str, String, bool)>);

impl Answers {
    fn add(&mut self, what: &'static str, reply: &Reply, is_good: bool) {
        let request = reply.header("x-request-id").unwrap_or_else(|| panic!("{what}: {}", reply.text)).to_owned();
        self.0.push((what, request, is_good));
    }

    fn request(&self, what: &str) -> &str {
        &self.0.iter().find(|(name, _, _)| *name == what).unwrap().1
    }
}

/// Runs a read, a write, a refusal, a failure, and management calls.
async fn script(tenant: &Tenant<'_>, session: &Session<'_>) -> Answers {
    let mut answers = Answers(Vec::new());
    let kind = |reply: &Reply| serde_json::from_str::<Value>(&reply.text).unwrap()["error"]["data"]["kind"].clone();
    for (what, tool, arguments, good) in [
        ("read", "bricks.list", json!({}), Value::Null),
        ("effect", "bricks.create_draft", json!({"name": "n", "type": "score", "evaluation_prompt": "p"}), Value::Null),
        ("refusal", "no.such", json!({}), json!("tool_not_found")),
        ("failure", "kits.get", json!({"kit_id": "kit_00000000000000000000000000"}), json!("not_found")),
    ] {
        let reply = session.call(tool, arguments).await;
        let is_good = reply.status == 200 && (kind(&reply) == good || what == "failure" && kind(&reply) != "unavailable");
        answers.add(what, &reply, is_good);
    }
    let policy = json!({"cedar": "permit (principal, action, resource);"});
    let key = json!({"name": "minted", "projects": "all", "scopes": []});
    let org = format!("/api/org/{}", tenant.org);
    for (what, method, path, body) in [
        ("policy", Method::PUT, format!("{org}/policies/p"), Some(policy)),
        ("rotation", Method::POST, "/api/audit/keys/rotate".to_owned(), None),
        ("key", Method::POST, format!("{org}/keys"), Some(key)),
        ("checkpoint", Method::GET, "/api/audit/checkpoint".to_owned(), None),
    ] {
        let reply = tenant.crib.api(method, &path, &tenant.key, body).await;
        answers.add(what, &reply, (200..300).contains(&reply.status));
    }
    answers
}

/// Checks that the stored state matches the audit trail.
async fn check(tenant: &Tenant<'_>, answers: &Answers, step: u32) {
    let export = Export::of(tenant).await;
    let entries = export.entries();
    assert_eq!(export.verified(), entries.len() as u64, "step {step}");
    assert_eq!(entries[0]["sequenceNumber"], 1);
    let on_record: BTreeSet<(&str, &str)> =
        entries.iter().filter_map(|entry| Some((entry["requestId"].as_str()?, entry["eventType"].as_str()?))).collect();
    for (what, request, is_good) in answers.0.iter().filter(|(what, _, _)| *what != "checkpoint") {
        let has_entry = on_record.iter().any(|(of, _)| of == request);
        assert!(has_entry || !is_good, "step {step}: {what} was answered and not recorded");
    }
    let list = async |path: &str, member: &str, pointer: &str, value: &str| {
        let listed = tenant.crib.api(Method::GET, path, &tenant.key, None).await.expect(200);
        listed[member].as_array().unwrap().iter().filter(|item| item.pointer(pointer) == Some(&json!(value))).count()
    };
    let org = format!("/api/org/{}", tenant.org);
    for (what, event, stored) in [
        ("effect", "call.completed", list("/api/bricks", "bricks", "/brick_name", "n").await),
        ("policy", "policy.saved", list(&format!("{org}/policies"), "policies", "/id", "p").await),
        ("key", "key.minted", list(&format!("{org}/keys"), "keys", "/name", "minted").await),
    ] {
        let is_recorded = on_record.contains(&(answers.request(what), event));
        assert_eq!(stored, usize::from(is_recorded), "step {step}: {what} without its entry, or an entry without {what}");
    }
    let keys = tenant.audit("keys").await.expect(200)["keys"].as_array().unwrap().len();
    let rotations = entries.iter().filter(|entry| entry["eventType"] == "audit.key_rotated").count();
    assert_eq!(keys, rotations + 1, "step {step}");
}

both_engines! {
    async fn record_stays_complete_whichever_store_step_fails(engine: Engine) {
        let faults = Faults::on_demand();
        let crib = Crib::start_with(engine, |config| config.faults = faults.clone()).await;
        let mut failed = 0;
        for step in 1..=STEPS_MAX {
            let tenant = crib.tenant().await;
            let session = tenant.session().await;
            faults.fail(step);
            let answers = script(&tenant, &session).await;
            let happened = faults.calm();
            check(&tenant, &answers, step).await;
            let bad = answers.0.iter().filter(|(_, _, is_good)| !is_good).count();
            assert!(bad <= 1, "step {step}: one fault fails more than one answer: {:?}", answers.0);
            failed += bad;
            if !happened {
                assert_eq!(bad, 0, "{:?}", answers.0);
                break;
            }
            assert!(step < STEPS_MAX, "the script takes too many steps");
        }
        // Some faults hit background work, which retries.
        assert!(failed > 20, "only {failed} answers failed");
    }
}
