//! The creator of a key, the keys that it minted, and their fate when it is revoked.

use reqwest::Method;
use serde_json::{Value, json};
use store::{Store, StoreConfig, params};

use super::{refused, text};
use crate::support::{Crib, Engine, Reply, Tenant, both_engines, request};

/// A minted key.
struct MintedKey {
    id: String,
    secret: String,
    created_by: Value,
}

async fn mint(tenant: &Tenant<'_>, with: &str, name: &str) -> MintedKey {
    let minted = tenant.mint_with(with, json!({"name": name, "projects": "all"})).await.expect(201);
    let key = &minted["key"];
    MintedKey { id: text(&key["id"]), secret: text(&key["fullKey"]), created_by: key["createdBy"].clone() }
}

async fn revoke(tenant: &Tenant<'_>, with: &str, id: &str, query: &str) -> Reply {
    tenant.crib.api(Method::DELETE, &format!("/api/org/{}/keys/{id}{query}", tenant.org), with, None).await
}

/// Whether a key works.
async fn is_valid(crib: &Crib, key: &str) -> bool {
    crib.api(Method::GET, "/api/bricks", key, None).await.status == 200
}

async fn open(tenant: &Tenant<'_>, key: &str) -> Value {
    let path = format!("/api/org/{}/sessions", tenant.org);
    tenant.crib.api(Method::POST, &path, key, Some(json!({"projectId": tenant.project}))).await.expect(201)
}

/// A session's state, and the number of its `session.ended` entries.
async fn session_state(tenant: &Tenant<'_>, opened: &Value) -> (Value, usize) {
    let id = text(&opened["sessionId"]);
    let shown = tenant.get(&format!("sessions/{id}")).await.expect(200);
    (shown["session"]["state"].clone(), tenant.trail(&format!("eventType=session.ended&entityId={id}")).await.len())
}

