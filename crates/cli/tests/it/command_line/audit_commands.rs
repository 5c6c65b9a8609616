//! `toolcrib audit` against a server: what happened is found, exported and verified, and keys come and go.

use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, Terminal, both_engines};

fn event_types(listed: &Value) -> Vec<&str> {
    listed["events"].as_array().unwrap().iter().map(|event| event["eventType"].as_str().unwrap()).collect()
}

both_engines! {
    async fn what_happened_is_found(engine: Engine) {
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
        let said = terminal.run("audit list --limit 1").await;
        assert!(said.ok().lines().count() == 2 && said.err.contains("there are more"), "{said:?}");
    }

    async fn old_entries_go_when_that_is_meant(engine: Engine) {
        let place = Place::new(engine);
        let mut server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("call kits.list").await.ok();
        terminal.run("audit checkpoint --out early.json").await.ok();
        terminal.run("call kits.list").await.ok();
        let said = terminal.run("audit prune --before 1d").await;
        assert!(said.refused(1).contains("say --yes"), "{said:?}");
        let said = terminal.run("audit prune --before 29d --yes").await;
        assert!(said.refused(1).contains("entries of the last 30 days are kept (--audit-keep-days-min)"), "{said:?}");
        terminal.run("audit prune --before 31d --yes").await.ok();
        server.signal("TERM").await;
        assert!(server.child.wait().await.unwrap().success());
        let mut serve = place.serve();
        serve.args(["--audit-keep-days-min", "0"]);
        let _server = Process::start(serve, &place.data()).await;
        assert_eq!(terminal.run("audit prune --before 2020-01-01 --yes").await.ok(), "nothing to remove; the trail begins at 1\n");
        for (before, why) in [("yesterday", "is no time"), ("2099-01-01", "yet to come")] {
            let said = terminal.run(&format!("audit prune --before {before} --yes")).await;
            assert!(said.refused(1).contains(why), "{said:?}");
        }
        let now = base::Clock::system().now().rfc3339();
        let pruned = terminal.json(&format!("audit prune --before {now} --yes")).await;
        assert_eq!(pruned["firstSequence"].as_u64(), pruned["removed"].as_u64().map(|removed| removed + 1), "{pruned}");
        terminal.run("audit export --out audit.jsonl").await.ok();
        terminal.run("audit jwks --out keys.json").await.ok();
        let said = terminal.run("audit verify --log audit.jsonl --jwks keys.json --checkpoint early.json").await;
        assert!(said.ok().contains("the checkpoint lies in what was removed since"), "{said:?}");
        assert!(terminal.run("audit verify").await.ok().starts_with("valid, says the server"));
    }

    async fn an_export_is_verified_without_the_server(engine: Engine) {
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
        assert!(said.ok().starts_with("valid, says the server: "), "{said:?}");
        assert_eq!(terminal.json("audit verify").await["valid"], true);

        let written = terminal.run("audit export --out audit.jsonl").await;
        assert!(written.ok().starts_with("audit.jsonl written: ") && written.err.is_empty(), "{written:?}");
        assert_eq!(terminal.run("audit jwks --out keys.json").await.ok(), "keys.json written\n");
        let streamed = terminal.run("audit export").await.ok().to_owned();
        let kept = std::fs::read_to_string(terminal.here.join("audit.jsonl")).unwrap();
        assert!(streamed.starts_with(&kept) && streamed.lines().count() == kept.lines().count() + 1, "an export is an entry too");
        let report = terminal.json("audit export --out again.jsonl").await;
        assert_eq!(report["entries"].as_u64().unwrap() as usize, streamed.lines().count() + 1);
        assert_eq!(serde_json::from_str::<Value>(kept.lines().last().unwrap()).unwrap()["eventType"], "audit.exported");
        // Neither a server nor a data folder is needed from here on.
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
async fn a_key_that_may_only_read_reads_everything_and_changes_nothing() {
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
