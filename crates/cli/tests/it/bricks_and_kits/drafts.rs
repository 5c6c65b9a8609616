//! Creating drafts: valid and invalid arguments. A refused call changes nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{DoorClient, members, sorted, text};
use crate::support::{Crib, Engine, both_engines};

fn brick() -> Value {
    json!({"name": "Mentions pricing", "type": "boolean", "evaluation_prompt": "Does it mention a price?"})
}

/// `object` with one member changed.
fn with(mut object: Value, member: &str, value: impl Into<Value>) -> Value {
    object[member] = value.into();
    object
}

fn without(mut object: Value, member: &str) -> Value {
    object.as_object_mut().unwrap().remove(member).unwrap();
    object
}

both_engines! {
    async fn draft_answers_have_the_members_of_the_seed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for client in DoorClient::both(&tenant).await {
            let result = client.call("bricks.create_draft", brick()).await.result();
            let made = &result["structuredContent"];
            assert_eq!(members(made), sorted(["brick_id", "brick_version_id"]));
            let said = format!("Created draft brick {}.", text(&made["brick_id"]));
            let rows = format!("brick_version_id: {}", text(&made["brick_version_id"]));
            assert_eq!(result["content"], json!([{"type": "text", "text": said}, {"type": "text", "text": rows}]));

            let other = client.brick("other").await;
            let kit = json!({"name": "Pricing", "brick_ids": [made["brick_id"], other], "notes": "n", "description": "d"});
            let result = client.call("kits.create_draft", kit).await.result();
            let made = &result["structuredContent"];
            assert_eq!(members(made), sorted(["brick_count", "kit_id", "kit_version_id"]));
            assert_eq!(made["brick_count"], 2);
            let said = format!("Created draft kit {} with 2 brick(s).", text(&made["kit_id"]));
            let rows = format!("kit_version_id: {}", text(&made["kit_version_id"]));
            assert_eq!(result["content"], json!([{"type": "text", "text": said}, {"type": "text", "text": rows}]));
        }
    }

    async fn lengths_are_counted_in_unicode_scalar_values(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = &DoorClient::both(&tenant).await[0];
        let id = session.brick("pinned").await;
        let kit = json!({"name": "kit", "brick_ids": [id]});
        for (tool, base, member, chars_max) in [
            ("bricks.create_draft", brick(), "name", 120),
            ("bricks.create_draft", brick(), "description", 500),
            ("bricks.create_draft", brick(), "evaluation_prompt", 10_000),
            ("kits.create_draft", kit.clone(), "name", 120),
            ("kits.create_draft", kit.clone(), "description", 500),
            ("kits.create_draft", kit.clone(), "notes", 500),
        ] {
            // Characters of one, two, three and four bytes. The third one is a combining mark.
            for character in ["a", "é", "\u{20dd}", "😀"] {
                session.payload(tool, with(base.clone(), member, character.repeat(chars_max))).await;
                let error = session.call(tool, with(base.clone(), member, character.repeat(chars_max + 1))).await.error();
                assert_eq!((error["code"].as_i64(), error["data"]["parameter"].as_str()), (Some(-32602), Some(member)), "{tool}");
            }
        }
    }

    async fn invalid_arguments_are_refused_and_change_nothing(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for client in DoorClient::both(&tenant).await {
            let (one, two) = (client.brick("one").await, client.brick("two").await);
            let kit = json!({"name": "kit", "brick_ids": [one]});
            let nowhere = format!("brk_{}", "0".repeat(26));
            let ids = |ids: Value| with(json!({"name": "kit"}), "brick_ids", ids);
            let many: Vec<String> = (0..501).map(|number| format!("brk_{number:026}")).collect();
            let get = json!({"kit_id": client.kit(&[&one]).await});
            let before = client.counts().await;
            for (tool, arguments, parameter) in [
                // The caller cannot set the workspace, the author or the status.
                ("bricks.create_draft", with(brick(), "workspace_id", tenant.org.as_str()), "workspace_id"),
                ("bricks.create_draft", with(brick(), "created_by", "me"), "created_by"),
                ("bricks.create_draft", with(brick(), "status", "published"), "status"),
                ("kits.create_draft", with(kit.clone(), "workspace_id", tenant.org.as_str()), "workspace_id"),
                ("kits.create_draft", with(kit.clone(), "created_by", "me"), "created_by"),
                ("kits.create_draft", with(kit.clone(), "status", "draft"), "status"),
                ("bricks.list", json!({"workspace_id": tenant.org}), "workspace_id"),
                ("bricks.list", json!({"cursor": "x"}), "cursor"),
                ("kits.list", json!({"created_by": "me"}), "created_by"),
                ("kits.get", with(get.clone(), "workspace_id", tenant.org.as_str()), "workspace_id"),
                // Missing members.
                ("bricks.create_draft", without(brick(), "name"), "name"),
                ("bricks.create_draft", without(brick(), "type"), "type"),
                ("bricks.create_draft", without(brick(), "evaluation_prompt"), "evaluation_prompt"),
                ("kits.create_draft", without(kit.clone(), "name"), "name"),
                ("kits.create_draft", without(kit.clone(), "brick_ids"), "brick_ids"),
                ("kits.get", json!({}), "kit_id"),
                // Invalid values.
                ("bricks.create_draft", with(brick(), "name", ""), "name"),
                ("bricks.create_draft", with(brick(), "name", " \t "), "name"),
                ("bricks.create_draft", with(brick(), "name", 7), "name"),
                ("bricks.create_draft", with(brick(), "name", Value::Null), "name"),
                ("bricks.create_draft", with(brick(), "name", "a\0b"), "name"),
                ("bricks.create_draft", with(brick(), "description", "\0"), "description"),
                ("bricks.create_draft", with(brick(), "description", Value::Null), "description"),
                ("bricks.create_draft", with(brick(), "evaluation_prompt", "a\0"), "evaluation_prompt"),
                ("bricks.create_draft", with(brick(), "type", "Boolean"), "type"),
                ("bricks.create_draft", with(brick(), "type", "number"), "type"),
                ("bricks.create_draft", with(brick(), "type", Value::Null), "type"),
                ("kits.create_draft", with(kit.clone(), "name", ""), "name"),
                ("kits.create_draft", with(kit.clone(), "notes", "\0"), "notes"),
                ("kits.create_draft", ids(json!([])), "brick_ids"),
                ("kits.create_draft", ids(json!([one, one])), "brick_ids"),
                ("kits.create_draft", ids(json!(one)), "brick_ids"),
                ("kits.create_draft", ids(json!([7])), "brick_ids[0]"),
                ("kits.create_draft", ids(json!(many)), "brick_ids"),
                ("kits.create_draft", ids(json!([one, nowhere])), "brick_ids[1]"),
                ("kits.create_draft", ids(json!([one, two, "nonsense"])), "brick_ids[2]"),
                ("kits.create_draft", ids(json!([one, "a\0b"])), "brick_ids[1]"),
                ("kits.get", json!({"kit_id": "kit_0"}), "kit_id"),
                ("kits.get", json!({"kit_id": one}), "kit_id"),
                ("kits.get", json!({"kit_id": ""}), "kit_id"),
                ("kits.get", json!({"kit_id": "a\0b"}), "kit_id"),
                ("kits.get", with(get.clone(), "include_bricks", "yes"), "include_bricks"),
                ("bricks.list", json!({"limit": 0}), "limit"),
                ("bricks.list", json!({"limit": 101}), "limit"),
                ("bricks.list", json!({"limit": -1}), "limit"),
                ("bricks.list", json!({"limit": 1.5}), "limit"),
                ("bricks.list", json!({"status": "Draft"}), "status"),
                ("kits.list", json!({"limit": 101}), "limit"),
                ("kits.list", json!({"status": "archived"}), "status"),
            ] {
                let error = client.call(tool, arguments.clone()).await.error();
                let said = (error["code"].as_i64(), error["data"]["parameter"].as_str());
                assert_eq!(said, (Some(-32602), Some(parameter)), "{tool} {arguments}: {error}");
                assert_eq!(error["data"]["kind"], "invalid_params", "{error}");
                assert!(!error.to_string().contains("SELECT") && !error.to_string().contains("::"), "{error}");
            }
            assert_eq!(client.counts().await, before, "a refused call created something");
        }
    }

    async fn thirty_concurrent_drafts_get_thirty_keys(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let [session, agent] = &DoorClient::both(&tenant).await;
        let calls = (0..30).map(|number| {
            let client = if number % 2 == 0 { session } else { agent };
            client.call("bricks.create_draft", with(brick(), "name", "Same  name!"))
        });
        for reply in futures_util::future::join_all(calls).await {
            reply.result();
        }
        let listed = session.payload("bricks.list", json!({"limit": 100})).await;
        let keys: BTreeSet<String> = listed["bricks"].as_array().unwrap().iter().map(|brick| text(&brick["brick_key"])).collect();
        let expected = (2..=30).map(|number| format!("same_name_{number}")).chain(["same_name".to_owned()]);
        assert_eq!(keys, expected.collect());
    }
}
