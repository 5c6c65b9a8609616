//! Pruning removes old entries, and the rest of the trail still verifies.

use std::num::NonZero;

use ::audit::verify::AtCheckpoint;
use ::audit::{Checkpoint, Reason};
use base::{Clock, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use store::Faults;

use super::{Export, verified};
use crate::support::{Crib, Engine, Reply, Tenant, both_engines, call};

const DAY_MS: i64 = 86_400_000;

/// A server with a manual clock.
async fn crib_at(engine: Engine, change: impl FnOnce(&mut server::Config)) -> (Crib, Clock) {
    let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
    let time = clock.clone();
    let crib = Crib::start_with(engine, |config| {
        config.clock = time;
        change(config);
    })
    .await;
    (crib, clock)
}

async fn prune(tenant: &Tenant<'_>, before: Timestamp) -> Reply {
    let body = json!({"before": before.rfc3339()});
    let path = format!("/api/audit/prune?org={}", tenant.org);
    tenant.crib.api(Method::POST, &path, &tenant.crib.admin_key, Some(body)).await
}

/// Adds more entries than two transactions of a pruning remove, and ages them. Returns the last one's sequence number.
async fn add_old_entries(tenant: &Tenant<'_>, clock: &Clock) -> u64 {
    let session = tenant.session().await;
    for _ in 0..3 {
        let batch: Vec<_> = (0..400).map(|id| call(id, "bricks.list", json!({}))).collect();
        assert_eq!(session.rpc(&json!(batch)).await.status, 200);
        clock.advance_ms(60_000);
    }
    // Reading costs brings them up to date, so the relay has nothing left to write.
    tenant.get("costs").await.expect(200);
    let last = tenant.trail("").await[0]["sequenceNumber"].as_u64().unwrap();
    clock.advance_ms(10 * DAY_MS);
    tenant.session().await;
    last
}

async fn prunings(tenant: &Tenant<'_>) -> Vec<Value> {
    tenant.trail("eventType=audit.pruned").await
}

both_engines! {
    async fn pruned_trail_verifies_and_records_the_pruning(engine: Engine) {
        let (crib, clock) = crib_at(engine, |_| ()).await;
        let tenant = crib.tenant().await;
        let checkpoint = async || Checkpoint::parse(tenant.audit("checkpoint").await.text.as_bytes()).unwrap();
        let older = checkpoint().await;
        tenant.session().await.call("bricks.list", json!({})).await.result();
        let old = checkpoint().await;
        clock.advance_ms(10 * DAY_MS);
        tenant.session().await.call("bricks.list", json!({})).await.result();
        let late = checkpoint().await;
        let whole = Export::of(&tenant).await;

        let pruned = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200);
        let first = old.size + 1;
        assert_eq!(pruned, json!({"removed": old.size, "firstSequence": first, "heldBy": null}));
        let report = verified(&tenant).await;
        assert_eq!(report["firstSequence"], first, "{report}");
        let export = Export::of(&tenant).await;
        export.verified();
        assert_eq!(export.entries()[0], whole.entries()[old.size as usize], "the remaining entries are unchanged");
        let recorded_prunings = prunings(&tenant).await;
        assert_eq!(recorded_prunings.len(), 1);
        let payload = &recorded_prunings[0]["payload"];
        assert_eq!((&payload["throughSequence"], &payload["headHash"]), (&json!(old.size), &json!(old.head_hash)));
        assert_eq!((&recorded_prunings[0]["actorType"], recorded_prunings[0]["requestId"].is_string()), (&json!("instance_admin"), true));
        // A checkpoint inside the pruned part is no alarm. Later checkpoints still match.
        assert_eq!(export.verify(Some(older)).checkpoint, Some(AtCheckpoint::BeginsLater));
        assert_eq!(export.verify(Some(old)).checkpoint, Some(AtCheckpoint::Matches));
        assert_eq!(export.verify(Some(late)).checkpoint, Some(AtCheckpoint::Matches));

        // A second pruning removes nothing and records nothing.
        assert_eq!(prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200)["removed"], 0);
        assert_eq!(prunings(&tenant).await.len(), 1);
        assert_eq!(prune(&tenant, clock.now().plus_ms(DAY_MS)).await.status, 400, "a time in the future");
        // The newest `audit.pruned` entry always remains.
        clock.advance_ms(DAY_MS);
        let pruned = prune(&tenant, clock.now()).await.expect(200);
        assert!(pruned["removed"].as_u64() > Some(0), "{pruned}");
        let left = Export::of(&tenant).await;
        left.verified();
        let kinds: Vec<_> = left.entries().iter().map(|entry| entry["eventType"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["audit.pruned", "audit.exported"]);

        // A trail whose start was deleted without a pruning fails.
        crib.tamper("DELETE FROM audit_events WHERE org_id = ?1 AND event_type = 'audit.pruned'", &tenant.org).await;
        let cut = Export::of(&tenant).await.verify(None).broken_at.unwrap();
        assert_eq!(cut.reason, Reason::MissingStart, "{cut:?}");
    }

    async fn pruning_keeps_entries_that_a_webhook_must_still_deliver(engine: Engine) {
        let (crib, clock) = crib_at(engine, |_| ()).await;
        let tenant = crib.tenant().await;
        // This receiver does not exist.
        let hook = json!({"url": "https://nobody.invalid/", "events": ["session.opened"]});
        let hook = tenant.post("webhooks", hook).await.expect(201)["webhook"]["id"].as_str().unwrap().to_owned();
        let made = tenant.trail("").await.len() as u64;
        tenant.session().await;
        tenant.session().await;
        clock.advance_ms(10 * DAY_MS);
        let pruned = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200);
        assert_eq!((&pruned["removed"], &pruned["heldBy"]), (&json!(made), &json!(hook)), "{pruned}");
        verified(&tenant).await;
        // A disabled webhook holds nothing back.
        tenant.api(Method::PATCH, &format!("webhooks/{hook}"), Some(json!({"disabled": true}))).await.expect(200);
        let pruned = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200);
        assert_eq!((&pruned["removed"], &pruned["heldBy"]), (&json!(2), &json!(null)), "{pruned}");
        verified(&tenant).await;
    }

    async fn interrupted_pruning_leaves_a_valid_trail(engine: Engine) {
        let faults = Faults::on_demand();
        let (crib, clock) = crib_at(engine, |config| config.faults = faults.clone()).await;
        let tenant = crib.tenant().await;
        let mut old = add_old_entries(&tenant, &clock).await;
        let (mut step, mut taken) = (1, 0);
        loop {
            faults.fail(step);
            let reply = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await;
            let happened = faults.calm();
            assert_eq!(verified(&tenant).await["valid"], true, "step {step}");
            match (happened, reply.status) {
                (true, 200) => {
                    // The fault hit the relay, which reads the trail in the background: repeat the step.
                    taken += 1;
                    assert!(taken < 20, "the relay took too many faults");
                    old = add_old_entries(&tenant, &clock).await;
                }
                (true, _) => step += 1,
                (false, status) => {
                    assert_eq!(status, 200, "{}", reply.text);
                    break;
                }
            }
        }
        assert!(step > 6, "{step}");
        assert_eq!(verified(&tenant).await["firstSequence"], old + 1);
        assert_eq!(prunings(&tenant).await.len(), 1, "a retry finishes the recorded pruning and records no other");
        Export::of(&tenant).await.verified();
    }

    async fn only_owner_and_operator_prune_and_young_entries_stay(engine: Engine) {
        let (crib, clock) = crib_at(engine, |config| config.audit_keep_days_min = 30).await;
        let tenant = crib.tenant().await;
        clock.advance_ms(40 * DAY_MS);
        let (owner, admin) = (tenant.person("owner").await, tenant.person("admin").await);
        let body = |days: i64| Some(json!({"before": clock.now().plus_ms(-days * DAY_MS).rfc3339()}));
        let path = "/api/audit/prune";
        let first = async || verified(&tenant).await["firstSequence"].as_u64();
        for reply in [
            crib.api(Method::POST, path, &tenant.key, body(31)).await,
            crib.api(Method::POST, path, &tenant.key_with(&["audit:write"]).await, body(31)).await,
            admin.api(Method::POST, path, body(31)).await,
        ] {
            assert_eq!((reply.status, &reply.json()["code"]), (403, &json!("not_permitted")), "{}", reply.text);
        }
        for days in [0, 1, 29] {
            for reply in [owner.api(Method::POST, path, body(days)).await, prune(&tenant, clock.now().plus_ms(-days * DAY_MS)).await] {
                assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("invalid_params")), "{}", reply.text);
                assert!(reply.text.contains("the last 30 days") && reply.text.contains("--audit-keep-days-min"), "{}", reply.text);
            }
        }
        assert_eq!(first().await, Some(1), "nothing was removed");
        let pruned = owner.api(Method::POST, path, body(30)).await.expect(200);
        assert!(pruned["removed"].as_u64() > Some(0), "{pruned}");
        assert_eq!(prunings(&tenant).await[0]["actorId"], owner.id);
        assert!(tenant.trail("eventType=user.logged_in").await.len() == 2, "younger entries remain");
        clock.advance_ms(31 * DAY_MS);
        assert!(prune(&tenant, clock.now().plus_ms(-30 * DAY_MS)).await.expect(200)["removed"].as_u64() > Some(0));
    }

    async fn retention_below_the_minimum_is_refused(engine: Engine) {
        let folder = tempfile::TempDir::with_prefix("toolcrib-it-").unwrap();
        let mut config = server::Config::new(folder.path().join("data"));
        assert_eq!(config.audit_keep_days_min, 30);
        config.listen = ([127, 0, 0, 1], 0).into();
        if engine == Engine::Postgres {
            config.database_url = Some(testkit::postgres::fresh_database());
        }
        config.audit_keep_days = NonZero::new(29);
        let refusal = crate::support::start_server(config.clone()).await.err().expect("the start is refused");
        assert!(refusal.message().contains("--audit-keep-days-min"), "{}", refusal.message());
        assert!(!folder.path().join("data").exists(), "a refused start creates no data folder");
        config.audit_keep_days_min = 29;
        crate::support::start_server(config).await.expect("the server starts").stop().await;
    }

    async fn operator_sets_how_long_trails_are_kept(engine: Engine) {
        let (crib, clock) = crib_at(engine, |config| config.audit_keep_days = NonZero::new(30)).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        clock.advance_ms(29 * DAY_MS);
        ours.session().await;
        assert_eq!(crib.sweep().await.audit_entries, 0);
        clock.advance_ms(3 * DAY_MS);
        assert!(crib.sweep().await.audit_entries > 0);
        for tenant in [&ours, &theirs] {
            assert_ne!(verified(tenant).await["firstSequence"], 1);
            let recorded_prunings = prunings(tenant).await;
            assert_eq!((recorded_prunings.len(), &recorded_prunings[0]["actorType"]), (1, &json!("system")));
        }
        assert_eq!(crib.sweep().await.audit_entries, 0, "retention runs once a day");
        assert_eq!(ours.trail("eventType=session.opened").await.len(), 1, "younger entries remain");
    }
}
