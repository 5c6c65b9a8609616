//! `GET /api/whoami` describes the caller's credential.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines};

fn names(answer: &Value) -> Vec<&str> {
    answer["projects"].as_array().unwrap().iter().map(|project| project["name"].as_str().unwrap()).collect()
}

both_engines! {
    async fn whoami_describes_each_kind_of_credential(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        tenant.post("projects", json!({"name": "second"})).await.expect(201);
        let ask = async |key: &str, query: &str| crib.api(Method::GET, &format!("/api/whoami{query}"), key, None).await;

        let bare = ask(&tenant.key_with(&[]).await, "").await.expect(200);
        assert_eq!((&bare["credential"]["type"], &bare["scopes"], &bare["org"]["id"]), (&json!("key"), &json!([]), &json!(tenant.org)));
        assert_eq!(names(&bare), ["second", "first"]);
        assert_eq!(bare["projects"][1], json!({"id": tenant.project, "name": "first", "root": null}));

        let narrow = json!({"name": "narrow", "projects": [tenant.project], "scopes": ["bricks:read"]});
        let narrow = tenant.post("keys", narrow).await.expect(201)["key"].take();
        let shown = ask(narrow["fullKey"].as_str().unwrap(), "").await.expect(200);
        assert_eq!((names(&shown), &shown["scopes"], &shown["credential"]["id"]), (vec!["first"], &json!(["bricks:read"]), &narrow["id"]));

        let member = tenant.person("member").await;
        let shown = member.api(Method::GET, "/api/whoami", None).await.expect(200);
        assert_eq!(shown["credential"], json!({"type": "login", "id": member.id}));

        let shown = ask(&crib.admin_key, "").await.expect(200);
        assert_eq!((&shown["credential"], &shown["org"]), (&json!({"type": "instance_admin", "id": null}), &Value::Null));
        let shown = ask(&crib.admin_key, &format!("?org={}", tenant.org)).await.expect(200);
        assert_eq!((names(&shown), &shown["org"]["id"]), (vec!["second", "first"], &json!(tenant.org)));

        // The projects are paged.
        let page = ask(&tenant.key, "?limit=1").await.expect(200);
        let rest = ask(&tenant.key, &format!("?limit=1&cursor={}", page["nextCursor"].as_str().unwrap())).await.expect(200);
        assert_eq!((names(&page), names(&rest), &rest["nextCursor"]), (vec!["second"], vec!["first"], &Value::Null));
        assert_eq!(ask(&tenant.key, &format!("?org={}", other.org)).await.status, 404);
        assert_eq!(ask(&tenant.key, "?what=1").await.status, 400);
        crib.stop().await;
    }
}
