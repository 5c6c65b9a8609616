//! Tasks and costs count each call once.

use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn costs_add_up_in_every_grouping(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let (session, agent) = (tenant.session().await, tenant.agent(&["*"], &["bricks.list"]).await);
        for _ in 0..3 {
            session.call("bricks.list", json!({})).await.result();
            agent.call("bricks.list", json!({})).await.result();
        }
        session.call("bricks.list", json!({"limit": "x"})).await.error();
        session.call("made.up", json!({})).await.error();
        clock.advance_ms(3_600_000);
        session.call("kits.list", json!({})).await.result();
        let costs = async |query: &str| tenant.get(&format!("costs?{query}")).await.expect(200);
        let sums = |answer: &Value, member: &str| -> Vec<(Value, i64, i64)> {
            let rows = answer["costs"].as_array().unwrap().iter();
            rows.map(|row| (row[member].clone(), row["calls"].as_i64().unwrap(), row["failed"].as_i64().unwrap())).collect()
        };
        let by_verb = costs("").await;
        assert_eq!(sums(&by_verb, "verb"), [(json!("bricks.list"), 7, 1), (json!("kits.list"), 1, 0), (json!("unknown"), 1, 1)]);
        assert_eq!((by_verb["total"]["calls"].as_i64(), by_verb["total"]["failed"].as_i64()), (Some(9), Some(2)));
        let durations: f64 = by_verb["costs"].as_array().unwrap().iter().map(|row| row["durationMs"].as_f64().unwrap()).sum();
        assert!((durations - by_verb["total"]["durationMs"].as_f64().unwrap()).abs() < 0.001 && durations > 0.0);
        assert_eq!(sums(&costs("groupBy=agent").await, "agentId"), [(Value::Null, 6, 2), (json!(agent.id), 3, 0)]);
        assert_eq!(sums(&costs("groupBy=project").await, "projectId"), [(json!(tenant.project), 9, 2)]);
        let by_hour = costs("groupBy=hour").await;
        assert_eq!(
            sums(&by_hour, "hour"),
            [(json!("2027-01-15T09:00:00.000Z"), 1, 0), (json!("2027-01-15T08:00:00.000Z"), 8, 2)]
        );
        assert_eq!(costs("since=2027-01-15T09:10:00Z").await["total"]["calls"], 1);
        assert_eq!(costs("until=2027-01-15T09:00:00Z").await["total"]["calls"], 8);
        assert_eq!(costs("").await, by_verb, "reading again counts nothing twice");
        tenant.get("costs?groupBy=colour").await.expect(400);
    }

    async fn calls_are_listed_for_a_week(engine: Engine) {
        let clock = base::Clock::manual(base::Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let session = tenant.session_with(json!({"ttlSeconds": 30 * 24 * 3600})).await;
        let replied = session.call("bricks.list", json!({})).await;
        session.call("made.up", json!({})).await.error();
        let tasks = async |query: &str| tenant.get(&format!("tasks?{query}")).await.expect(200)["tasks"].as_array().unwrap().clone();
        let all = tasks("").await;
        let brief: Vec<_> = all.iter().map(|task| (task["verb"].as_str().unwrap(), task["state"].as_str().unwrap())).collect();
        assert_eq!(brief, [("made.up", "refused"), ("bricks.list", "completed")]);
        assert_eq!((&all[1]["sessionId"], &all[1]["projectId"]), (&json!(session.id), &json!(tenant.project)));
        assert_eq!(all[1]["requestId"], replied.header("x-request-id").unwrap());
        assert_eq!(tasks("state=refused").await.len(), 1);
        assert_eq!(tasks("verb=bricks.list").await, all[1..]);
        let first = tenant.get("tasks?limit=1").await.expect(200);
        let next = tenant.get(&format!("tasks?limit=1&cursor={}", first["nextCursor"].as_str().unwrap())).await.expect(200);
        assert_eq!((next["tasks"].as_array().unwrap().as_slice(), &next["nextCursor"]), (&all[1..], &Value::Null));
        clock.advance_ms(7 * 24 * 3_600_000 + 1);
        session.call("kits.list", json!({})).await.result();
        assert_eq!(tasks("").await.len(), 3);
        assert_eq!(crib.sweep().await.tasks, 2);
        assert_eq!(tasks("").await[0]["verb"], "kits.list");
        assert_eq!(tenant.get("costs").await.expect(200)["total"]["calls"], 3, "costs remain");
    }
}
