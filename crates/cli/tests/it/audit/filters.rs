//! Filters over a long trail: each page costs a bounded amount of work, and no entry is missed between pages.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, Tenant, both_engines};

/// Inserts 12,000 entries, one a millisecond, directly into the database. Even ones have the actor `even`, odd ones the entity `odd`.
/// Entry 1_003 has both.
const FILL: &str = "WITH RECURSIVE numbers (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM numbers WHERE i < 13000)
    INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                              request_id, payload, prev_hash, entry_hash, signature, kid)
    SELECT ?1, i, 'evt_x', 1700000000000 + i, 'graph.split', 'key', CASE WHEN i % 2 = 0 OR i = 1003 THEN 'even' ELSE 'a' END, 'thing',
           CASE WHEN i % 2 = 1 THEN 'odd' ELSE 'e' END, NULL, '{}', '', '', '', '' FROM numbers";

/// The sequence numbers on all pages, and the number of pages.
async fn pages(tenant: &Tenant<'_>, filter: &str) -> (Vec<u64>, usize) {
    let (mut found, mut count, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let path = format!("/api/audit?limit=200&{filter}{cursor}");
        let page = tenant.crib.api(Method::GET, &path, &tenant.key, None).await.expect(200);
        found.extend(page["events"].as_array().unwrap().iter().map(|event| event["sequenceNumber"].as_u64().unwrap()));
        count += 1;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (found, count),
        }
    }
}

both_engines! {
    async fn rare_matches_are_found_page_by_page(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        crib.tamper(FILL, &tenant.org).await;
        let (found, count) = pages(&tenant, "actorId=even&entityId=odd").await;
        assert_eq!(found, [1_003]);
        assert!((2..=3).contains(&count), "{count} pages for 6,000 candidates");
        // If one filter matches few entries, one page is enough.
        assert_eq!(pages(&tenant, "actorId=even&eventType=graph.merged").await, (vec![], 1));
        assert_eq!(pages(&tenant, "entityId=odd&actorId=nobody").await, (vec![], 1));
        // A time range combines with any filter in one page.
        let stretch = "since=2023-11-14T22:13:29.000Z&until=2023-11-14T22:13:29.100Z";
        let expected = (9_000..9_100).rev().collect::<Vec<u64>>();
        assert_eq!(pages(&tenant, stretch).await, (expected.clone(), 1));
        let (even, odd): (Vec<u64>, Vec<u64>) = expected.into_iter().partition(|number| number % 2 == 0);
        assert_eq!(pages(&tenant, &format!("actorId=even&{stretch}")).await, (even, 1));
        assert_eq!(pages(&tenant, &format!("entityId=odd&eventType=graph.split&{stretch}")).await, (odd, 1));
        // No entry is missed and none appears twice.
        let (found, _) = pages(&tenant, "actorId=even&eventType=graph.split").await;
        assert_eq!(found.len(), 6_001);
        assert!(found.is_sorted_by(|newer, older| newer > older));
        let (all, _) = pages(&tenant, "eventType=graph.split").await;
        assert_eq!(all, (1_001..=13_000).rev().collect::<Vec<u64>>());
        let page: Value = crib.api(Method::GET, "/api/audit?limit=1", &tenant.key, None).await.expect(200);
        assert_eq!(page["events"][0]["sequenceNumber"], json!(13_000));
    }

    async fn families_of_events_are_listed_without_gaps(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        crib.tamper(FILL, &tenant.org).await;
        crib.tamper("UPDATE audit_events SET event_type = 'graph.merged' WHERE org_id = ?1 AND event_type = 'graph.split' AND sequence % 3 = 0", &tenant.org).await;
        let (found, _) = pages(&tenant, "eventType=graph.*").await;
        assert_eq!(found, (1_001..=13_000).rev().collect::<Vec<u64>>());
        let (found, _) = pages(&tenant, "eventType=graph.*&actorId=even").await;
        assert_eq!(found, (1_001..=13_000).rev().filter(|number| number % 2 == 0 || *number == 1_003).collect::<Vec<u64>>());
        assert_eq!(pages(&tenant, "eventType=graph.*&actorId=even&entityId=odd").await.0, [1_003]);
        assert_eq!(pages(&tenant, "eventType=webhook.*").await, (vec![], 1));
    }

    async fn unknown_event_types_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for (wanted, hint) in [
            ("call.refusd", "there is no event type `call.refusd`; did you mean `call.refused`?"),
            ("policy", "did you mean `policy.*`?"),
            ("polices.*", "did you mean `policy.*`?"),
            ("nosuch", "there is no event type `nosuch`; use an event type (`key.minted`) or a family (`policy.*`)"),
        ] {
            let reply = crib.api(Method::GET, &format!("/api/audit?eventType={wanted}"), &tenant.key, None).await;
            assert!(reply.status == 400 && reply.text.contains(hint), "{} {}", reply.status, reply.text);
        }
    }
}
