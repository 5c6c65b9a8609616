//! `toolcrib audit` with a server: list, export, verify, prune, and rotate and revoke keys.

use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, Terminal, both_engines};

fn event_types(listed: &Value) -> Vec<&str> {
    listed["events"].as_array().unwrap().iter().map(|event| event["eventType"].as_str().unwrap()).collect()
}

both_engines! {
    async fn audit_list_finds_events_by_filter(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("policy forbid --tool bricks.list --everyone").await.ok();
        let said = terminal.run("call bricks.list").await;
        assert_eq!(said.code, Some(1), "{said:?}");
        terminal.run("call kits.list").await.ok();
        let listed = terminal.json("audit list --type call.refused").await;
        assert_eq!(event_types(&listed), ["call.refused"]);
        let refused = &listed["events"][0];
        assert_eq!((&refused["entityId"], &refused["payload"]["decision"]["allowed"]), (&json!("bricks.list"), &json!(false)));
        let table = terminal.run("audit list --entity bricks.list --since 1h").await.ok().to_owned();
        let line = table.lines().nth(1).unwrap();
        assert!(line.contains("call.refused") && line.contains("tool bricks.list") && line.contains("forbidden by forbid-bricks.list-everyone"), "{table}");
        let actor = refused["actorId"].as_str().unwrap();
        let request = refused["requestId"].as_str().unwrap();
        assert_eq!(event_types(&terminal.json(&format!("audit list --actor {actor} --limit 1")).await), ["call.refused"]);
        assert_eq!(event_types(&terminal.json(&format!("audit list --request {request}")).await), ["call.refused"]);
        let saved = terminal.json("audit list --type policy.saved --entity forbid-bricks.list-everyone").await;
        assert_eq!(saved["events"][0]["payload"]["version"], 1);
        assert_eq!(terminal.run("audit list --since 2099-01-01T00:00:00Z").await.ok(), "no events\n");
        assert_eq!(terminal.run("audit list --until 7d").await.ok(), "no events\n");
        assert_eq!(event_types(&terminal.json("audit list --type call.*").await), ["call.completed", "call.refused"]);
        for line in ["audit list --type call.refusd", "audit list --type call.refusd --follow"] {
            let said = terminal.run(line).await;
            assert!(said.refused(1).contains("there is no event type `call.refusd`; did you mean `call.refused`?"), "{said:?}");
        }
        let said = terminal.run("audit list --limit 1").await;
        assert!(said.ok().lines().count() == 2 && said.err.contains("more rows exist"), "{said:?}");
    }

    async fn audit_prune_removes_old_entries_after_confirmation(engine: Engine) {
        let place = Place::new(engine);
        let mut server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("call kits.list").await.ok();
        terminal.run("audit checkpoint --out early.json").await.ok();
        terminal.run("call kits.list").await.ok();
        let said = terminal.run("audit prune --before 1d").await;
        assert!(said.refused(1).contains("pass --yes"), "{said:?}");
        let said = terminal.run("audit prune --before 29d --yes").await;
        assert!(said.refused(1).contains("entries of the last 30 days are kept (--audit-keep-days-min)"), "{said:?}");
        terminal.run("audit prune --before 31d --yes").await.ok();
        server.signal("TERM").await;
        assert!(server.child.wait().await.unwrap().success());
        let mut serve = place.serve();
        serve.args(["--audit-keep-days-min", "0"]);
        let _server = Process::start(serve, &place.data()).await;
        assert_eq!(terminal.run("audit prune --before 2020-01-01 --yes").await.ok(), "nothing to remove; the trail begins at 1\n");
        for (before, why) in [("yesterday", "is not a time"), ("2099-01-01", "must be in the past")] {
            let said = terminal.run(&format!("audit prune --before {before} --yes")).await;
            assert!(said.refused(1).contains(why), "{said:?}");
        }
        let now = base::Clock::system().now().rfc3339();
        let pruned = terminal.json(&format!("audit prune --before {now} --yes")).await;
        assert_eq!(pruned["firstSequence"].as_u64(), pruned["removed"].as_u64().map(|removed| removed + 1), "{pruned}");
        terminal.run("audit export --out audit.jsonl").await.ok();
        terminal.run("audit jwks --out keys.json").await.ok();
        let said = terminal.run("audit verify --log audit.jsonl --jwks keys.json --checkpoint early.json").await;
        assert!(said.ok().contains("the checkpoint is older than the first entry"), "{said:?}");
        assert!(terminal.run("audit verify").await.ok().starts_with("valid according to the server"));
    }

    async fn export_is_verified_without_the_server(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("call kits.list").await.ok();
        terminal.run("audit checkpoint --out early.json").await.ok();
        let old = terminal.json("audit keys").await["keys"][0]["kid"].as_str().unwrap().to_owned();
        let new = terminal.json("audit rotate").await["key"]["kid"].as_str().unwrap().to_owned();
        assert_ne!(old, new);
        terminal.run("call kits.list").await.ok();
        let revoked = terminal.json(&format!("audit revoke {old} --reason 'lost the disk'")).await;
        assert_eq!((&revoked["key"]["kid"], &revoked["key"]["revokedReason"]), (&json!(old), &json!("lost the disk")));
        let table = terminal.run("audit keys").await.ok().to_owned();
        assert!(table.lines().count() == 3 && table.contains("lost the disk"), "{table}");
        let said = terminal.run("audit verify").await;
        assert!(said.ok().starts_with("valid according to the server: "), "{said:?}");
        assert_eq!(terminal.json("audit verify").await["valid"], true);

        let written = terminal.run("audit export --out audit.jsonl").await;
        assert!(written.ok().starts_with("audit.jsonl written: ") && written.err.is_empty(), "{written:?}");
        assert_eq!(terminal.run("audit jwks --out keys.json").await.ok(), "keys.json written\n");
        let streamed = terminal.run("audit export").await.ok().to_owned();
        let kept = std::fs::read_to_string(terminal.here.join("audit.jsonl")).unwrap();
        assert!(streamed.starts_with(&kept) && streamed.lines().count() == kept.lines().count() + 1, "each export adds an entry");
        let report = terminal.json("audit export --out again.jsonl").await;
        assert_eq!(report["entries"].as_u64().unwrap() as usize, streamed.lines().count() + 1);
        assert_eq!(serde_json::from_str::<Value>(kept.lines().last().unwrap()).unwrap()["eventType"], "audit.exported");
        // From here on, there is neither a server nor a data folder.
        server.kill_nine().await;
        let alone = Terminal::without_data(&terminal.here);
        let verify = "audit verify --log audit.jsonl --jwks keys.json --checkpoint early.json";
        let said = alone.run(verify).await;
        assert!(said.ok().contains("the checkpoint matches") && said.out.contains("revoked later"), "{said:?}");
        std::fs::write(alone.here.join("audit.jsonl"), kept.replacen("kits.list", "kits.lost", 1)).unwrap();
        let said = alone.run(verify).await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.out.starts_with("broken at entry "), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_audit_key_cannot_change_anything() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let admin = Terminal::at(&place);
    let key = admin.json("key add auditor --scope audit:read").await["key"]["fullKey"].as_str().unwrap().to_owned();
    let auditor = Terminal::without_data(place.folder.path()).with("TOOLCRIB_URL", &server.url).with("TOOLCRIB_KEY", &key);
    for line in ["list --limit 1", "export", "checkpoint", "keys", "jwks", "verify"] {
        auditor.run(&format!("audit {line}")).await.ok();
    }
    let kid = auditor.json("audit keys").await["keys"][0]["kid"].as_str().unwrap().to_owned();
    for line in ["rotate", &format!("revoke {kid}")] {
        let said = auditor.run(&format!("audit {line}")).await;
        assert!(said.refused(1).contains("`audit:write`") && said.err.contains("(403)"), "{said:?}");
    }
    let other = admin.json("key add other --scope bricks:read").await["key"]["fullKey"].as_str().unwrap().to_owned();
    let other = auditor.with("TOOLCRIB_KEY", &other);
    let said = other.run("audit export --out audit.jsonl").await;
    assert!(said.refused(1).contains("`audit:read`"), "{said:?}");
    assert!(!other.here.join("audit.jsonl").exists() && !other.here.join("audit.jsonl.part").exists());
    assert!(other.run("audit verify").await.refused(2).contains("`audit:read`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn kid_may_begin_with_a_dash() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    for kid in ["-QZ3m2AqxY0", "--Z3m2AqxY0", "-h3m2AqxY0"] {
        for line in [format!("audit revoke {kid} --reason lost"), format!("audit revoke --reason lost {kid}")] {
            let said = terminal.run(&line).await;
            assert!(
                said.refused(1).contains("no such signing key") && said.err.contains("toolcrib audit keys"),
                "{line}: {said:?}"
            );
        }
    }
}

/// The three commands that write a file, each with a word from its output.
const WRITERS: [(&str, &str); 3] = [("export", "workspaceId"), ("jwks", "keys"), ("checkpoint", "headHash")];

#[tokio::test(flavor = "multi_thread")]
async fn out_writes_into_fifos_and_devices() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    assert!(terminal.program("mkfifo").arg("fifo").status().await.unwrap().success());
    // A link keeps a device safe if the test runs as root and the command replaces its target.
    for (target, link) in [("/dev/full", "full"), ("fifo", "link")] {
        std::os::unix::fs::symlink(target, terminal.here.join(link)).unwrap();
    }
    for (command, word) in WRITERS {
        for out in ["fifo", "link"] {
            let line = format!("audit {command} --out {out}");
            let mut reader = terminal.program("cat");
            reader.arg("fifo").stdout(std::process::Stdio::piped());
            let (said, read) = tokio::join!(terminal.run(&line), crate::support::Said::by(reader));
            assert!(said.ok().contains("written") && read.ok().contains(word), "{line}: {said:?} {read:?}");
        }
        let said = terminal.run(&format!("audit {command} --out full")).await;
        assert!(said.refused(1).contains("cannot write full: No space left on device"), "{said:?}");
        terminal.run(&format!("audit {command} --out /dev/null")).await.ok();
    }
    let kind = |name: &str| std::fs::symlink_metadata(terminal.here.join(name)).unwrap().file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind("fifo")) && kind("link").is_symlink() && kind("full").is_symlink());
}

#[tokio::test(flavor = "multi_thread")]
async fn out_follows_links_and_refuses_folders() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place).within("out");
    std::fs::create_dir(terminal.here.join("kept")).unwrap();
    for (command, word) in WRITERS {
        let (real, link) = (terminal.here.join("kept").join(command), terminal.here.join(command));
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for _ in 0..2 {
            terminal.run(&format!("audit {command} --out {command}")).await.ok();
            assert!(link.is_symlink() && std::fs::read_to_string(&real).unwrap().contains(word), "{command}");
        }
        let said = terminal.run(&format!("audit {command} --out kept")).await;
        assert!(said.refused(1).contains("cannot write kept: it is a folder"), "{said:?}");
        let said = terminal.run(&format!("audit {command} --out nodir/file")).await;
        assert!(said.refused(1).contains("there is no folder `nodir`; create it with `mkdir -p`"), "{said:?}");
    }
    assert_eq!(std::fs::read_dir(terminal.here.join("kept")).unwrap().count(), WRITERS.len(), "no partial files remain");
}
