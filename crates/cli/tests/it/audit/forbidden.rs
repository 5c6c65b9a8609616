//! Door refusals are recorded in the session's org, at a limited rate so that they cannot flood a trail.

use base::{Clock, Timestamp};
use serde_json::json;

use crate::support::{Crib, Engine, both_engines, call};

both_engines! {
    async fn door_refusals_beyond_ten_a_minute_are_only_counted(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let session = theirs.session().await;
        let post_call = async |key: &str| {
            let request = crib.http.post(&session.url).bearer_auth(key);
            crib.send(request.json(&call(1, "bricks.list", json!({})))).await.status
        };
        for _ in 0..25 {
            assert_eq!(post_call(&ours.key).await, 403);
        }
        let entries = async || theirs.trail("eventType=door.forbidden").await;
        assert_eq!(entries().await.len(), 10);
        let metrics = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
        assert!(metrics.contains("toolcrib_door_refusals_total{door=\"session\",status=\"403\"} 25\n"), "{metrics}");
        // Another key has its own allowance of ten.
        assert_eq!(post_call(&ours.key_with(&["*"]).await).await, 403);
        assert_eq!(entries().await.len(), 11);
        clock.advance_ms(60_000);
        assert_eq!(post_call(&ours.key).await, 403);
        let entries = entries().await;
        assert_eq!(entries.len(), 12);
        let counted = theirs.trail("eventType=refusals.counted").await;
        assert_eq!((counted.len(), &counted[0]["payload"]["count"]), (1, &json!(15)), "{counted:?}");
    }

    async fn door_refusals_count_against_the_key_rate_limit(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.key_calls_per_minute = 1;
            config.limits.key_calls_burst = 5;
        })
        .await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let (own, other) = (ours.session().await, theirs.session().await);
        let post_call = async |url: &str| {
            let request = crib.http.post(url).bearer_auth(&ours.key);
            crib.send(request.json(&call(1, "bricks.list", json!({})))).await.status
        };
        for _ in 0..8 {
            assert_eq!(post_call(&other.url).await, 403, "another org's session stays forbidden");
        }
        assert_eq!(post_call(&own.url).await, 429, "the refusals used up the key's burst");
        assert_eq!(theirs.trail("eventType=door.forbidden").await.len(), 8, "each refusal is recorded");
    }
}
