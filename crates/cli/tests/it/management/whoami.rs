//! `GET /api/whoami`: what each kind of credential is told about itself.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines};

fn names(answer: &Value) -> Vec<&str> {
    answer["projects"].as_array().unwrap().iter().map(|project| project["name"].as_str().unwrap()).collect()
}

both_engines! {
    async fn a_credential_learns_what_it_is_good_for(engine: Engine) {
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
        let told = ask(narrow["fullKey"].as_str().unwrap(), "").await.expect(200);
        assert_eq!((names(&told), &told["scopes"], &told["credential"]["id"]), (vec!["first"], &json!(["bricks:read"]), &narrow["id"]));

        let member = tenant.person("member").await;
        let told = member.api(Method::GET, "/api/whoami", None).await.expect(200);
        assert_eq!(told["credential"], json!({"type": "login", "id": member.id}));

        let told = ask(&crib.admin_key, "").await.expect(200);
        assert_eq!((&told["credential"], &told["org"]), (&json!({"type": "instance_admin", "id": null}), &Value::Null));
        let told = ask(&crib.admin_key, &format!("?org={}", tenant.org)).await.expect(200);
        assert_eq!((names(&told), &told["org"]["id"]), (vec!["second", "first"], &json!(tenant.org)));

        // Page by page.
        let page = ask(&tenant.key, "?limit=1").await.expect(200);
        let rest = ask(&tenant.key, &format!("?limit=1&cursor={}", page["nextCursor"].as_str().unwrap())).await.expect(200);
        assert_eq!((names(&page), names(&rest), &rest["nextCursor"]), (vec!["second"], vec!["first"], &Value::Null));
        assert_eq!(ask(&tenant.key, &format!("?org={}", other.org)).await.status, 404);
        assert_eq!(ask(&tenant.key, "?what=1").await.status, 400);
        crib.stop().await;
    }
}
