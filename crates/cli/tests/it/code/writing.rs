//! `write_code`

use serde_json::{Value, json};

use super::{MONEY, SHOP, Workspace, answer, each, gist, sha256, strings};
use crate::support::{Crib, Engine, both_engines, eventually, members};

const BROKEN: &str = "def f(:\n    pass\n";

fn edit(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content, "reason": "the tests need it"})
}

both_engines! {
    async fn a_write_creates_and_updates_a_file(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let made = workspace.write("deep/er/a.py", "one = 1\ntwo = 2\n").await;
            let expected = [
                "affected_files", "change_type", "changed_symbols", "lines_added", "lines_removed", "path", "sha256", "size", "version",
                "version_id",
            ];
            assert_eq!(members(&made), expected);
            assert_eq!((&made["path"], &made["change_type"], &made["version"]), (&json!("deep/er/a.py"), &json!("create"), &json!(1)));
            assert_eq!((&made["lines_added"], &made["lines_removed"], &made["size"]), (&json!(2), &json!(0), &json!(16)));
            assert_eq!(made["sha256"], sha256("one = 1\ntwo = 2\n"));
            let changed = workspace.write("deep/er/a.py", "one = 1\nthree = 3\n").await;
            assert_eq!((&changed["change_type"], &changed["version"]), (&json!("update"), &json!(2)));
            assert_eq!((&changed["lines_added"], &changed["lines_removed"]), (&json!(1), &json!(1)));
            assert_ne!(made["version_id"], changed["version_id"]);
            let same = workspace.write("deep/er/a.py", "one = 1\nthree = 3\n").await;
            assert_eq!((&same["change_type"], &same["lines_added"], &same["lines_removed"]), (&json!("update"), &json!(0), &json!(0)));
            assert_eq!(workspace.read("deep/er/a.py").await["content"], "one = 1\nthree = 3\n");
            if workspace.root.is_absolute() {
                assert_eq!(workspace.on_disk("deep/er/a.py"), "one = 1\nthree = 3\n");
                let names = std::fs::read_dir(workspace.root.join("deep/er")).unwrap().count();
                assert_eq!(names, 1, "no temporary file is left");
            }
        }
    }

    async fn new_syntax_errors_are_refused_with_their_place(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            for (path, content, line) in [
                ("shop/money.py", "def cents(amount):\n    return round(amount * 100\n\n\nx = = 2\n", 2..=5),
                ("new.rs", "fn main() {\n    let x = ;\n}\n", 2..=2),
                ("new.ts", "export function f() {\n  return 1;\n}}\n", 3..=3),
            ] {
                let error = workspace.refused("write_code", edit(path, content)).await;
                assert_eq!(gist(&error), ("syntax_error", -32000, None), "{error}");
                let first = &error["data"]["errors"][0];
                assert!(line.contains(&first["line"].as_u64().unwrap()), "{path}: {error}");
                assert_eq!((&error["data"]["line"], &error["data"]["column"]), (&first["line"], &first["column"]));
                assert!(first["column"].as_u64().unwrap() > 0 && !first["message"].as_str().unwrap().is_empty(), "{error}");
                let place = format!("line {}, column {}", first["line"], first["column"]);
                assert!(error["message"].as_str().unwrap().contains(&place), "{error}");
            }
            assert_eq!(workspace.read("shop/money.py").await["content"], MONEY, "a refused write changes nothing");
            assert_eq!(workspace.read("new.rs").await["exists"], false);
            let plain = workspace.write("notes.txt", BROKEN).await;
            assert_eq!(plain["change_type"], "create", "a text without a grammar has no syntax errors");
        }
    }

    async fn a_broken_file_may_be_written_again(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[("template.py", BROKEN)]).await;
        let longer = format!("x = 1\n\n\n{BROKEN}");
        assert_eq!(workspace.write("template.py", &longer).await["lines_added"], 3);
        let error = workspace.refused("write_code", edit("template.py", &format!("{longer}\n\ndef g(:\n    pass\n"))).await;
        assert_eq!(gist(&error).0, "syntax_error", "a second error is new: {error}");
        assert_eq!(workspace.write("template.py", "x = 1\n").await["change_type"], "update");
    }

    async fn validation_can_be_turned_off(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let mut arguments = edit("broken.py", BROKEN);
        assert_eq!(gist(&workspace.refused("write_code", arguments.clone()).await).0, "syntax_error");
        arguments["validate_syntax"] = json!(false);
        workspace.ask("write_code", arguments).await;
        assert_eq!(workspace.on_disk("broken.py"), BROKEN);
    }

    async fn a_write_without_backup_keeps_only_that_it_changed(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            for content in ["secret = 'first'\n", "secret = 'second'\n"] {
                let mut arguments = edit("a.py", content);
                arguments["create_backup"] = json!(false);
                workspace.ask("write_code", arguments).await;
            }
            let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
            assert_eq!(changes.iter().map(|change| change["change_type"].as_str().unwrap()).collect::<Vec<_>>(), ["update", "create"]);
            assert!(changes.iter().all(|change| change.get("diff").is_none()), "{changes:?}");
            assert!(!format!("{changes:?}").contains("first"), "{changes:?}");
            assert_eq!(workspace.read("a.py").await["content"], "secret = 'second'\n");
            workspace.write("a.py", "third = 3\n").await;
            let kept = workspace.changes(json!({"entity_id": "a.py"})).await;
            assert!(kept[0]["diff"].as_str().unwrap().contains("+third = 3"), "{kept:?}");
        }
    }

    async fn a_lost_race_carries_the_current_version(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let seen = workspace.write("a.py", "a = 1\n").await;
            let with = |content: &str, sha256: &Value| {
                let mut arguments = edit("a.py", content);
                arguments["expected_sha256"] = sha256.clone();
                arguments
            };
            let newer = workspace.ask("write_code", with("a = 2\n", &seen["sha256"])).await;
            let error = workspace.refused("write_code", with("a = 3\n", &seen["sha256"])).await;
            assert_eq!(gist(&error), ("conflict", -32000, None), "{error}");
            assert_eq!((&error["data"]["sha256"], &error["data"]["version"]), (&newer["sha256"], &newer["version"]), "{error}");
            assert_eq!(workspace.read("a.py").await["content"], "a = 2\n");
            let absent = json!({"path": "b.py", "content": "b = 1\n", "reason": "r", "expected_sha256": seen["sha256"]});
            assert_eq!(gist(&workspace.refused("write_code", absent).await).0, "conflict");
            assert_eq!(workspace.read("b.py").await["exists"], false);
            let error = workspace.refused("write_code", with("a = 4\n", &json!("0".repeat(63)))).await;
            assert_eq!(gist(&error), ("invalid_params", -32602, Some("expected_sha256")));
            let error = workspace.refused("write_code", with("a = 4\n", &json!("x".repeat(64)))).await;
            assert_eq!(gist(&error), ("invalid_params", -32602, Some("expected_sha256")));
        }
    }

    async fn the_principal_is_the_author_and_agent_id_is_a_label(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let builder = workspace.another_session("builder").await;
        let body = json!({"name": "agent", "projectId": workspace.project, "scopes": ["*"], "tools": ["write_code"]});
        let agent = workspace.tenant.agent_with(body).await;
        let mut arguments = edit("a.py", "a = 1\n");
        arguments["agent_id"] = json!("somebody-else");
        let first = answer(&builder, "write_code", arguments.clone()).await;
        arguments["content"] = json!("a = 2\n");
        agent.call("write_code", arguments).await.result();
        let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
        let of = |change: &Value| (change["agent_id"].clone(), change["source"].clone(), change["reason"].clone());
        assert_eq!(of(&changes[0]), (json!(agent.id), json!("toolcrib"), json!("the tests need it")));
        assert_eq!(of(&changes[1]), (json!("label:builder"), json!("toolcrib"), json!("the tests need it")));
        assert_eq!((&changes[1]["id"], &changes[1]["session_id"]), (&first["version_id"], &json!(builder.id)));
        assert!(changes.iter().all(|change| change["agent_id"] != "somebody-else"), "{changes:?}");
    }

    async fn changed_symbols_and_affected_files_are_named(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.indexed().await;
            let content = MONEY.replace("amount * 100", "amount * 1000") + "\n\ndef euros(amount):\n    return amount / 100\n";
            let written = workspace.write("shop/money.py", &content).await;
            assert_eq!(written["changed_symbols"], json!({"added": ["euros"], "removed": [], "changed": ["cents"]}));
            assert_eq!(each(&written["affected_files"], "path"), ["shop/cart.py", "shop/checkout.py", "shop/mail.py"]);
            let distances: Vec<_> = written["affected_files"].as_array().unwrap().iter().map(|file| file["distance"].clone()).collect();
            assert_eq!(distances, [1, 2, 3]);
            let removed = workspace.write("shop/money.py", "def euros(amount):\n    return amount / 100\n").await;
            assert_eq!(removed["changed_symbols"], json!({"added": [], "removed": ["cents"], "changed": []}));
        }
    }

    async fn the_index_has_a_write_before_its_answer(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.indexed().await;
            for round in 0..10 {
                let (name, content) = (format!("shop/lamp{round}.py"), format!("from shop import money\n\n\ndef lamp{round}():\n    return 1\n"));
                workspace.write(&name, &content).await;
                let found = workspace.ask("analyze_dependencies", json!({"path": "shop/money.py", "analysis_type": "impact"})).await;
                assert!(each(&found["impact"], "path").contains(&name.as_str()), "round {round}: {found}");
                let found = workspace.ask("graph_search", json!({"start_nodes": [format!("{name}#lamp{round}")]})).await;
                assert_eq!(found["nodes"][0]["kind"], "function");
                let hits = workspace.ask("hybrid_search", json!({"query": format!("lamp{round}"), "search_types": []})).await;
                assert_eq!(each(&hits["results"], "path").first(), Some(&name.as_str()), "round {round}: {hits}");
            }
        }
    }

    async fn the_index_may_follow_later(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let mut arguments = edit("shop/late.py", "from shop import money\n");
        arguments["update_dependencies"] = json!(false);
        workspace.ask("write_code", arguments).await;
        let follows = async || {
            let found = workspace.read("shop/money.py").await;
            strings(&found["dependencies"]["imported_by"]).contains(&"shop/late.py")
        };
        eventually("the index follows", follows).await;
    }

    async fn bad_writes_name_the_parameter(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        for (arguments, parameter) in [
            (json!({"path": "a.py", "content": "a = 1\n"}), "reason"),
            (json!({"path": "a.py", "reason": "r"}), "content"),
            (json!({"content": "a = 1\n", "reason": "r"}), "path"),
            (json!({"path": "a.py", "content": "", "reason": "x".repeat(4_001)}), "reason"),
            (json!({"path": "a.py", "content": "", "reason": "r", "agent_id": "x".repeat(201)}), "agent_id"),
            (json!({"path": "shop", "content": "", "reason": "r"}), "path"),
            (json!({"path": "shop/money.py/b.py", "content": "", "reason": "r"}), "path"),
        ] {
            let error = workspace.refused("write_code", arguments).await;
            assert_eq!(gist(&error), ("invalid_params", -32602, Some(parameter)), "{error}");
        }
    }
}
