//! Verification finds tampered rows, in the server and in the export.

use ::audit::Checkpoint;
use reqwest::Method;
use serde_json::json;

use super::Export;
use crate::support::{Crib, Engine, Tenant, both_engines};

async fn verify(tenant: &Tenant<'_>) -> serde_json::Value {
    tenant.crib.api(Method::POST, "/api/audit/verify", &tenant.key, None).await.expect(200)
}

both_engines! {
    async fn trail_has_no_gap_and_verifies(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let calls = (0..40).map(|number| {
            let tool = if number % 2 == 0 { "bricks.list" } else { "bricks.create_draft" };
            session.call(tool, if number % 2 == 0 { json!({}) } else { json!({"name": "n", "type": "score", "evaluation_prompt": "p"}) })
        });
        for reply in futures_util::future::join_all(calls).await {
            reply.result();
        }
        let export = Export::of(&tenant).await;
        let numbers: Vec<_> = export.entries().iter().map(|entry| entry["sequenceNumber"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        assert_eq!(export.entries().last().unwrap()["eventType"], "audit.exported", "the export itself is recorded");
        assert_eq!(export.verified(), numbers.len() as u64);
        let report = verify(&tenant).await;
        assert_eq!((&report["valid"], &report["firstSequence"], &report["brokenAt"]), (&json!(true), &json!(1), &json!(null)), "{report}");
        assert_eq!(export.entries()[0]["prevHash"], "0".repeat(64));
    }

    async fn truncated_trail_contradicts_a_saved_checkpoint(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        tenant.session().await.call("bricks.list", json!({})).await.result();
        let kept = tenant.audit("checkpoint").await;
        let checkpoint = || Checkpoint::parse(kept.text.as_bytes()).unwrap();
        let mut export = Export::of(&tenant).await;
        assert!(export.verify(Some(checkpoint())).is_valid());
        let cut: Vec<_> = export.lines.lines().take(3).map(str::to_owned).collect();
        export.lines = cut.join("\n") + "\n";
        assert!(export.verify(None).is_valid(), "the chain alone does not show a missing end");
        assert!(!export.verify(Some(checkpoint())).is_valid());
    }

    async fn changed_swapped_and_lost_rows_are_located(engine: Engine) {
        for (tampering, broken) in [
            ("UPDATE audit_events SET actor_id = 'someone else' WHERE org_id = ?1 AND sequence = 3", 3),
            ("UPDATE audit_events SET payload = '{}' WHERE org_id = ?1 AND sequence = 2", 2),
            ("DELETE FROM audit_events WHERE org_id = ?1 AND sequence = 3", 3),
            ("UPDATE audit_events SET signature = (SELECT e.signature FROM audit_events e WHERE e.org_id = ?1 AND e.sequence = 4)
              WHERE org_id = ?1 AND sequence = 5", 5),
            ("UPDATE audit_events SET kid = 'forged' WHERE org_id = ?1 AND sequence = 4", 4),
        ] {
            let crib = Crib::start(engine).await;
            let tenant = crib.tenant().await;
            for _ in 0..4 {
                tenant.session().await;
            }
            assert_eq!(verify(&tenant).await["valid"], true);
            crib.tamper(tampering, &tenant.org).await;
            let report = verify(&tenant).await;
            assert_eq!((&report["valid"], &report["brokenAt"]), (&json!(false), &json!(broken)), "{tampering}: {report}");
            let export = Export::of(&tenant).await.verify(None);
            assert!(!export.is_valid());
        }
    }
}
