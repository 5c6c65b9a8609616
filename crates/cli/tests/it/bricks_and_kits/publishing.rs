//! Decisions of people at the console, and their effect for agents.

use reqwest::Method;
use serde_json::{Value, json};

use super::{DoorClient, text};
use crate::support::{Crib, Engine, Person, Reply, both_engines};

/// A person's decision about a brick or kit.
async fn decide(person: &Person<'_>, noun: &str, id: &str, verb: &str, body: Option<Value>) -> Reply {
    person.api(Method::POST, &format!("/api/{noun}/{id}/{verb}"), body).await
}

/// A kit on one line, as agents see it: badge, status and version; finding codes with the index of their brick; each brick's
/// pinned version.
async fn kit_line(client: &DoorClient<'_>, kit: &str, bricks: &[&str]) -> String {
    let get = json!({"kit_id": kit, "include_bricks": true, "include_publish_readiness": true});
    let kit = client.payload("kits.get", get).await;
    let readiness = &kit["publish_readiness"];
    let place = |id: &Value| bricks.iter().position(|brick| id == brick).map_or("?".to_owned(), |place| place.to_string());
    let findings = ["blockers", "warnings"].map(|kind| readiness[kind].as_array().unwrap().clone()).concat();
    let codes = findings.iter().map(|finding| format!(" {}@{}", text(&finding["code"]), place(&finding["brick_id"])));
    let pins = kit["bricks"].as_array().unwrap().iter();
    let pins = pins.map(|brick| {
        format!(" {}:v{}:{}", place(&brick["brick_id"]), brick["brick_version"], text(&brick["brick_version_status"]))
    });
    assert_eq!(readiness["publishable"], json!(readiness["blockers"] == json!([])));
    assert_eq!(readiness["blockers_count"].as_u64().unwrap() as usize, readiness["blockers"].as_array().unwrap().len());
    assert_eq!(readiness["warnings_count"].as_u64().unwrap() as usize, readiness["warnings"].as_array().unwrap().len());
    let head = format!("{}, {} v{}:", text(&readiness["status_badge"]), text(&kit["status"]), kit["current_version"]);
    head + &codes.collect::<String>() + " |" + &pins.collect::<String>()
}

