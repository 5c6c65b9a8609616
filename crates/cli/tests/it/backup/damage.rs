//! Damaged backups, wrong master keys, and interrupted restores.

use std::path::Path;

use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::{Keeper, Target, key_of, tables};
use crate::support::{Crib, Engine, both_engines, eventually, in_time};

/// A crib with some data, and a backup of it.
async fn backed_up(engine: Engine) -> (Crib, Keeper) {
    let crib = Crib::start(engine).await;
    let tenant = crib.tenant().await;
    tenant.session().await.call("bricks.list", json!({})).await.result();
    let keeper = Keeper::new();
    keeper.back_up(&crib, "crib.backup").await;
    (crib, keeper)
}

/// Whether the restore created nothing.
fn is_untouched(target: &Target) -> bool {
    !target.data().exists()
}

both_engines! {
    async fn damaged_backup_is_refused_and_changes_nothing(engine: Engine) {
        let (crib, keeper) = backed_up(engine).await;
        let whole = std::fs::read(keeper.path("crib.backup")).unwrap();
        let target = Target::new(engine);
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 4;
        let damaged: [(&str, &[u8]); 6] = [
            ("flipped.backup", &flipped),
            ("cut.backup", &whole[..whole.len() - 1]),
            ("half.backup", &whole[..whole.len() / 2]),
            ("empty.backup", b""),
            ("short.backup", b"hello\n"),
            ("other.backup", b"SQLite format 3\0 and so on"),
        ];
        for (file, bytes) in damaged {
            std::fs::write(keeper.path(file), bytes).unwrap();
            let said = keeper.run(&format!("backup verify {file}")).await;
            assert!(said.refused(1).contains("backup") && said.err.contains("damaged"), "{file}: {said:?}");
            let is_other = ["empty.backup", "other.backup", "short.backup"].contains(&file);
            assert_eq!(said.err.contains("not a Toolcrib backup"), is_other, "{file}: {said:?}");
            let said = keeper.run(&keeper.restore_line(file, &target, &key_of(&crib))).await;
            assert!(said.refused(1).contains("damaged") && is_untouched(&target), "{file}: {said:?}");
        }
        keeper.run(&keeper.restore_line("crib.backup", &target, &key_of(&crib))).await.ok();
        crib.stop().await;
    }

    async fn only_the_right_master_key_restores(engine: Engine) {
        let (crib, keeper) = backed_up(engine).await;
        let target = Target::new(engine);
        std::fs::write(keeper.path("wrong.key"), "ab".repeat(32)).unwrap();
        let said = keeper.run(&keeper.restore_line("crib.backup", &target, &keeper.path("wrong.key"))).await;
        assert!(said.refused(1).contains("wrong master key") && is_untouched(&target), "{said:?}");
        let said = keeper.run("backup verify crib.backup --master-key-file wrong.key").await;
        assert!(said.refused(1).contains("wrong master key"), "{said:?}");
        let said = keeper.run(&format!("restore crib.backup {}", target.flags())).await;
        let words = said.refused(1);
        assert!(["--master-key-file", "TOOLCRIB_MASTER_KEY", "master.key"].iter().all(|word| words.contains(word)), "{words}");
        assert!(is_untouched(&target));
        // A key at the default path in the data folder is found.
        std::fs::create_dir(target.data()).unwrap();
        std::fs::copy(key_of(&crib), target.data().join("master.key")).unwrap();
        let said = keeper.run(&format!("restore crib.backup {}", target.flags())).await;
        assert!(said.ok().contains("start the server with: toolcrib serve"), "{said:?}");
        crib.stop().await;
    }

    async fn tampered_trail_is_restored_only_with_the_flag(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        tenant.session().await.call("bricks.list", json!({})).await.result();
        crib.tamper("UPDATE audit_events SET actor_id = 'somebody else' WHERE org_id = ?1 AND sequence = 2", &tenant.org).await;
        let keeper = Keeper::new();
        keeper.back_up(&crib, "crib.backup").await;
        let said = keeper.run("backup verify crib.backup").await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.out.contains(&format!("the trail of {} is broken at entry 2", tenant.org)), "{said:?}");
        let target = Target::new(engine);
        let line = keeper.restore_line("crib.backup", &target, &key_of(&crib));
        let said = keeper.run(&line).await;
        assert!(said.refused(1).contains("does not verify") && is_untouched(&target), "{said:?}");
        let said = keeper.run(&format!("{line} --allow-broken-audit")).await;
        assert!(said.ok().contains("is broken at entry 2"), "{said:?}");
        crib.stop().await;
    }

    async fn killed_restore_leaves_no_usable_data(engine: Engine) {
        let (crib, keeper) = backed_up(engine).await;
        let (target, whole) = (Target::new(engine), std::fs::read(keeper.path("crib.backup")).unwrap());
        // The restore reads from a pipe, so it waits for the last bytes when it is killed.
        let pipe = keeper.path("pipe");
        assert!(tokio::process::Command::new("mkfifo").arg(&pipe).status().await.unwrap().success());
        let mut restore = crate::support::Terminal::without_data(keeper.folder.path())
            .command(&keeper.restore_line("pipe", &target, &key_of(&crib)))
            .spawn()
            .unwrap();
        let mut feed = in_time(tokio::fs::OpenOptions::new().write(true).open(&pipe)).await.unwrap();
        feed.write_all(&whole[..whole.len() - 20]).await.unwrap();
        feed.flush().await.unwrap();
        let restoring = target.data().join("toolcrib.db.restoring");
        if engine == Engine::Sqlite {
            eventually("the restore has begun", async || restoring.exists()).await;
        } else {
            eventually("the restore has begun", async || target.data().join("toolcrib.lock").exists()).await;
        }
        restore.kill().await.unwrap();
        drop(feed);
        assert!(!target.data().join("toolcrib.db").exists() && !target.data().join("server.json").exists());
        if engine == Engine::Sqlite {
            let said = keeper.run(&format!("serve --listen 127.0.0.1:0 {}", target.flags())).await;
            assert!(said.refused(1).contains("was interrupted"), "{said:?}");
        }
        // Another restore succeeds.
        keeper.run(&keeper.restore_line("crib.backup", &target, &key_of(&crib))).await.ok();
        assert!(!restoring.exists());
        let (one, other) = (keeper.back_up_target(&target, "again.backup").await, keeper.run("backup verify crib.backup --json").await);
        assert_eq!(tables(&one), tables(&other.json()));
        target.start(&key_of(&crib)).await.stop().await;
        crib.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_backup_leaves_no_file() {
    let (crib, keeper) = backed_up(Engine::Sqlite).await;
    let place = super::place_of(&crib);
    let refused = keeper.run(&format!("backup crib.backup {place}")).await;
    assert!(refused.refused(1).contains("already exists"), "{refused:?}");
    let refused = keeper.run(&format!("backup nowhere/crib.backup {place}")).await;
    assert!(refused.refused(1).contains("there is no folder `nowhere`"), "{refused:?}");
    // The file size limit stands for a full disk.
    std::fs::create_dir(keeper.path("small")).unwrap();
    let mut shell = tokio::process::Command::new("sh");
    let line = format!("trap '' XFSZ; ulimit -f 1; exec {} backup small {place}", crate::support::binary().display());
    shell.args(["-c", &line]).current_dir(keeper.folder.path());
    let said = crate::support::Said::by(shell).await;
    assert!(said.refused(1).contains("cannot write"), "{said:?}");
    assert_eq!(std::fs::read_dir(keeper.path("small")).unwrap().count(), 0);
    crib.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_without_data_cannot_be_backed_up() {
    let keeper = Keeper::new();
    let said = keeper.run("backup crib.backup --data nowhere").await;
    assert!(said.refused(1).contains("there is no database"), "{said:?}");
    assert!(!Path::new(&keeper.path("nowhere")).exists() && !keeper.path("crib.backup").exists());
}
