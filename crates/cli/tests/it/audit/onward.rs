//! Reading the trail forward from a sequence number, as `audit list --follow` does.

use reqwest::Method;
use serde_json::Value;

use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn trail_is_read_forward_from_a_sequence_number(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let ask = async |query: &str| crib.api(Method::GET, &format!("/api/audit{query}"), &tenant.key, None).await;
        let numbers = |answer: &Value| {
            answer["events"].as_array().unwrap().iter().map(|event| event["sequenceNumber"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let newest = numbers(&ask("?limit=1").await.expect(200))[0];
        assert_eq!(numbers(&ask("/newer?after=0&limit=200").await.expect(200)), (1..=newest).collect::<Vec<_>>(), "oldest first");
        assert_eq!(numbers(&ask("/newer?limit=1").await.expect(200)), [1]);
        assert_eq!(numbers(&ask("/newer?after=1&limit=1").await.expect(200)), [2]);
        assert_eq!(numbers(&ask(&format!("/newer?after={newest}")).await.expect(200)), [0; 0]);
        assert_eq!(numbers(&ask(&format!("/newer?after={}", (1_u64 << 53) - 1)).await.expect(200)), [0; 0]);
        for bad in ["?after=", "?after=-1", "?after=x", "?after=9007199254740992", "?after=1&eventType=key.minted"] {
            assert_eq!(ask(&format!("/newer{bad}")).await.status, 400, "{bad}");
        }
        crib.stop().await;
    }
}
