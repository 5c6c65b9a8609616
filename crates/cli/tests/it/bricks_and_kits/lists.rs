//! Lists and `kits.get`: exact members, order and defaults.

use serde_json::{Value, json};

use super::{DoorClient, members, sorted, text};
use crate::support::{Crib, Engine, both_engines};

const BRICK_ROW: [&str; 6] = ["brick_id", "brick_key", "brick_name", "status", "current_version_id", "updated_at"];
const KIT_ROW: [&str; 7] = ["kit_id", "kit_code", "name", "status", "current_version_id", "updated_at", "brick_count"];
const KIT: [&str; 8] =
    ["kit_id", "kit_code", "name", "status", "current_version_id", "current_version", "updated_at", "included_brick_count"];
const KIT_BRICK: [&str; 8] = [
    "brick_id",
    "brick_key",
    "brick_name",
    "brick_version_id",
    "brick_version",
    "brick_version_status",
    "will_promote_on_publish",
    "update_available",
];
const READINESS: [&str; 9] = [
    "publishable",
    "status_badge",
    "blockers",
    "warnings",
    "included_bricks_count",
    "draft_bricks_to_promote",
    "published_bricks_included",
    "blockers_count",
    "warnings_count",
];
const FINDING: [&str; 3] = ["code", "brick_id", "brick_version_id"];

#[track_caller]
fn check_time(value: &Value) {
    let time = value.as_str().unwrap();
    assert!(base::Timestamp::parse_rfc3339(time).is_some() && time.ends_with('Z'), "{time}");
}

