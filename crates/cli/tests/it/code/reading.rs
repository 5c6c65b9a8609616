//! `read_code`

use serde_json::{Value, json};

use super::{CART, MONEY, SHOP, Workspace, each, gist, sha256, strings};
use crate::support::{Crib, Engine, both_engines, members};

const READ_MAX: usize = base::limits::CODE_FILE_BYTES_MAX;

both_engines! {
    async fn a_file_has_its_text_digest_size_language_and_version(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let plain = json!({"path": "shop/money.py", "include_semantic_context": false, "include_dependencies": false});
        let found = workspace.ask("read_code", plain).await;
        assert_eq!(members(&found), ["content", "exists", "language", "path", "sha256", "size", "version"]);
        assert_eq!((&found["path"], &found["content"], &found["exists"]), (&json!("shop/money.py"), &json!(MONEY), &json!(true)));
        assert_eq!((&found["language"], &found["size"], &found["version"]), (&json!("python"), &json!(MONEY.len()), &json!(0)));
        assert_eq!(found["sha256"], sha256(MONEY));
        let written = workspace.write("shop/money.py", "x = 1\n").await;
        let found = workspace.read("shop/money.py").await;
        assert_eq!((&found["version"], &found["sha256"]), (&written["version"], &written["sha256"]));
    }

    async fn a_missing_file_does_not_exist(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            for path in ["shop/nothing.py", "nowhere/at/all.py", "shop/money.py/inside"] {
                let found = workspace.ask("read_code", json!({"path": path, "include_history": true})).await;
                assert_eq!((&found["exists"], &found["version"], &found["size"]), (&json!(false), &json!(0), &json!(0)), "{path}");
                assert_eq!((found.get("content"), found.get("sha256")), (None, None), "{found}");
                assert_eq!(found["history"], json!([]));
            }
        }
    }

    async fn binary_large_and_special_files_say_so(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.put("logo.png", b"\x89PNG\r\n\x1a\n\0\0");
        workspace.put("latin.py", b"name = 'caf\xe9'\n");
        workspace.put("large.sql", "x".repeat(READ_MAX + 1));
        let pipe = std::process::Command::new("mkfifo").arg(workspace.root.join("pipe.py")).status().unwrap();
        assert!(pipe.success());
        let sizes = [("logo.png", "binary", 10), ("latin.py", "binary", 14), ("large.sql", "too_large", READ_MAX + 1)];
        for (path, omitted, size) in sizes.into_iter().chain([("pipe.py", "special", 0), ("shop", "folder", 0)]) {
            let found = workspace.ask("read_code", json!({"path": path})).await;
            assert_eq!((&found["exists"], &found["content_omitted"]), (&json!(true), &json!(omitted)), "{path}");
            assert_eq!((found.get("content"), &found["size"]), (None, &json!(size)), "{path}: {found}");
        }
        let fits = "x".repeat(READ_MAX);
        workspace.put("fits.sql", &fits);
        assert_eq!(workspace.read("fits.sql").await["content"], json!(fits));
    }

    async fn history_lists_who_changed_what_and_why(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        let writer = workspace.another_session("builder").await;
        for (number, content) in ["a = 1\n", "a = 1\nb = 2\n", "b = 3\n"].into_iter().enumerate() {
            let arguments = json!({"path": "a.py", "content": content, "reason": format!("reason {number}")});
            writer.call("write_code", arguments).await.result();
        }
        let found = workspace.ask("read_code", json!({"path": "a.py", "include_history": true})).await;
        let history = found["history"].as_array().unwrap();
        assert_eq!(each(&found["history"], "reason"), ["reason 2", "reason 1", "reason 0"]);
        assert_eq!(each(&found["history"], "change_type"), ["update", "update", "create"]);
        assert_eq!(each(&found["history"], "agent"), ["label:builder"; 3]);
        let lines = |version: &Value| (version["lines_added"].as_u64().unwrap(), version["lines_removed"].as_u64().unwrap());
        assert_eq!(history.iter().map(lines).collect::<Vec<_>>(), [(1, 2), (1, 0), (1, 0)]);
        assert_eq!(members(&history[0]), ["agent", "change_type", "id", "lines_added", "lines_removed", "reason", "time"]);
        let two = workspace.ask("read_code", json!({"path": "a.py", "include_history": true, "history_limit": 2})).await;
        assert_eq!(two["history"].as_array().unwrap(), &history[..2]);
        assert_eq!(workspace.read("a.py").await.get("history"), None, "history is on request");
    }

    async fn dependencies_name_files_packages_and_importers(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.indexed().await;
            let found = workspace.read("shop/cart.py").await["dependencies"].clone();
            assert_eq!(members(&found), ["exports", "imported_by", "imports"]);
            assert_eq!(strings(&found["imports"]), ["json", "shop/money.py"]);
            assert_eq!(strings(&found["exports"]), ["Cart"]);
            assert_eq!(strings(&found["imported_by"]), ["shop/checkout.py"]);
            let off = json!({"path": "shop/cart.py", "include_dependencies": false});
            assert_eq!(workspace.ask("read_code", off).await.get("dependencies"), None);
        }
    }

    async fn an_edit_on_disk_is_in_the_next_answer(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        for round in 0..5 {
            let content = format!("import lamp{round}\n{CART}");
            workspace.put("shop/cart.py", &content);
            let found = workspace.read("shop/cart.py").await;
            assert_eq!((&found["content"], &found["sha256"]), (&json!(content), &json!(sha256(&content))));
            let imports = strings(&found["dependencies"]["imports"]);
            assert!(imports.contains(&format!("lamp{round}").as_str()), "round {round}: {imports:?}");
        }
        std::fs::remove_file(workspace.root.join("shop/cart.py")).unwrap();
        assert_eq!(workspace.read("shop/cart.py").await["exists"], false);
    }

    async fn ignored_files_are_read_and_not_indexed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.put(".gitignore", "build/\n");
        workspace.put("build/made.py", "from shop.money import cents\n");
        workspace.git("init -q");
        workspace.indexed().await;
        let found = workspace.read("build/made.py").await;
        assert_eq!((&found["exists"], &found["content"]), (&json!(true), &json!("from shop.money import cents\n")));
        assert_eq!(strings(&workspace.read("shop/money.py").await["dependencies"]["imported_by"]), ["shop/cart.py"]);
    }

    async fn bad_arguments_name_the_parameter(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        for (arguments, parameter) in [
            (json!({}), "path"),
            (json!({"path": ""}), "path"),
            (json!({"path": "a.py", "history_limit": 0}), "history_limit"),
            (json!({"path": "a.py", "semantic_similarity_threshold": 1.5}), "semantic_similarity_threshold"),
        ] {
            let error = workspace.refused("read_code", arguments).await;
            assert_eq!(gist(&error), ("invalid_params", -32602, Some(parameter)), "{error}");
        }
    }
}
