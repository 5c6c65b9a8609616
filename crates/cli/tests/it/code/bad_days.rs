//! Races, and a disk that does what it likes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{MONEY, SHOP, Workspace, answer, gist, put, sha256};
use crate::support::{Crib, Engine, both_engines, text};

fn edit(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content, "reason": content.trim()})
}

/// All versions of a file, newest first.
async fn versions(workspace: &Workspace<'_>, path: &str) -> Vec<Value> {
    let (mut found, mut arguments) = (Vec::new(), json!({"entity_id": path, "limit": 50}));
    loop {
        let page = workspace.ask("query_history", arguments.clone()).await;
        found.extend(page["changes"].as_array().unwrap().clone());
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return found,
        }
    }
}

both_engines! {
    async fn racing_writers_lose_no_version(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let acknowledged = RefCell::new(BTreeSet::new());
            let write = async |name: &str| {
                let session = workspace.another_session(name).await;
                for number in 0..25 {
                    let written = answer(&session, "write_code", edit("a.py", &format!("# {name} {number}\n"))).await;
                    let new = (written["version"].as_i64().unwrap(), text(&written["version_id"]), format!("# {name} {number}"));
                    assert!(acknowledged.borrow_mut().insert(new), "{written}");
                }
            };
            tokio::join!(write("one"), write("two"), write("three"), write("four"));
            let acknowledged = acknowledged.into_inner();
            let numbers: Vec<i64> = acknowledged.iter().map(|(number, ..)| *number).collect();
            assert_eq!(numbers, (1..=100).collect::<Vec<_>>(), "each write has its own version");
            let found = versions(&workspace, "a.py").await;
            let listed: BTreeSet<_> = found.iter().map(|change| (text(&change["id"]), text(&change["reason"]))).collect();
            assert_eq!(listed, acknowledged.iter().map(|(_, id, content)| (id.clone(), content.clone())).collect());
            assert_eq!(found.len(), 100, "nothing was taken for an edit by others");
            let (_, _, last) = acknowledged.last().unwrap();
            assert_eq!(workspace.read("a.py").await["content"], format!("{last}\n"), "the file has the newest version");
            // Each diff starts where the one before ends.
            for pair in found.windows(2) {
                let removed = format!("-{}", text(&pair[1]["reason"]));
                assert!(pair[0]["diff"].as_str().unwrap().lines().any(|line| line == removed), "{pair:?}");
            }
        }
    }

    async fn of_racing_writers_that_saw_the_same_text_one_wins(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let count = async |name: &str| {
                // Reads the number, adds one, and tries again if someone was faster.
                let session = workspace.another_session(name).await;
                for _ in 0..10 {
                    loop {
                        let seen = answer(&session, "read_code", json!({"path": "count.txt", "include_semantic_context": false})).await;
                        let next = seen["content"].as_str().unwrap().trim().parse::<u32>().unwrap() + 1;
                        let mut arguments = edit("count.txt", &format!("{next}\n"));
                        arguments["expected_sha256"] = seen["sha256"].clone();
                        let reply = session.call("write_code", arguments).await;
                        if reply.json().get("error").is_none() {
                            break;
                        }
                        assert_eq!(gist(&reply.error()).0, "conflict", "{}", reply.text);
                    }
                }
            };
            workspace.write("count.txt", "0\n").await;
            tokio::join!(count("one"), count("two"), count("three"));
            assert_eq!(workspace.read("count.txt").await["content"], "30\n", "no addition was lost");
            assert_eq!(versions(&workspace, "count.txt").await.len(), 31);
        }
    }

    async fn a_change_on_disk_between_read_and_write_is_a_conflict(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let seen = workspace.read("shop/money.py").await;
        workspace.put("shop/money.py", "by_hand = 1\n");
        let mut arguments = edit("shop/money.py", "by_agent = 1\n");
        arguments["expected_sha256"] = seen["sha256"].clone();
        let error = workspace.refused("write_code", arguments.clone()).await;
        assert_eq!((gist(&error).0, &error["data"]["sha256"]), ("conflict", &json!(sha256("by_hand = 1\n"))), "{error}");
        assert_eq!(workspace.on_disk("shop/money.py"), "by_hand = 1\n", "the edit by hand stays");
        arguments["expected_sha256"] = error["data"]["sha256"].clone();
        workspace.ask("write_code", arguments).await;
        let found = versions(&workspace, "shop/money.py").await;
        assert_eq!(found.iter().map(|change| text(&change["source"])).collect::<Vec<_>>(), ["toolcrib", "disk"]);
        assert!(found[0]["diff"].as_str().unwrap().contains("-by_hand = 1\n+by_agent = 1"), "{found:?}");
    }

    async fn edits_by_hand_during_writes_are_all_in_the_history_or_on_disk(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[("a.py", "start = 1\n")]).await;
        for round in 0..30 {
            let by_hand = async {
                workspace.put("a.py", format!("hand = {round}\n"));
            };
            let content = format!("agent = {round}\n");
            let (reply, ()) = tokio::join!(workspace.session.call("write_code", edit("a.py", &content)), by_hand);
            reply.result();
            let now = workspace.read("a.py").await;
            assert_eq!(now["content"], workspace.on_disk("a.py"), "round {round}");
            let newest = &versions(&workspace, "a.py").await[0];
            let source = if workspace.on_disk("a.py") == content { "toolcrib" } else { "disk" };
            assert_eq!(newest["source"], source, "round {round}: {newest}");
        }
    }

    async fn a_root_that_vanishes_is_unavailable_until_it_is_back(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        workspace.write("a.py", "a = 1\n").await;
        let away = workspace.root.with_extension("away");
        std::fs::rename(&workspace.root, &away).unwrap();
        for (tool, arguments) in [("read_code", json!({"path": "a.py"})), ("write_code", edit("a.py", "a = 2\n"))] {
            let error = workspace.refused(tool, arguments).await;
            assert_eq!((gist(&error).0, gist(&error).1), ("conflict", -32000), "{tool}: {error}");
            assert!(!error.to_string().contains(workspace.root.to_str().unwrap()), "{tool} reveals a path: {error}");
        }
        assert!(!workspace.root.exists(), "no write makes the root anew");
        assert_eq!(std::fs::read_to_string(away.join("a.py")).unwrap(), "a = 1\n", "no write follows the folder");
        std::fs::rename(&away, &workspace.root).unwrap();
        assert_eq!(workspace.read("a.py").await["content"], "a = 1\n");
        workspace.write("a.py", "a = 3\n").await;
        // Another folder in its place is another root's content, and is read as it is.
        std::fs::rename(&workspace.root, &away).unwrap();
        put(&workspace.root, "a.py", "other = 1\n");
        let reply = workspace.session.call("read_code", json!({"path": "a.py"})).await;
        let is_honest = match reply.json().get("error") {
            Some(error) => gist(error).0 == "conflict",
            None => reply.result()["structuredContent"]["content"] == "other = 1\n",
        };
        assert!(is_honest, "never the content of the folder that was moved away: {}", reply.text);
    }

    async fn a_disk_that_refuses_is_told_in_words(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        // A folder that the server cannot make, because a file is in its place.
        let error = workspace.refused("write_code", edit("shop/money.py/x.py", "x = 1\n")).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("path")), "{error}");
        let error = workspace.refused("write_code", edit("shop", "x = 1\n")).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("path")), "{error}");
        let name = format!("{}.py", "ü".repeat(126));
        assert_eq!(workspace.write(&name, "x = 1\n").await["change_type"], "create", "255 bytes are a name");
        assert_eq!(workspace.changes(json!({"entity_id": "shop/money.py"})).await, Vec::<Value>::new(), "nothing was recorded");
    }
}

