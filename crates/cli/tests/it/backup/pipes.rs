//! Backups through pipes, data that a restore sets aside, and credentials that it does not restore.

use reqwest::Method;
use serde_json::json;

use super::{Keeper, Target, key_of, place_of};
use crate::support::{Crib, Engine, Said, binary, both_engines};

/// Runs a shell command in the keeper's folder.
async fn shell(keeper: &Keeper, line: &str) -> Said {
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", line]).env("CRIB", binary()).current_dir(keeper.folder.path());
    Said::by(shell).await
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_and_restore_work_through_pipes() {
    let keeper = Keeper::new();
    let crib = Crib::start(Engine::Sqlite).await;
    let org = crib.tenant().await.org;
    let (place, key) = (place_of(&crib), key_of(&crib));
    let said = shell(&keeper, &format!("$CRIB backup - {place} > piped")).await;
    assert!(said.ok().is_empty() && said.err.contains("rows of") && said.err.contains("to stdout"), "{said:?}");
    assert!(shell(&keeper, "$CRIB backup verify - < piped").await.ok().starts_with("complete: "));
    let target = Target::new(Engine::Sqlite);
    let line = format!("$CRIB restore - {} --master-key-file {} < piped", target.flags(), key.display());
    shell(&keeper, &line).await.ok();
    let restored = target.start(&key).await;
    assert_eq!(restored.rows("SELECT org_id AS value FROM orgs WHERE org_id = ?1", &org).await, [org.as_str()]);
    restored.stop().await;
    crib.stop().await;
}

both_engines! {
    async fn restore_does_not_revive_the_old_admin_key(engine: Engine) {
        let keeper = Keeper::new();
        let crib = Crib::start(engine).await;
        keeper.back_up(&crib, "crib.backup").await;
        let (old, key) = (crib.admin_key.clone(), key_of(&crib));
        let target = Target::new(engine);
        keeper.run(&keeper.restore_line("crib.backup", &target, &key)).await.ok();
        let restored = target.start(&key).await;
        restored.api(Method::GET, "/api/orgs", &old, None).await.expect(401);
        restored.api(Method::GET, "/api/orgs", &restored.admin_key, None).await.expect(200);
        restored.stop().await;
        crib.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_names_everything_it_set_aside() {
    let keeper = Keeper::new();
    let crib = Crib::start(Engine::Sqlite).await;
    crib.tenant().await.session().await.call("bricks.list", json!({})).await.result();
    crib.write_checkpoints().await;
    keeper.back_up(&crib, "crib.backup").await;
    let place = place_of(&crib);
    let folder = crib.stop_and_keep().await;
    let done = keeper.run(&format!("restore crib.backup {place} --replace --json")).await.json();
    let aside: Vec<_> = done["setAside"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect();
    assert!(aside.len() == 2 && aside.contains(&done["replaced"].as_str().unwrap().to_owned()), "{done}");
    assert!(aside.iter().any(|path| path.contains("/checkpoints.replaced-")), "{aside:?}");
    assert!(aside.iter().all(|path| std::path::Path::new(path).exists()), "{aside:?}");
    assert!(!folder.path().join("data/restore.json").exists());
    let said = keeper.run(&format!("restore crib.backup {place} --replace")).await;
    assert!(said.ok().contains("toolcrib.db.replaced-") && said.out.contains("checkpoints.replaced-"), "{said:?}");
}

/// The restore commits the rows before it writes the folder, so the error must report that the rows were replaced.
#[tokio::test(flavor = "multi_thread")]
async fn failure_after_the_commit_reports_the_replaced_database() {
    let keeper = Keeper::new();
    let crib = Crib::start(Engine::Sqlite).await;
    keeper.back_up(&crib, "crib.backup").await;
    let target = Target::new(Engine::Postgres);
    std::fs::create_dir_all(target.data().join("engine/in the way")).unwrap();
    std::fs::copy(key_of(&crib), target.data().join("master.key")).unwrap();
    let said = keeper.run(&format!("restore crib.backup {}", target.flags())).await;
    assert!(said.refused(1).contains("the database was replaced") && said.err.contains("engine: Is a directory"), "{said:?}");
    // The next start finishes the restore.
    std::fs::remove_dir_all(target.data().join("engine")).unwrap();
    let key = key_of(&crib);
    let restored = target.start(&key).await;
    assert_eq!(std::fs::read_to_string(restored.folder.path().join("data/engine")).unwrap(), "postgres");
    assert!(!restored.folder.path().join("data/restore.json").exists());
    restored.stop().await;
    crib.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_backup_folder_is_refused() {
    let keeper = Keeper::new();
    let crib = Crib::start(Engine::Sqlite).await;
    let place = place_of(&crib);
    let said = keeper.run(&format!("backup nightly/ {place}")).await;
    assert!(said.refused(1).contains("there is no folder `nightly/`") && said.err.contains("mkdir -p"), "{said:?}");
    let said = keeper.run(&format!("backup nightly/crib.backup {place}")).await;
    assert!(said.refused(1).contains("there is no folder `nightly`; create it with `mkdir -p`"), "{said:?}");
    std::fs::create_dir(keeper.path("nightly")).unwrap();
    keeper.run(&format!("backup nightly/ {place}")).await.ok();
    assert_eq!(std::fs::read_dir(keeper.path("nightly")).unwrap().count(), 1);
    crib.stop().await;
}
