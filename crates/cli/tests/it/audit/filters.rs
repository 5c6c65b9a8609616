//! Filters over a long trail: each page at a bounded price, and nothing is missed between pages.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, Tenant, both_engines};

/// Twelve thousand entries, one a millisecond, behind the server's back. Every other one is of the actor `even`, the others have the
/// entity `odd`; number 1_003 has both.
const FILL: &str = "WITH RECURSIVE numbers (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM numbers WHERE i < 13000)
    INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                              request_id, payload, prev_hash, entry_hash, signature, kid)
    SELECT ?1, i, 'evt_x', 1700000000000 + i, 'x.y', 'key', CASE WHEN i % 2 = 0 OR i = 1003 THEN 'even' ELSE 'a' END, 'thing',
           CASE WHEN i % 2 = 1 THEN 'odd' ELSE 'e' END, NULL, '{}', '', '', '', '' FROM numbers";

/// All pages, and how many there were.
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
    async fn what_matches_next_to_nothing_is_found_page_by_page(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        crib.tamper(FILL, &tenant.org).await;
        let (found, count) = pages(&tenant, "actorId=even&entityId=odd").await;
        assert_eq!(found, [1_003]);
        assert!((2..=3).contains(&count), "{count} pages for 6,000 entries of either");
        // What is rare finds the rest at once.
        assert_eq!(pages(&tenant, "actorId=even&eventType=no.such").await, (vec![], 1));
        assert_eq!(pages(&tenant, "entityId=odd&actorId=nobody").await, (vec![], 1));
        // A stretch of time is one range with any of them.
        let stretch = "since=2023-11-14T22:13:29.000Z&until=2023-11-14T22:13:29.100Z";
        let expected = (9_000..9_100).rev().collect::<Vec<u64>>();
        assert_eq!(pages(&tenant, stretch).await, (expected.clone(), 1));
        let (even, odd): (Vec<u64>, Vec<u64>) = expected.into_iter().partition(|number| number % 2 == 0);
        assert_eq!(pages(&tenant, &format!("actorId=even&{stretch}")).await, (even, 1));
        assert_eq!(pages(&tenant, &format!("entityId=odd&eventType=x.y&{stretch}")).await, (odd, 1));
        // Nothing is missed and nothing comes twice, in whatever pages.
        let (found, _) = pages(&tenant, "actorId=even&eventType=x.y").await;
        assert_eq!(found.len(), 6_001);
        assert!(found.is_sorted_by(|newer, older| newer > older));
        let (all, _) = pages(&tenant, "eventType=x.y").await;
        assert_eq!(all, (1_001..=13_000).rev().collect::<Vec<u64>>());
        let page: Value = crib.api(Method::GET, "/api/audit?limit=1", &tenant.key, None).await.expect(200);
        assert_eq!(page["events"][0]["sequenceNumber"], json!(13_000));
    }
}