both_engines! {
    async fn kit_is_drafted_published_versioned_and_deprecated(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (owner, [_, agent]) = (tenant.person("owner").await, DoorClient::both(&tenant).await);
        let (one, two) = (agent.brick("One").await, agent.brick("Two").await);
        let bricks = [one.as_str(), two.as_str()];
        decide(&owner, "bricks", &one, "publish", None).await.expect(200);
        let kit = agent.kit(&bricks).await;
        let code = agent.payload("kits.get", json!({"kit_id": kit})).await["kit_code"].clone();
        let see = async || kit_line(&agent, &kit, &bricks).await;
        assert_eq!(see().await, "Ready with warnings, draft v1: brick_draft_will_promote@1 | 0:v1:published 1:v1:draft");

        // Publishing the kit also publishes its draft bricks.
        let published = decide(&owner, "kits", &kit, "publish", None).await.expect(200);
        assert_eq!(published["kit"]["status"], "published");
        assert_eq!(see().await, "Ready, published v1: | 0:v1:published 1:v1:published");
        let listed = agent.payload("bricks.list", json!({"status": "published"})).await;
        assert_eq!(listed["bricks"].as_array().unwrap().len(), 2);
        decide(&owner, "kits", &kit, "publish", None).await.expect(409);

        // A new version of a brick shows once it is published. The kit keeps its pinned version.
        let version = json!({"evaluation_prompt": "is it really so?", "description": "sharper"});
        let added = decide(&owner, "bricks", &one, "versions", Some(version)).await.expect(201);
        assert_eq!(added["brick"]["versions"][0]["version"], 2);
        assert_eq!(added["brick"]["description"], "sharper");
        assert_eq!(see().await, "Ready, published v1: | 0:v1:published 1:v1:published");
        decide(&owner, "bricks", &one, "publish", None).await.expect(200);
        assert_eq!(see().await, "Ready with warnings, published v1: brick_update_available@0 | 0:v1:published 1:v1:published");

        // A new version of the kit pins the newest bricks, and becomes current once it is published.
        let version = json!({"brick_ids": [one], "notes": "only one"});
        let added = decide(&owner, "kits", &kit, "versions", Some(version)).await.expect(201);
        assert_eq!(added["kit"]["versions"][0]["notes"], "only one");
        assert_eq!(
            see().await,
            "Ready, published v1: | 0:v1:published 1:v1:published",
            "an unpublished version changes nothing for agents"
        );
        decide(&owner, "kits", &kit, "publish", None).await.expect(200);
        assert_eq!(see().await, "Ready, published v2: | 0:v2:published");
        let listed = agent.payload("kits.list", json!({"status": "published"})).await;
        assert_eq!((&listed["kits"][0]["kit_code"], &listed["kits"][0]["brick_count"]), (&code, &json!(1)), "the code does not change");

        // A deprecated brick blocks the kits that pin it, and cannot be published again.
        decide(&owner, "bricks", &one, "deprecate", None).await.expect(200);
        assert_eq!(see().await, "Blocked, published v2: brick_deprecated@0 | 0:v2:published");
        for verb in ["publish", "versions"] {
            let body = (verb == "versions").then(|| json!({"evaluation_prompt": "once more"}));
            decide(&owner, "bricks", &one, verb, body).await.expect(409);
        }
        let again = decide(&owner, "bricks", &one, "deprecate", None).await.expect(200);
        assert_eq!(again["brick"]["status"], "deprecated");
        decide(&owner, "kits", &kit, "deprecate", None).await.expect(200);
        decide(&owner, "kits", &kit, "publish", None).await.expect(409);
        decide(&owner, "kits", &kit, "versions", Some(json!({"brick_ids": [two]}))).await.expect(409);
        let listed = agent.payload("kits.list", json!({"status": "deprecated"})).await;
        assert_eq!(listed["kits"][0]["kit_id"], json!(kit));
    }

    async fn blocked_kit_publishes_nothing(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (admin, [session, _]) = (tenant.person("admin").await, DoorClient::both(&tenant).await);
        let good = session.brick("Good").await;
        let empty = json!({"name": "Empty", "type": "score", "evaluation_prompt": " \n "});
        let empty = text(&session.payload("bricks.create_draft", empty).await["brick_id"]);
        let bricks = [good.as_str(), empty.as_str()];
        let kit = session.kit(&bricks).await;
        let blocked =
            "Blocked, draft v1: brick_rule_empty@1 brick_draft_will_promote@0 brick_draft_will_promote@1 | 0:v1:draft 1:v1:draft";
        assert_eq!(kit_line(&session, &kit, &bricks).await, blocked);
        let refused = decide(&admin, "kits", &kit, "publish", None).await.expect(409);
        let code = (&refused["code"], &refused["blockers"][0]["code"], &refused["blockers"][0]["brick_id"]);
        assert_eq!(code, (&json!("conflict"), &json!("brick_rule_empty"), &json!(empty)));
        assert!(refused["blockers"][0]["brick_version_id"].is_string() && refused["blockers"].as_array().unwrap().len() == 1, "{refused}");
        decide(&admin, "bricks", &empty, "publish", None).await.expect(409);
        assert_eq!(kit_line(&session, &kit, &bricks).await, blocked, "the good draft was not promoted either");
        let shown = crib.api(Method::GET, &format!("/api/kits/{kit}"), &tenant.key, None).await.expect(200);
        assert_eq!(shown["kit"]["publish_readiness"]["blockers"][0]["brick_id"], json!(empty));
    }

    async fn authors_are_shown_to_people(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let owner = tenant.person("owner").await;
        let clients = DoorClient::both(&tenant).await;
        let [DoorClient::Session(session), DoorClient::Agent(agent)] = clients else { panic!("a session and an agent") };
        let (session_id, agent_id) = (session.id.clone(), agent.id.clone());
        let (by_session, by_agent) = (DoorClient::Session(session), DoorClient::Agent(agent));
        for (client, author) in [(&by_session, &session_id), (&by_agent, &agent_id)] {
            let brick = client.brick("b").await;
            let kit = client.kit(&[&brick]).await;
            let version = json!({"evaluation_prompt": "by a person"});
            decide(&owner, "bricks", &brick, "versions", Some(version)).await.expect(201);
            let shown = owner.api(Method::GET, &format!("/api/bricks/{brick}"), None).await.expect(200);
            let authors = [
                &shown["brick"]["created_by"],
                &shown["brick"]["versions"][1]["created_by"],
                &shown["brick"]["versions"][0]["created_by"],
            ];
            assert_eq!(authors, [&json!(author), &json!(author), &json!(owner.id)]);
            let shown = owner.api(Method::GET, &format!("/api/kits/{kit}"), None).await.expect(200);
            assert_eq!((&shown["kit"]["created_by"], &shown["kit"]["current_version"]), (&json!(author), &json!(1)));
            assert_eq!(shown["kit"]["versions"][0]["bricks"][0]["brick_id"], json!(brick));
        }
        for (noun, id) in
            [("bricks", "brk_00000000000000000000000000"), ("kits", "kit_00000000000000000000000000"), ("bricks", "x")]
        {
            for verb in ["publish", "deprecate"] {
                decide(&owner, noun, id, verb, None).await.expect(404);
            }
        }
        let brick = by_agent.brick("c").await;
        for body in [
            json!({}),
            json!({"evaluation_prompt": "x".repeat(10_001)}),
            json!({"evaluation_prompt": "a\0"}),
            json!({"evaluation_prompt": "x", "status": "published"}),
        ] {
            assert_eq!(decide(&owner, "bricks", &brick, "versions", Some(body.clone())).await.status, 400, "{body}");
        }
    }
}
