//! Decisions and performance figures through the doors.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines};

/// The payload, which is also the text.
fn payload(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"], "{result}");
    result["structuredContent"].clone()
}

both_engines! {
    async fn a_decision_is_recalled_and_forgotten_with_its_observation(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let switch = async |on: bool| {
            let body = json!({"memory_enabled": on});
            tenant.api(Method::PATCH, &format!("projects/{}", tenant.project), Some(body)).await.expect(200)
        };
        // The switch governs the tools of memory, and not what is recorded.
        switch(false).await;
        let decision = json!({"decision": "lamps are lit at dusk", "reasoning": "nobody sees the steps", "alternatives": ["noon"]});
        let made = payload(&session.call("record_decision", decision).await.result());
        assert!(made["decision_id"].as_str().unwrap().starts_with("dec_"), "{made}");
        switch(true).await;
        let query = json!({"query": "when are lamps lit", "workType": "chore"});
        let recalled = session.call("af_memory_recall", query.clone()).await.result();
        let found = &recalled["structuredContent"]["observations"][0];
        assert_eq!((&found["id"], &found["type"]), (&made["observation_id"], &json!("decision")));
        let path = format!("projects/{}/memory/{}", tenant.project, made["observation_id"].as_str().unwrap());
        tenant.api(Method::DELETE, &path, None).await.expect(200);
        let recalled = session.call("af_memory_recall", query).await.result();
        assert!(!recalled.to_string().contains("lamps are lit at dusk"), "{recalled}");
    }

    async fn bad_decisions_name_the_parameter(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        for (arguments, parameter) in [
            (json!({"decision": "d"}), "reasoning"),
            (json!({"decision": " ", "reasoning": "r"}), "decision"),
            (json!({"decision": "d", "reasoning": "r", "impact": "huge"}), "impact"),
            (json!({"decision": "d", "reasoning": "r", "confidence": 2}), "confidence"),
            (json!({"decision": "d", "reasoning": "r", "context": "text"}), "context"),
            (json!({"decision": "d", "reasoning": "r", "alternatives": ["a", ""]}), "alternatives[1]"),
        ] {
            let error = session.call("record_decision", arguments).await.error();
            assert_eq!((&error["code"], &error["data"]["parameter"]), (&json!(-32602), &json!(parameter)), "{error}");
        }
        let error = session.call("get_performance_metrics", json!({"time_window": "8d"})).await.error();
        assert_eq!((&error["code"], &error["data"]["parameter"]), (&json!(-32602), &json!("time_window")), "{error}");
    }

    async fn figures_count_the_calls_of_the_org(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (session, stranger) = (tenant.session().await, other.session().await);
        for _ in 0..3 {
            session.call("bricks.list", json!({})).await.result();
            stranger.call("kits.list", json!({})).await.result();
        }
        session.call("kits.get", json!({"kit_id": "kit_unknown"})).await.error();
        session.call("no_such_tool", json!({})).await.error();
        let types = json!({"metric_types": ["latency", "throughput", "errors", "memory", "health"]});
        let found = payload(&session.call("get_performance_metrics", types).await.result());
        assert_eq!((&found["tools"]["bricks.list"]["count"], &found["tools"]["bricks.list"]["errors"]), (&json!(3), &json!(0)));
        let latency = |name: &str| found["tools"]["bricks.list"][name].as_f64().unwrap();
        assert!(latency("p50_ms") > 0.0 && latency("p50_ms") <= latency("p90_ms") && latency("p90_ms") <= latency("p99_ms"), "{found}");
        assert!(found["tools"].get("kits.list").is_none() && found["tools"].get("no_such_tool").is_none(), "{found}");
        assert_eq!(found["tools"]["unknown"]["errors"], 1);
        assert_eq!((&found["throughput"]["calls"], &found["errors"]["count"]), (&json!(5), &json!(2)));
        assert_eq!((&found["errors"]["by_kind"]["tool_not_found"], &found["health"]["status"]), (&json!(1), &json!("ok")));
        let few = payload(&session.call("get_performance_metrics", json!({"metric_types": ["memory"]})).await.result());
        assert!(few.get("tools").is_none() && few.get("health").is_none() && few["memory"]["index_bytes"].is_u64(), "{few}");
    }
}
