//! Old entries go, and what is left is still a trail that anyone can verify.

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

/// A server whose time the test moves.
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

/// Makes more entries than two transactions of a pruning remove, and lets them grow old. Says the number of the last.
async fn grow_old(tenant: &Tenant<'_>, clock: &Clock) -> u64 {
    let session = tenant.session().await;
    for _ in 0..3 {
        let batch: Vec<_> = (0..400).map(|id| call(id, "bricks.list", json!({}))).collect();
        assert_eq!(session.rpc(&json!(batch)).await.status, 200);
        clock.advance_ms(60_000);
    }
    // Costs are up to date when they are asked for, so the relay finds nothing left to write.
    tenant.get("costs").await.expect(200);
    let last = tenant.trail("").await[0]["sequenceNumber"].as_u64().unwrap();
    clock.advance_ms(10 * DAY_MS);
    tenant.session().await;
    last
}

async fn announcements(tenant: &Tenant<'_>) -> Vec<Value> {
    tenant.trail("eventType=audit.pruned").await
}

both_engines! {
    async fn what_is_left_verifies_and_says_what_is_gone(engine: Engine) {
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
        assert_eq!(export.entries()[0], whole.entries()[old.size as usize], "what is left is as it was");
        let told = announcements(&tenant).await;
        assert_eq!(told.len(), 1);
        let payload = &told[0]["payload"];
        assert_eq!((&payload["throughSequence"], &payload["headHash"]), (&json!(old.size), &json!(old.head_hash)));
        assert_eq!((&told[0]["actorType"], told[0]["requestId"].is_string()), (&json!("instance_admin"), true));
        // A checkpoint in what is gone says nothing about what is left, and is no alarm; later ones count as before.
        assert_eq!(export.verify(Some(older)).checkpoint, Some(AtCheckpoint::BeginsLater));
        assert_eq!(export.verify(Some(old)).checkpoint, Some(AtCheckpoint::Matches));
        assert_eq!(export.verify(Some(late)).checkpoint, Some(AtCheckpoint::Matches));

        // Nothing is left to do, and nothing is said of it.
        assert_eq!(prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200)["removed"], 0);
        assert_eq!(announcements(&tenant).await.len(), 1);
        assert_eq!(prune(&tenant, clock.now().plus_ms(DAY_MS)).await.status, 400, "a time that is yet to come");
        // The announcement at least is left.
        clock.advance_ms(DAY_MS);
        let pruned = prune(&tenant, clock.now()).await.expect(200);
        assert!(pruned["removed"].as_u64() > Some(0), "{pruned}");
        let left = Export::of(&tenant).await;
        left.verified();
        let kinds: Vec<_> = left.entries().iter().map(|entry| entry["eventType"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["audit.pruned", "audit.exported"]);

        // Whoever cuts a head off without a word is found out.
        crib.tamper("DELETE FROM audit_events WHERE org_id = ?1 AND event_type = 'audit.pruned'", &tenant.org).await;
        let cut = Export::of(&tenant).await.verify(None).broken_at.unwrap();
        assert_eq!(cut.reason, Reason::MissingStart, "{cut:?}");
    }

    async fn nothing_goes_that_a_webhook_has_yet_to_deliver(engine: Engine) {
        let (crib, clock) = crib_at(engine, |_| ()).await;
        let tenant = crib.tenant().await;
        // Nobody is there to take it.
        let hook = json!({"url": "https://nobody.invalid/", "events": ["session.opened"]});
        let hook = tenant.post("webhooks", hook).await.expect(201)["webhook"]["id"].as_str().unwrap().to_owned();
        let made = tenant.trail("").await.len() as u64;
        tenant.session().await;
        tenant.session().await;
        clock.advance_ms(10 * DAY_MS);
        let pruned = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200);
        assert_eq!((&pruned["removed"], &pruned["heldBy"]), (&json!(made), &json!(hook)), "{pruned}");
        verified(&tenant).await;
        // Disabled, it gets none of it any more.
        tenant.api(Method::PATCH, &format!("webhooks/{hook}"), Some(json!({"disabled": true}))).await.expect(200);
        let pruned = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await.expect(200);
        assert_eq!((&pruned["removed"], &pruned["heldBy"]), (&json!(2), &json!(null)), "{pruned}");
        verified(&tenant).await;
    }

    async fn a_pruning_that_breaks_off_anywhere_leaves_a_trail_that_verifies(engine: Engine) {
        let faults = Faults::on_demand();
        let (crib, clock) = crib_at(engine, |config| config.faults = faults.clone()).await;
        let tenant = crib.tenant().await;
        let mut old = grow_old(&tenant, &clock).await;
        let (mut step, mut taken) = (1, 0);
        loop {
            faults.fail(step);
            let reply = prune(&tenant, clock.now().plus_ms(-DAY_MS)).await;
            let happened = faults.calm();
            assert_eq!(verified(&tenant).await["valid"], true, "step {step}");
            match (happened, reply.status) {
                (true, 200) => {
                    // The relay, which looks at the trail by itself, ran into the fault instead: the same again.
                    taken += 1;
                    assert!(taken < 20, "the relay has better things to do");
                    old = grow_old(&tenant, &clock).await;
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
        assert_eq!(announcements(&tenant).await.len(), 1, "what was announced is finished, not announced again");
        Export::of(&tenant).await.verified();
    }

    async fn only_an_owner_and_the_operator_prune_and_never_what_is_young(engine: Engine) {
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
        assert_eq!(first().await, Some(1), "nothing is gone");
        let pruned = owner.api(Method::POST, path, body(30)).await.expect(200);
        assert!(pruned["removed"].as_u64() > Some(0), "{pruned}");
        assert_eq!(announcements(&tenant).await[0]["actorId"], owner.id);
        assert!(tenant.trail("eventType=user.logged_in").await.len() == 2, "what is younger stays");
        clock.advance_ms(31 * DAY_MS);
        assert!(prune(&tenant, clock.now().plus_ms(-30 * DAY_MS)).await.expect(200)["removed"].as_u64() > Some(0));
    }

    async fn trails_are_not_kept_for_less_than_the_least(engine: Engine) {
        let folder = tempfile::TempDir::with_prefix("toolcrib-it-").unwrap();
        let mut config = server::Config::new(folder.path().join("data"));
        assert_eq!(config.audit_keep_days_min, 30);
        config.listen = ([127, 0, 0, 1], 0).into();
        if engine == Engine::Postgres {
            config.database_url = Some(testkit::postgres::fresh_database());
        }
        config.audit_keep_days = NonZero::new(29);
        let refusal = crate::support::start_server(config.clone()).await.err().expect("it is refused");
        assert!(refusal.message().contains("--audit-keep-days-min"), "{}", refusal.message());
        assert!(!folder.path().join("data").exists(), "nothing was made");
        config.audit_keep_days_min = 29;
        crate::support::start_server(config).await.expect("it starts").stop().await;
    }

    async fn an_operator_says_how_long_trails_are_kept(engine: Engine) {
        let (crib, clock) = crib_at(engine, |config| config.audit_keep_days = NonZero::new(30)).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        clock.advance_ms(29 * DAY_MS);
        ours.session().await;
        assert_eq!(crib.sweep().await.audit_entries, 0);
        clock.advance_ms(3 * DAY_MS);
        assert!(crib.sweep().await.audit_entries > 0);
        for tenant in [&ours, &theirs] {
            assert_ne!(verified(tenant).await["firstSequence"], 1);
            let told = announcements(tenant).await;
            assert_eq!((told.len(), &told[0]["actorType"]), (1, &json!("system")));
        }
        assert_eq!(crib.sweep().await.audit_entries, 0, "once a day");
        assert_eq!(ours.trail("eventType=session.opened").await.len(), 1, "what is younger stays");
    }
}
