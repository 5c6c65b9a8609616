//! Sources and destinations of backups: folders, existing data, running and stopped servers, moved data.

use serde_json::json;

use super::{Keeper, Target, key_of, place_of};
use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn existing_data_is_replaced_only_with_the_flag(engine: Engine) {
        let keeper = Keeper::new();
        let crib = Crib::start(engine).await;
        let (org, session) = {
            let tenant = crib.tenant().await;
            let session = tenant.session().await;
            session.call("af_memory_remember", json!({"content": "Alpha was known before the backup"})).await.result();
            keeper.back_up(&crib, "crib.backup").await;
            session.call("af_memory_remember", json!({"content": "Beta came after the backup"})).await.result();
            (tenant.org.clone(), (session.id.clone(), session.key.clone()))
        };
        crib.tenant().await;
        let place = place_of(&crib);
        let said = keeper.run(&format!("restore crib.backup {place} --replace")).await;
        assert!(said.refused(1).contains("another server uses the data folder"), "{said:?}");
        if let Some(url) = crib.database_url() {
            // From another folder, the restore sees the server's connections to the database.
            let elsewhere = Target { database_url: Some(url), ..Target::new(Engine::Sqlite) };
            let line = keeper.restore_line("crib.backup", &elsewhere, &key_of(&crib));
            let said = keeper.run(&format!("{line} --replace")).await;
            assert!(said.refused(1).contains("a server is connected") && !elsewhere.data().exists(), "{said:?}");
        }
        let url = crib.database_url();
        let folder = crib.stop_and_keep().await;
        let said = keeper.run(&format!("restore crib.backup {place}")).await;
        assert!(said.refused(1).contains("--replace"), "{said:?}");
        let said = keeper.run(&format!("restore crib.backup {place} --replace")).await;
        assert_eq!(said.ok().contains("the previous data is in"), engine == Engine::Sqlite, "{said:?}");

        let restored = Crib::start_in(folder, Engine::Sqlite, |config| config.database_url = url).await;
        let door = format!("{}/api/mcp/{}", restored.url, session.0);
        let ask = async |tool: &str, arguments: serde_json::Value| {
            let message = crate::support::call(1, tool, arguments).to_string();
            restored.send(restored.http.post(&door).bearer_auth(&session.1).body(message)).await.result().to_string()
        };
        let recall = async |query: &str| ask("af_memory_recall", json!({"query": query, "workType": "chore"})).await;
        assert!(recall("Alpha").await.contains("Alpha was known"));
        assert!(!recall("Beta").await.contains("Beta came after"));
        // Change numbers repeat after a restore. A cache must not serve rows from before it.
        ask("af_memory_remember", json!({"content": "Gamma is new"})).await;
        assert!(recall("Gamma").await.contains("Gamma is new"));
        assert!(!recall("Beta").await.contains("Beta came after"));
        assert_eq!(restored.rows("SELECT org_id AS value FROM orgs WHERE org_id <> ?1", &org).await.len(), 1, "only the orgs in the backup remain");
        restored.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_into_a_folder_is_named_after_the_time() {
    let crib = Crib::start(Engine::Sqlite).await;
    let keeper = Keeper::new();
    let made = keeper.back_up(&crib, ".").await;
    let name = std::path::Path::new(made["file"].as_str().unwrap()).file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with("toolcrib-2") && name.ends_with("Z.backup"), "{name}");
    crib.stop().await;
}

/// After a move to PostgreSQL, an outdated SQLite file remains in the data folder.
#[tokio::test(flavor = "multi_thread")]
async fn leftover_sqlite_file_is_not_backed_up() {
    let keeper = Keeper::new();
    let crib = Crib::start(Engine::Sqlite).await;
    keeper.back_up(&crib, "crib.backup").await;
    let (key, place) = (key_of(&crib), place_of(&crib));
    let folder = crib.stop_and_keep().await;
    let target = Target::new(Engine::Postgres);
    let url = target.database_url.clone().unwrap();
    keeper.run(&format!("restore crib.backup {place} --database-url {url}")).await.ok();
    let moved = Crib::start_in(folder, Engine::Sqlite, |config| config.database_url = Some(url.clone())).await;
    assert!(key.parent().unwrap().join("toolcrib.db").exists());
    let said = keeper.run(&format!("backup moved.backup {place}")).await;
    assert!(said.refused(1).contains("uses PostgreSQL") && said.err.contains("--database-url"), "{said:?}");
    keeper.run(&format!("backup moved.backup {place} --database-url {url}")).await.ok();
    moved.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_server_can_be_backed_up() {
    let keeper = Keeper::new();
    let crib = Crib::start(Engine::Sqlite).await;
    let (place, org) = (place_of(&crib), crib.tenant().await.org);
    let folder = crib.stop_and_keep().await;
    keeper.run(&format!("backup crib.backup {place}")).await.ok();
    let target = Target::new(Engine::Sqlite);
    let key = folder.path().join("data/master.key");
    keeper.run(&keeper.restore_line("crib.backup", &target, &key)).await.ok();
    let restored = target.start(&key).await;
    assert_eq!(restored.rows("SELECT org_id AS value FROM orgs WHERE org_id = ?1", &org).await, [org.as_str()]);
    restored.stop().await;
}