/// Pings a session's door with the session's own key.
async fn ping_session(crib: &Crib, opened: &Value) -> u16 {
    let path = format!("/api/mcp/{}", text(&opened["sessionId"]));
    let bearer = text(&opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"]);
    let post = crib.http.post(format!("{}{path}", crib.url)).header("authorization", bearer);
    crib.send(post.body(request(1, "ping", json!({})).to_string())).await.status
}

fn ids(answer: &Value) -> Vec<String> {
    answer["minted"].as_array().unwrap().iter().map(|key| text(&key["id"])).collect()
}

both_engines! {
    async fn key_shows_its_creator(engine: Engine) {
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

    async fn revoking_a_key_lists_or_revokes_its_descendants(engine: Engine) {
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
        assert!(!is_valid(&crib, &root.secret).await && is_valid(&crib, &child.secret).await && is_valid(&crib, &grandchild.secret).await);
        refused(&revoke(&tenant, &tenant.key, &root.id, "").await, 404, "not_found");
        refused(&revoke(&tenant, &tenant.key, &root.id, "?cascade=false").await, 404, "not_found");
        refused(&revoke(&tenant, &tenant.key, &root.id, "?cascade=yes").await, 400, "invalid_params");

        // A second call with `cascade` revokes the listed keys, although the root is already revoked.
        let revoked = revoke(&tenant, &tenant.key, &root.id, "?cascade=true").await.expect(200);
        assert_eq!((ids(&revoked), &revoked["mintedRevoked"]), (Vec::new(), &json!(2)));
        for key in [&child.secret, &grandchild.secret] {
            assert!(!is_valid(&crib, key).await);
        }
        assert_eq!((ping_session(&crib, &of_child).await, ping_session(&crib, &of_grandchild).await), (410, 410), "their sessions end too");
        assert!(is_valid(&crib, &other.secret).await && is_valid(&crib, &tenant.key).await);
        assert_eq!(ping_session(&crib, &of_other).await, 200, "other sessions keep working");
        for (opened, state, entries) in [(&of_child, "ended", 1), (&of_grandchild, "ended", 1), (&of_other, "open", 0)] {
            assert_eq!(session_state(&tenant, opened).await, (json!(state), entries), "{opened}");
        }
        let again = revoke(&tenant, &tenant.key, &root.id, "?cascade=true").await.expect(200);
        assert_eq!((ids(&again), &again["mintedRevoked"]), (Vec::new(), &json!(0)));

        let recorded = async |id: &str| tenant.trail(&format!("eventType=key.revoked&entityId={id}")).await;
        assert_eq!(recorded(&root.id).await[0]["payload"], json!({"cascade": false}));
        for id in [&child.id, &grandchild.id] {
            let recorded = recorded(id).await;
            assert_eq!((recorded.len(), &recorded[0]["payload"]["togetherWith"]), (1, &json!(root.id)), "{recorded:?}");
        }
    }

    async fn revoking_a_key_ends_its_sessions(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let key = mint(&tenant, &tenant.key, "launcher").await;
        let (one, two) = (open(&tenant, &key.secret).await, open(&tenant, &key.secret).await);
        let (early, other) = (open(&tenant, &key.secret).await, open(&tenant, &tenant.key).await);
        let end = format!("sessions/{}/end", text(&early["sessionId"]));
        tenant.post(&end, json!({"outcome": "accepted"})).await.expect(200);
        revoke(&tenant, &tenant.key, &key.id, "").await.expect(200);
        for opened in [&one, &two, &early] {
            assert_eq!(session_state(&tenant, opened).await, (json!("ended"), 1), "{opened}");
            assert_eq!(ping_session(&crib, opened).await, 410);
        }
        assert_eq!(tenant.get(end.trim_end_matches("/end")).await.expect(200)["session"]["outcome"], "accepted");
        assert_eq!((session_state(&tenant, &other).await, ping_session(&crib, &other).await), ((json!("open"), 0), 200));
    }

    async fn removing_or_disabling_a_person_lists_or_revokes_their_keys(engine: Engine) {
        let crib = Crib::start(engine).await;
        for (method, body) in [(Method::DELETE, None), (Method::PATCH, Some(json!({"disabled": true})))] {
            for cascade in [false, true] {
                let tenant = crib.tenant().await;
                let keys = format!("/api/org/{}/keys", tenant.org);
                let person = tenant.person("admin").await;
                let made = person.api(Method::POST, &keys, Some(json!({"name": "theirs", "projects": "all"}))).await.expect(201);
                let (id, secret) = (text(&made["key"]["id"]), text(&made["key"]["fullKey"]));
                let child = mint(&tenant, &secret, "child").await;
                let opened = open(&tenant, &secret).await;
                let path = format!("users/{}?cascade={cascade}", person.id);
                let answer = tenant.as_operator(method.clone(), &path, body.clone()).await.expect(200);
                let (left, revoked) = if cascade { (vec![], 2) } else { (vec![id.clone(), child.id], 0) };
                assert_eq!((ids(&answer), &answer["mintedRevoked"], &answer["user"]["id"]), (left, &json!(revoked), &json!(person.id)));
                assert!(!answer.to_string().contains("fullKey"), "{answer}");
                assert_eq!((is_valid(&crib, &secret).await, is_valid(&crib, &child.secret).await), (!cascade, !cascade));
                let state = if cascade { (json!("ended"), 1) } else { (json!("open"), 0) };
                assert_eq!(session_state(&tenant, &opened).await, state);
                if cascade {
                    let recorded = tenant.trail(&format!("eventType=key.revoked&entityId={id}")).await;
                    assert_eq!((recorded.len(), &recorded[0]["payload"]["togetherWith"]), (1, &json!(person.id)), "{recorded:?}");
                }
            }
        }
    }

    async fn cascade_of_a_person_needs_the_rights_of_their_keys(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let mut person = tenant.person("admin").await;
        let keys = format!("/api/org/{}/keys", tenant.org);
        let made = person.api(Method::POST, &keys, Some(json!({"name": "theirs", "projects": "all"}))).await.expect(201);
        let secret = text(&made["key"]["fullKey"]);
        let path = format!("/api/org/{}/users/{}", tenant.org, person.id);
        let change = async |key: &str, query: &str, body: Value| {
            crib.api(Method::PATCH, &format!("{path}{query}"), key, Some(body)).await
        };
        let demoted = change(&crib.admin_key, "", json!({"role": "member"})).await.expect(200);
        assert_eq!(ids(&demoted), Vec::<String>::new(), "only a disabled user's keys are listed");
        refused(&change(&tenant.key, "?cascade=true", json!({"role": "member"})).await, 400, "invalid_params");
        let member = ["org:read", "bricks:read", "kits:read", "memory:read", "graph:read", "audit:read", "metrics:read", "users:write"];
        let without = tenant.key_with(&member).await;
        let weaker = tenant.key_with(&[&member[..], &["keys:write"]].concat()).await;
        for key in [&without, &weaker] {
            refused(&change(key, "?cascade=true", json!({"disabled": true})).await, 403, "not_permitted");
            refused(&crib.api(Method::DELETE, &format!("{path}?cascade=true"), key, None).await, 403, "not_permitted");
        }
        assert!(is_valid(&crib, &secret).await);
        person.log_in("correct horse battery").await.expect(200);
        assert_eq!(ids(&change(&without, "", json!({"disabled": true})).await.expect(200)).len(), 1);
        change(&tenant.key, "?cascade=true", json!({"disabled": true})).await.expect(200);
        assert!(!is_valid(&crib, &secret).await, "a second call revokes the listed keys");
    }

    async fn key_can_revoke_itself_and_its_descendants(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let root = mint(&tenant, &tenant.key, "root").await;
        let child = mint(&tenant, &root.secret, "child").await;
        let grandchild = mint(&tenant, &child.secret, "grandchild").await;
        let revoked = revoke(&tenant, &child.secret, &child.id, "?cascade=true").await.expect(200);
        assert_eq!(revoked["mintedRevoked"], 1);
        assert!(!is_valid(&crib, &child.secret).await && !is_valid(&crib, &grandchild.secret).await && is_valid(&crib, &root.secret).await);
        // A key cannot revoke a stronger key, with or without `cascade`.
        let few = tenant.key_with(&["keys:write", "kits:read"]).await;
        refused(&revoke(&tenant, &few, &root.id, "?cascade=true").await, 403, "not_permitted");
        assert!(is_valid(&crib, &root.secret).await);
    }

    async fn cascade_revokes_more_keys_than_fit_one_transaction(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let root = mint(&tenant, &tenant.key, "root").await;
        let made = base::limits::SWEEP_ROWS_MAX + 20;
        for _ in 0..made / 20 {
            futures_util::future::join_all((0..20).map(|_| mint(&tenant, &root.secret, "made"))).await;
        }
        let revoked = revoke(&tenant, &root.secret, &root.id, "?cascade=true").await.expect(200);
        assert_eq!((&revoked["mintedRevoked"], ids(&revoked)), (&json!(made), Vec::new()));
        assert_eq!(crib.rows("SELECT id AS value FROM keys WHERE org_id = ?1 AND revoked_at IS NULL", &tenant.org).await.len(), 1);
    }

    async fn keys_of_an_older_release_keep_their_rights(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &["bricks.list"]).await.id;
        let narrow = tenant.post("keys", json!({"name": "narrow", "projects": "all", "scopes": ["sessions:write"]})).await.expect(201);
        let (org, key, project) = (tenant.org.clone(), tenant.key.clone(), tenant.project.clone());
        let first = text(&narrow["key"]["createdBy"]);
        let database_url = crib.database_url();
        let folder = crib.stop_and_keep().await;
        // Restores the tables of the older release.
        let config = match &database_url {
            Some(url) => StoreConfig::Postgres { url: url.clone() },
            None => StoreConfig::Sqlite { path: folder.path().join("data/toolcrib.db") },
        };
        let store = Store::open(&config, &base::Clock::default()).await.unwrap();
        let undo = async |statement: &'static str| {
            store.write_instance(move |tx| tx.execute(statement, &params![])).await.unwrap();
        };
        undo("DROP INDEX keys_by_parent").await;
        undo("DROP INDEX keys_by_maker").await;
        undo("ALTER TABLE keys DROP COLUMN created_by").await;
        undo("ALTER TABLE keys DROP COLUMN agent_ids").await;
        undo("DROP TABLE project_files").await;
        undo("DROP TABLE file_versions").await;
        undo("DROP TABLE decisions").await;
        undo("DROP TABLE entity_merges").await;
        undo("ALTER TABLE task_instances DROP COLUMN duration_us").await;
        undo("ALTER TABLE task_instances DROP COLUMN error_kind").await;
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
