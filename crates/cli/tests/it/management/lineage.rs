//! Who made a key, what it made in turn, and what is left of that when it is revoked.

use reqwest::Method;
use serde_json::{Value, json};
use store::{Store, StoreConfig, params};

use super::{refused, text};
use crate::support::{Crib, Engine, Reply, Tenant, both_engines, request};

/// A key as it was minted.
struct Made {
    id: String,
    secret: String,
    created_by: Value,
}

async fn mint(tenant: &Tenant<'_>, with: &str, name: &str) -> Made {
    let path = format!("/api/org/{}/keys", tenant.org);
    let minted = tenant.crib.api(Method::POST, &path, with, Some(json!({"name": name, "projects": "all"}))).await.expect(201);
    let key = &minted["key"];
    Made { id: text(&key["id"]), secret: text(&key["fullKey"]), created_by: key["createdBy"].clone() }
}

async fn revoke(tenant: &Tenant<'_>, with: &str, id: &str, query: &str) -> Reply {
    tenant.crib.api(Method::DELETE, &format!("/api/org/{}/keys/{id}{query}", tenant.org), with, None).await
}

/// Whether a key is one.
async fn lives(crib: &Crib, key: &str) -> bool {
    crib.api(Method::GET, "/api/bricks", key, None).await.status == 200
}

async fn open(tenant: &Tenant<'_>, key: &str) -> Value {
    let path = format!("/api/org/{}/sessions", tenant.org);
    tenant.crib.api(Method::POST, &path, key, Some(json!({"projectId": tenant.project}))).await.expect(201)
}

