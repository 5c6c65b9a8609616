//! Creating, changing and listing orgs.

use reqwest::Method;
use serde_json::{Value, json};
use store::Faults;

use super::{members, refused, text};
use crate::support::{Crib, Engine, Reply, both_engines};

async fn create(crib: &Crib, body: Value) -> Reply {
    crib.api(Method::POST, "/api/orgs", &crib.admin_key, Some(body)).await
}

both_engines! {
    async fn new_org_has_a_first_key(engine: Engine) {
        let crib = Crib::start(engine).await;
        let made = create(&crib, json!({"name": " Acme  Inc. (prod) ", "plan": {"kg_enabled": true}})).await.expect(201);
        assert_eq!(members(&made), ["key", "org"]);
        let (org, key) = (&made["org"], &made["key"]);
        assert_eq!(members(org), ["createdAt", "id", "name", "plan", "slug"]);
        assert_eq!((&org["name"], &org["slug"]), (&json!("Acme  Inc. (prod)"), &json!("acme-inc-prod")));
        assert_eq!(org["plan"], json!({"kg_enabled": true}));
        let expected = ["agents", "createdAt", "createdBy", "expiresAt", "fullKey", "id", "keyPrefix", "name", "orgId", "projectIds", "scopes"];
        assert_eq!(members(key), expected);
        assert_eq!((&key["scopes"], &key["projectIds"], &key["orgId"]), (&json!(["*"]), &json!("all"), &org["id"]));

        // The id and the slug both work, with the org's key and with the operator's.
        let full_key = text(&key["fullKey"]);
        for name in [text(&org["id"]), text(&org["slug"])] {
            for key in [&full_key, &crib.admin_key] {
                assert_eq!(crib.api(Method::GET, &format!("/api/org/{name}"), key, None).await.expect(200)["org"], *org);
            }
        }
        let plain = create(&crib, json!({"name": "plain"})).await.expect(201);
        assert_eq!(plain["org"]["plan"], json!({"kg_enabled": false}));
    }

    async fn org_and_first_key_are_created_together(engine: Engine) {
        let faults = Faults::on_demand();
        let crib = Crib::start_with(engine, |config| config.faults = faults.clone()).await;
        let mut failed = 0;
        for step in 1..100 {
            faults.fail(step);
            let name = json!({"name": format!("org of step {step}")});
            let status = create(&crib, name.clone()).await.status;
            if !faults.calm() {
                assert_eq!(status, 201);
                break;
            }
            if status != 201 {
                failed += 1;
                assert_eq!(create(&crib, name).await.status, 201, "step {step} left an org without a key");
            }
        }
        assert!(failed > 3, "only {failed} failed");
    }

    async fn names_make_slugs_and_slugs_are_unique(engine: Engine) {
        let crib = Crib::start(engine).await;
        create(&crib, json!({"name": "Acme"})).await.expect(201);
        for taken in ["Acme", "ACME!", " acme ", "default"] {
            refused(&create(&crib, json!({"name": taken})).await, 409, "conflict");
        }
        for bad in ["", "   ", "日本", "a\0b", "a\nb", &"a".repeat(121)] {
            refused(&create(&crib, json!({"name": bad})).await, 400, "invalid_params");
        }
        create(&crib, json!({"name": "é".repeat(119) + "a"})).await.expect(201);
    }

    async fn renaming_an_org_keeps_its_slug(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let path = format!("/api/org/{}", tenant.org);
        let change = async |body: Value| crib.api(Method::PATCH, &path, &crib.admin_key, Some(body)).await;
        let before = crib.api(Method::GET, &path, &tenant.key, None).await.expect(200);
        let changed = change(json!({"name": "Renamed", "plan": {"kg_enabled": true}})).await.expect(200);
        assert_eq!((&changed["org"]["name"], &changed["org"]["slug"]), (&json!("Renamed"), &before["org"]["slug"]));
        assert_eq!(changed["org"]["plan"], json!({"kg_enabled": true}));
        assert_eq!(change(json!({})).await.expect(200), changed, "an empty change changes nothing");
        for bad in [json!({"name": null}), json!({"slug": "x"}), json!({"plan": {"kg": true}}), json!({"plan": [true]})] {
            refused(&change(bad).await, 400, "invalid_params");
        }
        assert_eq!(crib.api(Method::GET, &path, &tenant.key, None).await.expect(200), changed);
    }

    async fn operator_sees_all_orgs_and_others_only_their_own(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        let listed = async |key: &str| {
            let orgs = crib.api(Method::GET, "/api/orgs", key, None).await.expect(200);
            orgs["orgs"].as_array().unwrap().iter().map(|org| text(&org["id"])).collect::<Vec<_>>()
        };
        let all = listed(&crib.admin_key).await;
        assert_eq!(all[..2], [theirs.org.clone(), ours.org.clone()], "newest first, the default org last");
        assert_eq!(all.len(), 3);
        assert_eq!(listed(&ours.key).await, std::slice::from_ref(&ours.org));
        let owner = theirs.person("owner").await;
        let seen = owner.api(Method::GET, "/api/orgs", None).await.expect(200);
        assert_eq!(seen["orgs"][0]["id"], json!(theirs.org));
    }

    async fn operator_names_the_org_in_the_query(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (ours, theirs) = (crib.tenant().await, crib.tenant().await);
        ours.session()
            .await
            .call("bricks.create_draft", json!({"name": "b", "type": "score", "evaluation_prompt": "p"}))
            .await
            .result();
        let slug =
            text(&crib.api(Method::GET, &format!("/api/org/{}", ours.org), &ours.key, None).await.expect(200)["org"]["slug"]);
        for path in ["/api/bricks", "/api/kits"] {
            refused(&crib.api(Method::GET, path, &crib.admin_key, None).await, 400, "invalid_params");
            refused(&crib.api(Method::GET, &format!("{path}?org=nowhere"), &crib.admin_key, None).await, 404, "not_found");
            refused(&crib.api(Method::GET, &format!("{path}?org={}", theirs.org), &ours.key, None).await, 404, "not_found");
            for org in [&ours.org, &slug] {
                crib.api(Method::GET, &format!("{path}?org={org}"), &crib.admin_key, None).await.expect(200);
                crib.api(Method::GET, &format!("{path}?org={org}&limit=1"), &ours.key, None).await.expect(200);
            }
        }
        let bricks = async |org: &str| {
            let listed = crib.api(Method::GET, &format!("/api/bricks?org={org}"), &crib.admin_key, None).await.expect(200);
            listed["bricks"].as_array().unwrap().len()
        };
        assert_eq!((bricks(&ours.org).await, bricks(&theirs.org).await), (1, 0));
    }

    async fn concurrent_changes_are_all_kept(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let path = format!("/api/org/{}", tenant.org);
        for number in 0..5 {
            let (name, graph) = (format!("name {number}"), number % 2 == 0);
            let change = |body: Value| crib.api(Method::PATCH, &path, &crib.admin_key, Some(body));
            let (one, two) = tokio::join!(change(json!({"name": name})), change(json!({"plan": {"kg_enabled": graph}})));
            assert_eq!((one.status, two.status), (200, 200));
            let shown = crib.api(Method::GET, &path, &tenant.key, None).await.expect(200);
            assert_eq!((&shown["org"]["name"], &shown["org"]["plan"]["kg_enabled"]), (&json!(name), &json!(graph)));
        }
    }
}
