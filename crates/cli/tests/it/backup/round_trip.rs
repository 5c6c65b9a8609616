//! A backup of everything from one engine, restored to each.

use std::os::unix::fs::PermissionsExt;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Keeper, Target, key_of, tables};
use crate::audit::Export;
use crate::support::{Crib, Engine, Tenant, both_engines, call, eventually};

/// Everything that a tenant's key can read.
async fn everything(crib: &Crib, org: &str, key: &str, project: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for path in ["projects", "keys", "agents", "users", "policies", "webhooks", "sessions"] {
        let reply = crib.api(Method::GET, &format!("/api/org/{org}/{path}"), key, None).await;
        let mut value = reply.expect(200);
        // A webhook's health changes in the background.
        for webhook in value["webhooks"].as_array_mut().into_iter().flatten() {
            webhook.as_object_mut().unwrap().remove("health");
        }
        found.push((path.to_owned(), value));
    }
    for path in ["bricks", "kits"] {
        found.push((path.to_owned(), crib.api(Method::GET, &format!("/api/{path}"), key, None).await.expect(200)));
    }
    for path in ["memory", "graph/triplets", "graph/entities"] {
        let path = format!("/api/org/{org}/projects/{project}/{path}");
        let value = crib.api(Method::GET, &path, key, None).await.expect(200);
        found.push((path, value));
    }
    found
}

/// Adds one of each to an org. Returns a session's id and key, and an agent's token.
async fn fill(tenant: &Tenant<'_>) -> (String, String, String) {
    let session = tenant.session().await;
    let brick = session.call("bricks.create_draft", json!({"name": "Polite", "type": "boolean", "evaluation_prompt": "Is it?"}));
    let brick = brick.await.result()["structuredContent"]["brick_id"].as_str().unwrap().to_owned();
    let owner = tenant.person("owner").await;
    owner.api(Method::POST, &format!("/api/bricks/{brick}/publish"), None).await.expect(200);
    session.call("kits.create_draft", json!({"name": "Replies", "brick_ids": [brick]})).await.result();
    session.call("af_memory_remember", json!({"content": "We store money as integer cents"})).await.result();
    let fact = json!({"source": {"name": "checkout"}, "relationship": "stores_carts_in", "target": {"name": "Redis"}});
    session.call("graph_ingest", json!({"triplets": [fact]})).await.result();
    let policy = json!({"cedar": "permit (principal, action, resource);"});
    tenant.put("policies/extra", policy).await.expect(200);
    tenant.post("webhooks", json!({"url": "http://127.0.0.1:9/hook", "events": ["policy.*"]})).await.expect(201);
    let agent = tenant.agent(&["bricks:read"], &["bricks.list"]).await;
    (session.id.clone(), session.key.clone(), agent.token.clone())
}

both_engines! {
    async fn everything_is_restored_on_either_engine(engine: Engine) {
        let crib = Crib::start_with(engine, crate::hooks::allow_local_webhooks).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let (session, session_key, token) = fill(&tenant).await;
        other.session().await.call("bricks.list", json!({})).await.result();
        eventually("every text has its vector", async || {
            crib.rows("SELECT model AS value FROM vectors WHERE org_id = ?1", &tenant.org).await.len() >= 3
        })
        .await;
        crib.write_checkpoints().await;
        let before = everything(&crib, &tenant.org, &tenant.key, &tenant.project).await;
        let trail = Export::of(&tenant).await;
        let keeper = Keeper::new();
        let made = keeper.back_up(&crib, "crib.backup").await;
        let file = keeper.path("crib.backup");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(made["engine"], if engine == Engine::Sqlite { "sqlite" } else { "postgres" });
        assert!(made["files"].as_array().unwrap().len() >= 2 && made["masterKey"]["included"] == false, "{made}");
        let checked = keeper.run(&format!("backup verify crib.backup --json --master-key-file {}", key_of(&crib).display())).await.json();
        assert_eq!((&checked["valid"], &checked["masterKeyChecked"]), (&json!(true), &json!(true)), "{checked}");
        assert_eq!(tables(&checked), tables(&made));

        for into in Engine::ALL {
            let target = Target::new(into);
            let line = keeper.restore_line("crib.backup", &target, &key_of(&crib));
            let done = keeper.run(&format!("{line} --json")).await.json();
            assert_eq!(done["audit"]["broken"], json!([]), "{done}");
            // Both engines hold the same rows.
            let again = keeper.back_up_target(&target, &format!("again-{into:?}.backup")).await;
            assert_eq!(tables(&again), tables(&made), "{engine:?} to {into:?}");
            for private in ["toolcrib.db", "engine"].iter().map(|name| target.data().join(name)).filter(|path| path.exists()) {
                assert_eq!(std::fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o600, "{private:?}");
            }

            let restored = target.start(&key_of(&crib)).await;
            assert_eq!(everything(&restored, &tenant.org, &tenant.key, &tenant.project).await, before);
            // The session key, the agent token and memory work as before.
            let door = format!("{}/api/mcp/{session}", restored.url);
            let ask = async |door: &str, key: &str, tool: &str, arguments: Value| {
                restored.send(restored.http.post(door).bearer_auth(key).body(call(1, tool, arguments).to_string())).await.result()
            };
            let found = ask(&door, &session_key, "af_memory_recall", json!({"query": "how are prices stored", "workType": "chore"})).await;
            assert!(found.to_string().contains("integer cents"), "{found}");
            let path = ask(&door, &session_key, "graph_query", json!({"query": "checkout"})).await;
            assert!(path.to_string().contains("Redis"), "{path}");
            ask(&format!("{}/api/mcp", restored.url), &token, "bricks.list", json!({})).await;
            // The trail continues where it ended, and verifies with the restored checkpoints.
            let mut now = Tenant { crib: &restored, org: tenant.org.clone(), key: tenant.key.clone(), project: tenant.project.clone() };
            let longer = Export::of(&now).await;
            assert!(longer.lines.starts_with(&trail.lines), "the trail was rewritten");
            assert!(longer.verified() > trail.verified());
            let kept = restored.folder.path().join(format!("data/checkpoints/{}.jsonl", tenant.org));
            let kept = ::audit::Checkpoint::parse_file(&std::fs::read(kept).unwrap()).unwrap();
            assert!(longer.verify(kept.into_iter().next()).is_valid());
            crate::audit::verified(&now).await;
            now.org.clone_from(&other.org);
            now.key.clone_from(&other.key);
            crate::audit::verified(&now).await;
            restored.stop().await;
        }
        crib.stop().await;
    }
}

/// The decompressed bytes.
async fn unpacked(file: &std::path::Path) -> Vec<u8> {
    let output =
        tokio::process::Command::new("gzip").arg("-dc").stdin(std::fs::File::open(file).unwrap()).output().await.unwrap();
    assert!(output.status.success());
    output.stdout
}

both_engines! {
    async fn backup_holds_no_secrets(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let keeper = Keeper::new();
        keeper.back_up(&crib, "crib.backup").await;
        let bytes = unpacked(&keeper.path("crib.backup")).await;
        let holds = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(holds(&tenant.org), "the search itself works");
        let master = std::fs::read_to_string(key_of(&crib)).unwrap();
        for secret in [master.trim(), crib.admin_key.as_str(), tenant.key.as_str()] {
            assert!(!holds(secret));
        }
        let said = keeper.run(&format!("backup second.backup {}", crate::backup::place_of(&crib))).await;
        assert!(said.ok().contains("The backup does not include the master key") && said.out.contains("master.key"), "{said:?}");
        crib.stop().await;
    }
}