/// Mounts a folder read-only on itself, if this machine allows it.
fn mounted_read_only(folder: &std::path::Path) -> bool {
    let mount = |arguments: &[&str]| {
        let command = std::process::Command::new("mount").args(arguments).arg(folder).output();
        command.is_ok_and(|output| output.status.success())
    };
    let place = folder.to_str().unwrap();
    mount(&["--bind", place]) && mount(&["-o", "remount,bind,ro"])
}

struct Unmounted<'p>(&'p std::path::Path);

impl Drop for Unmounted<'_> {
    fn drop(&mut self) {
        let _status = std::process::Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_root_is_read_and_not_written() {
    let crib = Crib::start(Engine::Sqlite).await;
    let workspace = Workspace::new(&crib, SHOP).await;
    let _unmounted = Unmounted(&workspace.root);
    // Without the right to mount, permissions do it: they bind everyone who has no such right.
    if !mounted_read_only(&workspace.root) {
        use std::os::unix::fs::PermissionsExt as _;
        for folder in [&workspace.root, &workspace.root.join("shop")] {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).unwrap();
        }
    }
    assert!(std::fs::write(workspace.root.join("probe"), "").is_err(), "run this test as a user, or with the right to mount");
    workspace.indexed().await;
    assert_eq!(workspace.read("shop/money.py").await["content"], MONEY);
    for path in ["shop/money.py", "new.py", "new/folder.py"] {
        let error = workspace.refused("write_code", edit(path, "x = 1\n")).await;
        assert_eq!((gist(&error).0, gist(&error).1), ("conflict", -32000), "{path}: {error}");
        let changes = workspace.session.call("query_history", json!({"entity_id": path})).await;
        assert!(!changes.text.contains("toolcrib"), "a write that failed is not in the history: {}", changes.text);
    }
    assert_eq!(workspace.read("shop/money.py").await["content"], MONEY);
}
