//! Refusals at a door are on the record of the session's org, and nobody fills a trail with them.

use base::{Clock, Timestamp};
use serde_json::json;

use crate::support::{Crib, Engine, both_engines, call};

both_engines! {
    async fn beyond_ten_a_minute_refusals_at_a_door_are_counted(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let session = theirs.session().await;
        let knock = async |key: &str| {
            let request = crib.http.post(&session.url).bearer_auth(key);
            crib.send(request.json(&call(1, "bricks.list", json!({})))).await.status
        };
        for _ in 0..25 {
            assert_eq!(knock(&ours.key).await, 403);
        }
        let told = async || theirs.trail("eventType=door.forbidden").await;
        assert_eq!(told().await.len(), 10);
        let metrics = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
        assert!(metrics.contains("toolcrib_door_refusals_total{door=\"session\",status=\"403\"} 25\n"), "{metrics}");
        // Another key has ten of its own.
        assert_eq!(knock(&ours.key_with(&["*"]).await).await, 403);
        assert_eq!(told().await.len(), 11);
        clock.advance_ms(60_000);
        assert_eq!(knock(&ours.key).await, 403);
        let told = told().await;
        assert_eq!(told.len(), 12);
        let counted = theirs.trail("eventType=refusals.counted").await;
        assert_eq!((counted.len(), &counted[0]["payload"]["count"]), (1, &json!(15)), "{counted:?}");
    }

    async fn refusals_at_a_door_are_charged_to_the_key(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.key_calls_per_minute = 1;
            config.limits.key_calls_burst = 5;
        })
        .await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let (own, other) = (ours.session().await, theirs.session().await);
        let knock = async |url: &str| {
            let request = crib.http.post(url).bearer_auth(&ours.key);
            crib.send(request.json(&call(1, "bricks.list", json!({})))).await.status
        };
        for _ in 0..8 {
            assert_eq!(knock(&other.url).await, 403, "what is forbidden stays so");
        }
        assert_eq!(knock(&own.url).await, 429, "the key has spent what it had");
        assert_eq!(theirs.trail("eventType=door.forbidden").await.len(), 8, "what is refused is on the record all the same");
    }
}