/// Asks a session's door with the session's own key.
async fn knock(crib: &Crib, opened: &Value) -> u16 {
    let path = format!("/api/mcp/{}", text(&opened["sessionId"]));
    let bearer = text(&opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"]);
    let post = crib.http.post(format!("{}{path}", crib.url)).header("authorization", bearer);
    crib.send(post.body(request(1, "ping", json!({})).to_string())).await.status
}

fn ids(answer: &Value) -> Vec<String> {
    answer["minted"].as_array().unwrap().iter().map(|key| text(&key["id"])).collect()
}

both_engines! {
    async fn a_key_says_who_made_it(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let listed = tenant.get("keys").await.expect(200);
        let first = &listed["keys"][0];
        assert_eq!(first["createdBy"], "instance-admin", "{first}");
        let by_operator = mint(&tenant, &crib.admin_key, "by the operator").await;
        assert_eq!(by_operator.created_by, "instance-admin");
        let by_key = mint(&tenant, &tenant.key, "by a key").await;
        assert_eq!(by_key.created_by, first["id"]);
        let admin = tenant.person("admin").await;
        let path = format!("/api/org/{}/keys", tenant.org);
        let by_person = admin.api(Method::POST, &path, Some(json!({"name": "by a person", "projects": "all"}))).await.expect(201);
        assert_eq!(by_person["key"]["createdBy"], json!(admin.id));
        let shown = tenant.get(&format!("keys/{}", by_key.id)).await.expect(200);
        assert_eq!(shown["key"]["createdBy"], first["id"]);
    }

    async fn revoking_a_key_lists_what_lives_on_or_revokes_it_too(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let root = mint(&tenant, &tenant.key, "root").await;
        let child = mint(&tenant, &root.secret, "child").await;
        let grandchild = mint(&tenant, &child.secret, "grandchild").await;
        let other = mint(&tenant, &tenant.key, "other").await;
        let (of_child, of_grandchild) = (open(&tenant, &child.secret).await, open(&tenant, &grandchild.secret).await);
        let of_other = open(&tenant, &other.secret).await;

        let revoked = revoke(&tenant, &tenant.key, &root.id, "").await.expect(200);
        assert_eq!((ids(&revoked), &revoked["mintedRevoked"]), (vec![child.id.clone(), grandchild.id.clone()], &json!(0)));
        assert!(revoked["key"]["revokedAt"].is_string() && revoked["minted"][0]["revokedAt"].is_null(), "{revoked}");
        assert!(!revoked.to_string().contains("fullKey"), "{revoked}");
        assert!(!lives(&crib, &root.secret).await && lives(&crib, &child.secret).await && lives(&crib, &grandchild.secret).await);
        refused(&revoke(&tenant, &tenant.key, &root.id, "").await, 404, "not_found");
        refused(&revoke(&tenant, &tenant.key, &root.id, "?cascade=false").await, 404, "not_found");
        refused(&revoke(&tenant, &tenant.key, &root.id, "?cascade=yes").await, 400, "invalid_params");

        // What the list says is revoked in a second step, through a key that is dead itself.
        let revoked = revoke(&tenant, &tenant.key, &root.id, "?cascade=true").await.expect(200);
        assert_eq!((ids(&revoked), &revoked["mintedRevoked"]), (Vec::new(), &json!(2)));
        for key in [&child.secret, &grandchild.secret] {
            assert!(!lives(&crib, key).await);
        }
        assert_eq!((knock(&crib, &of_child).await, knock(&crib, &of_grandchild).await), (401, 401), "their sessions die too");
        assert!(lives(&crib, &other.secret).await && lives(&crib, &tenant.key).await);
        assert_eq!(knock(&crib, &of_other).await, 200, "what others made goes on");
        let again = revoke(&tenant, &tenant.key, &root.id, "?cascade=true").await.expect(200);
        assert_eq!((ids(&again), &again["mintedRevoked"]), (Vec::new(), &json!(0)));

        let told = async |id: &str| tenant.trail(&format!("eventType=key.revoked&entityId={id}")).await;
        assert_eq!(told(&root.id).await[0]["payload"], json!({"cascade": false}));
        for id in [&child.id, &grandchild.id] {
            let told = told(id).await;
            assert_eq!((told.len(), &told[0]["payload"]["togetherWith"]), (1, &json!(root.id)), "{told:?}");
        }
    }

    async fn a_key_revokes_itself_with_all_that_it_made(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let root = mint(&tenant, &tenant.key, "root").await;
        let child = mint(&tenant, &root.secret, "child").await;
        let grandchild = mint(&tenant, &child.secret, "grandchild").await;
        let revoked = revoke(&tenant, &child.secret, &child.id, "?cascade=true").await.expect(200);
        assert_eq!(revoked["mintedRevoked"], 1);
        assert!(!lives(&crib, &child.secret).await && !lives(&crib, &grandchild.secret).await && lives(&crib, &root.secret).await);
        // Nobody revokes what can do more than itself, with what it made or without.
        let few = tenant.key_with(&["keys:write", "kits:read"]).await;
        refused(&revoke(&tenant, &few, &root.id, "?cascade=true").await, 403, "not_permitted");
        assert!(lives(&crib, &root.secret).await);
    }

    async fn more_keys_than_one_transaction_revokes_all_go(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let root = mint(&tenant, &tenant.key, "root").await;
        let made = base::limits::SWEEP_ROWS_MAX + 20;
        for _ in 0..made / 20 {
            futures_util::future::join_all((0..20).map(|_| mint(&tenant, &root.secret, "made"))).await;
        }
        let revoked = revoke(&tenant, &root.secret, &root.id, "?cascade=true").await.expect(200);
        assert_eq!((&revoked["mintedRevoked"], ids(&revoked)), (&json!(made), Vec::new()));
        assert_eq!(crib.rows("SELECT id FROM keys WHERE org_id = ?1 AND revoked_at IS NULL", &tenant.org).await.len(), 1);
    }

    async fn keys_of_an_older_release_keep_what_they_had(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &["bricks.list"]).await.id;
        let narrow = tenant.post("keys", json!({"name": "narrow", "projects": "all", "scopes": ["sessions:write"]})).await.expect(201);
        let (org, key, project) = (tenant.org.clone(), tenant.key.clone(), tenant.project.clone());
        let first = text(&narrow["key"]["createdBy"]);
        let database_url = crib.database_url();
        let folder = crib.stop_and_keep().await;
        // The tables as they were before this release.
        let config = match &database_url {
            Some(url) => StoreConfig::Postgres { url: url.clone() },
            None => StoreConfig::Sqlite { path: folder.path().join("data/toolcrib.db") },
        };
        let store = Store::open(&config, &base::Clock::default()).await.unwrap();
        let undo = async |statement: &'static str| {
            store.write_instance(move |tx| tx.execute(statement, &params![])).await.unwrap();
        };
        undo("DROP INDEX keys_by_maker").await;
        undo("ALTER TABLE keys DROP COLUMN created_by").await;
        undo("ALTER TABLE keys DROP COLUMN agent_ids").await;
        undo("DELETE FROM schema_versions WHERE version >= 11").await;
        store.close().await;

        let crib = Crib::start_in(folder, engine, |config| {
            if database_url.is_some() {
                config.database_url.clone_from(&database_url);
            }
        })
        .await;
        let listed = crib.api(Method::GET, &format!("/api/org/{org}/keys"), &key, None).await.expect(200);
        let shown = |row: &Value| (row["agents"].clone(), row["createdBy"].clone());
        assert_eq!(shown(&listed["keys"][0]), (json!([]), json!(first)), "{listed}");
        assert_eq!(shown(&listed["keys"][1]), (json!("all"), json!("instance-admin")), "{listed}");
        let body = json!({"projectId": project, "agentId": agent});
        let open = async |key: &str| crib.api(Method::POST, &format!("/api/org/{org}/sessions"), key, Some(body.clone())).await.status;
        assert_eq!((open(&key).await, open(&text(&narrow["key"]["fullKey"])).await), (201, 403));
    }
}
