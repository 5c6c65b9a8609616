//! API keys: shown once, and never stronger than their minter.

use base::{Clock, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use super::{members, refused, text};
use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn key_is_shown_once(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let body = json!({"name": " ci ", "projects": [tenant.project], "scopes": ["kits:read", "bricks:read", "kits:read"]});
        let minted = tenant.mint_with(&tenant.key, body).await.expect(201);
        let key = &minted["key"];
        let expected = [
            "agents",
            "createdAt",
            "createdBy",
            "expiresAt",
            "fullKey",
            "id",
            "keyPrefix",
            "name",
            "orgId",
            "projectIds",
            "scopes",
        ];
        assert_eq!((members(&minted), members(key)), (vec!["key"], expected.to_vec()));
        assert_eq!(
            (&key["name"], &key["orgId"], &key["projectIds"]),
            (&json!("ci"), &json!(tenant.org), &json!([tenant.project]))
        );
        assert_eq!((&key["scopes"], &key["expiresAt"]), (&json!(["bricks:read", "kits:read"]), &json!(null)));
        let full_key = text(&key["fullKey"]);
        let secret = full_key.strip_prefix("rsk_live_").unwrap();
        assert!(secret.len() == 64 && secret.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{full_key}");
        let prefix = text(&key["keyPrefix"]);
        assert!(full_key.starts_with(&prefix) && prefix.len() < 20, "{prefix}");

        let listed = tenant.get("keys").await;
        let rows = listed.expect(200)["keys"].clone();
        assert!(!listed.text.contains(&full_key) && !listed.text.contains("fullKey"));
        let expected = [
            "agents",
            "createdAt",
            "createdBy",
            "expiresAt",
            "id",
            "keyPrefix",
            "name",
            "orgId",
            "projectIds",
            "revokedAt",
            "scopes",
        ];
        assert_eq!(members(&rows[0]), expected);
        assert_eq!((&rows[0]["id"], &rows[0]["keyPrefix"], rows.as_array().unwrap().len()), (&key["id"], &key["keyPrefix"], 2));
        tenant.session().await;
        assert_eq!(tenant.get("keys").await.expect(200)["keys"].as_array().unwrap().len(), 2, "session keys are not listed");
    }

    async fn revoked_key_is_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let minted = tenant.mint_with(&tenant.key, json!({"name": "k", "projects": "all"})).await.expect(201);
        let (id, full_key) = (text(&minted["key"]["id"]), text(&minted["key"]["fullKey"]));
        assert_eq!(minted["key"]["scopes"], json!(["*"]), "the default is all scopes");
        let path = format!("keys/{id}");
        crib.api(Method::GET, "/api/bricks", &full_key, None).await.expect(200);
        let revoked = tenant.api(Method::DELETE, &path, None).await.expect(200);
        assert_eq!((members(&revoked), &revoked["key"]["id"]), (vec!["key", "minted", "mintedRevoked"], &json!(id)));
        assert_eq!((&revoked["mintedRevoked"], &revoked["minted"]), (&json!(0), &json!([])));
        refused(&crib.api(Method::GET, "/api/bricks", &full_key, None).await, 401, "unauthorized");
        refused(&tenant.api(Method::DELETE, &path, None).await, 404, "not_found");
        assert!(tenant.get("keys").await.expect(200)["keys"][0]["revokedAt"].is_string());
    }

    async fn expired_key_is_refused(engine: Engine) {
        let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        let tenant = crib.tenant().await;
        let at = |ms: i64| Timestamp::from_ms(1_800_000_000_000 + ms).rfc3339();
        for past in [at(0), at(-1), "yesterday".to_owned(), "2027-01-15".to_owned()] {
            let reply = tenant.mint_with(&tenant.key, json!({"name": "k", "projects": "all", "expiresAt": past})).await;
            refused(&reply, 400, "invalid_params");
        }
        // The time may have another UTC offset.
        let body = json!({"name": "k", "projects": "all", "expiresAt": "2027-01-15T09:01:00+01:00"});
        let minted = tenant.mint_with(&tenant.key, body).await.expect(201);
        assert_eq!(minted["key"]["expiresAt"], json!(at(60_000)));
        let full_key = text(&minted["key"]["fullKey"]);
        clock.advance_ms(59_999);
        crib.api(Method::GET, "/api/bricks", &full_key, None).await.expect(200);
        clock.advance_ms(1);
        refused(&crib.api(Method::GET, "/api/bricks", &full_key, None).await, 401, "unauthorized");
    }

    async fn nobody_grants_more_than_they_have(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let other = text(&tenant.post("projects", json!({"name": "other"})).await.expect(201)["project"]["id"]);
        let few = tenant.key_with(&["keys:write", "kits:read", "sessions:write", "agents:write", "users:write"]).await;
        let narrow = tenant.mint_with(&tenant.key, json!({"name": "narrow", "projects": [tenant.project]})).await.expect(201);
        let narrow = text(&narrow["key"]["fullKey"]);
        let (ours, theirs) = (json!([tenant.project]), json!([other]));
        for (minter, projects, scopes, status) in [
            (&few, json!("all"), json!(["kits:read", "keys:write"]), 201),
            (&few, json!("all"), json!([]), 201),
            (&few, ours.clone(), json!(["kits:read"]), 201),
            (&few, json!("all"), json!(["bricks:read"]), 403),
            (&few, json!("all"), json!(["*"]), 403),
            (&few, json!("all"), json!(null), 403),
            (&narrow, ours.clone(), json!(["*"]), 201),
            (&narrow, json!([]), json!(["*"]), 201),
            (&narrow, json!("all"), json!(["kits:read"]), 403),
            (&narrow, theirs.clone(), json!(["kits:read"]), 403),
            (&narrow, json!([tenant.project, other]), json!(["kits:read"]), 403),
        ] {
            let body = json!({"name": "k", "projects": projects, "scopes": scopes});
            assert_eq!(tenant.mint_with(minter, body.clone()).await.status, status, "{body}");
        }
        // An agent, a person or a session cannot be stronger than its creator either.
        let org = format!("/api/org/{}", tenant.org);
        let agent =
            |scopes: Value, project: Option<&str>| json!({"name": "a", "scopes": scopes, "tools": [], "projectId": project});
        for (maker, body, status) in [
            (&few, agent(json!(["kits:read"]), None), 201),
            (&few, agent(json!(["bricks:read"]), None), 403),
            (&few, agent(json!(["*"]), None), 403),
            (&narrow, agent(json!(["*"]), Some(&tenant.project)), 201),
            (&narrow, agent(json!([]), Some(&other)), 403),
            (&narrow, agent(json!([]), None), 403),
        ] {
            assert_eq!(
                crib.api(Method::POST, &format!("{org}/agents"), maker, Some(body.clone())).await.status,
                status,
                "{body}"
            );
        }
        let user = json!({"email": "a@b.example", "role": "member", "password": "correct horse battery"});
        for maker in [&few, &narrow] {
            refused(&crib.api(Method::POST, &format!("{org}/users"), maker, Some(user.clone())).await, 403, "not_permitted");
        }
        let opened = crib
            .api(Method::POST, &format!("{org}/sessions"), &few, Some(json!({"projectId": tenant.project})))
            .await
            .expect(201);
        let bearer = text(&opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"]);
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let list = crib.http.post(text(&opened["mcpUrl"])).header("authorization", bearer).body(list);
        let names: Vec<_> =
            crib.send(list).await.result()["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
        assert_eq!(names, ["kits.list", "kits.get"]);
    }

    async fn invalid_keys_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        for bad in [
            json!({"name": "k"}),
            json!({"projects": "all"}),
            json!({"name": "k", "projects": "some"}),
            json!({"name": "k", "projects": null}),
            json!({"name": "k", "projects": ["nonsense"]}),
            json!({"name": "k", "projects": "all", "scopes": ["kits:eat"]}),
            json!({"name": "k", "projects": "all", "scopes": "kits:read"}),
            json!({"name": "k", "projects": "all", "scopes": ["instance:admin"]}),
            json!({"name": "", "projects": "all"}),
            json!({"name": "k", "projects": "all", "fullKey": "rsk_live_mine"}),
        ] {
            let reply = tenant.mint_with(&tenant.key, bad.clone()).await;
            assert_eq!(reply.status, 400, "{bad}: {}", reply.text);
        }
        let nowhere = json!({"name": "k", "projects": ["prj_00000000000000000000000000"]});
        refused(&tenant.mint_with(&tenant.key, nowhere).await, 404, "not_found");
        assert_eq!(tenant.get("keys").await.expect(200)["keys"].as_array().unwrap().len(), 1);
    }
}
