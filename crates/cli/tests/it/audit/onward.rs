//! The trail read onward from a number, as whoever follows it does.

use reqwest::Method;
use serde_json::Value;

use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn the_trail_is_read_on_from_a_number(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let ask = async |query: &str| crib.api(Method::GET, &format!("/api/audit?{query}"), &tenant.key, None).await;
        let numbers = |answer: &Value| {
            answer["events"].as_array().unwrap().iter().map(|event| event["sequenceNumber"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let newest = numbers(&ask("limit=1").await.expect(200))[0];
        assert_eq!(numbers(&ask("after=0&limit=200").await.expect(200)), (1..=newest).collect::<Vec<_>>(), "oldest first");
        assert_eq!(numbers(&ask("after=1&limit=1").await.expect(200)), [2]);
        assert_eq!(numbers(&ask(&format!("after={newest}")).await.expect(200)), [0; 0]);
        assert_eq!(numbers(&ask(&format!("after={}", i64::MAX)).await.expect(200)), [0; 0]);
        for bad in ["after=-1", "after=x", "after=9223372036854775808", "after=1&eventType=key.minted", "after=1&since=2026-01-01T00:00:00Z"] {
            assert_eq!(ask(bad).await.status, 400, "{bad}");
        }
        crib.stop().await;
    }
}