both_engines! {
    async fn lists_have_the_members_and_order_of_the_seed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let clients = DoorClient::both(&tenant).await;
        let (mut bricks, mut kits) = (Vec::new(), Vec::new());
        for number in 0..25 {
            let client = &clients[number % 2];
            bricks.insert(0, client.brick(&format!("Brick {number}")).await);
            kits.insert(0, client.kit(&[&bricks[0]]).await);
        }
        for client in &clients {
            for (tool, noun, id, expected) in
                [("bricks.list", "bricks", "brick_id", &bricks), ("kits.list", "kits", "kit_id", &kits)]
            {
                let ids =
                    |payload: &Value| payload[noun].as_array().unwrap().iter().map(|row| text(&row[id])).collect::<Vec<_>>();
                let result = client.call(tool, json!({})).await.result();
                assert_eq!(members(&result["structuredContent"]), [noun]);
                assert_eq!(ids(&result["structuredContent"]), expected[..20], "{tool}");
                let singular = noun.trim_end_matches('s');
                assert_eq!(result["content"][0], json!({"type": "text", "text": format!("Listed 20 {singular}(s).")}));
                let rows = text(&result["content"][1]["text"]);
                let first = rows.lines().skip(1).map(|row| row.split(" | ").next().unwrap());
                assert!(first.eq(expected[..20].iter().map(String::as_str)), "{rows}");
                for (arguments, count) in [
                    (json!({"limit": 1}), 1),
                    (json!({"limit": 100}), 25),
                    (json!({"limit": 3, "status": "draft"}), 3),
                    (json!({"status": "published"}), 0),
                    (json!({"status": "deprecated", "limit": 100}), 0),
                ] {
                    assert_eq!(ids(&client.payload(tool, arguments.clone()).await), expected[..count], "{tool} {arguments}");
                }
            }
            let listed = client.payload("bricks.list", json!({"limit": 1})).await;
            let row = &listed["bricks"][0];
            assert_eq!(members(row), sorted(BRICK_ROW));
            assert_eq!(
                (text(&row["brick_key"]).as_str(), &row["brick_name"], &row["status"]),
                ("brick_24", &json!("Brick 24"), &json!("draft"))
            );
            check_time(&row["updated_at"]);
            let listed = client.payload("kits.list", json!({"limit": 1})).await;
            let row = &listed["kits"][0];
            assert_eq!(members(row), sorted(KIT_ROW));
            assert_eq!((&row["name"], &row["status"], &row["brick_count"]), (&json!("kit"), &json!("draft"), &json!(1)));
            let code = text(&row["kit_code"]);
            assert!(code.len() == 8 && code.bytes().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte)), "{code}");
            check_time(&row["updated_at"]);
        }
    }

    async fn kit_is_shown_with_and_without_bricks_and_readiness(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for client in DoorClient::both(&tenant).await {
            let (one, two) = (client.brick("One").await, client.brick("Two").await);
            let kit = client.kit(&[&two, &one]).await;
            for (bricks, readiness) in [(false, false), (true, false), (false, true), (true, true)] {
                let arguments = json!({"kit_id": kit, "include_bricks": bricks, "include_publish_readiness": readiness});
                let payload = client.payload("kits.get", arguments).await;
                let more = [bricks.then_some("bricks"), readiness.then_some("publish_readiness")];
                let mut expected: Vec<_> = KIT.into_iter().chain(more.into_iter().flatten()).collect();
                expected.sort_unstable();
                assert_eq!(members(&payload), expected, "{bricks} {readiness}");
            }
            let result = client.call("kits.get", json!({"kit_id": kit})).await.result();
            assert_eq!(members(&result["structuredContent"]), sorted(KIT), "neither is included by default");
            assert_eq!(result["content"][0], json!({"type": "text", "text": "Kit kit (draft), version 1, 2 brick(s)."}));

            let arguments = json!({"kit_id": kit, "include_bricks": true, "include_publish_readiness": true});
            let result = client.call("kits.get", arguments).await.result();
            let said = "Kit kit (draft), version 1, 2 brick(s). Ready with warnings.";
            assert_eq!(result["content"][0]["text"], said);
            let payload = &result["structuredContent"];
            assert_eq!((&payload["kit_id"], &payload["status"], &payload["name"]), (&json!(kit), &json!("draft"), &json!("kit")));
            assert_eq!((&payload["current_version"], &payload["included_brick_count"]), (&json!(1), &json!(2)));
            check_time(&payload["updated_at"]);
            let bricks = payload["bricks"].as_array().unwrap();
            for (brick, (id, name)) in bricks.iter().zip([(&two, "Two"), (&one, "One")]) {
                assert_eq!(members(brick), sorted(KIT_BRICK));
                assert_eq!(
                    (&brick["brick_id"], &brick["brick_name"]),
                    (&json!(id), &json!(name)),
                    "bricks keep the given order"
                );
                assert_eq!((&brick["brick_version"], &brick["brick_version_status"]), (&json!(1), &json!("draft")));
                assert_eq!((&brick["will_promote_on_publish"], &brick["update_available"]), (&json!(true), &json!(false)));
            }
            let readiness = &payload["publish_readiness"];
            assert_eq!(members(readiness), sorted(READINESS));
            for finding in readiness["warnings"].as_array().unwrap() {
                assert_eq!(members(finding), sorted(FINDING), "findings hold no free text");
                assert_eq!(finding["code"], "brick_draft_will_promote");
            }
            let figures = [
                "included_bricks_count",
                "draft_bricks_to_promote",
                "published_bricks_included",
                "blockers_count",
                "warnings_count",
            ];
            assert_eq!(figures.map(|figure| readiness[figure].as_i64().unwrap()), [2, 2, 0, 0, 2]);
            assert_eq!((&readiness["publishable"], &readiness["status_badge"]), (&json!(true), &json!("Ready with warnings")));
        }
    }

    async fn rules_and_notes_are_shown_only_to_people(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for client in DoorClient::both(&tenant).await {
            let brick = json!({"name": "b", "type": "score", "evaluation_prompt": "secret rule", "description": "secret words"});
            let brick = text(&client.payload("bricks.create_draft", brick).await["brick_id"]);
            let kit = json!({"name": "k", "brick_ids": [brick], "notes": "secret notes", "description": "secret words"});
            let kit = text(&client.payload("kits.create_draft", kit).await["kit_id"]);
            let get = json!({"kit_id": kit, "include_bricks": true, "include_publish_readiness": true});
            for (tool, arguments) in [("bricks.list", json!({})), ("kits.list", json!({})), ("kits.get", get)] {
                assert!(!client.call(tool, arguments).await.text.contains("secret"), "{tool}");
            }
            for (path, secrets) in [
                (format!("/api/bricks/{brick}"), ["secret rule", "secret words"]),
                (format!("/api/kits/{kit}"), ["secret notes", "secret words"]),
            ] {
                let shown = crib.api(reqwest::Method::GET, &path, &tenant.key, None).await;
                shown.expect(200);
                assert!(secrets.iter().all(|secret| shown.text.contains(secret)), "{}", shown.text);
            }
        }
    }
}
