//! Trees that nobody would write by hand: huge, deep, minified, not text, not files.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::{Value, json};

use super::{MONEY, SHOP, Workspace, each, strings};
use crate::support::{Crib, Engine, both_engines, eventually};

const MEGABYTE: usize = 1024 * 1024;

both_engines! {
    async fn a_file_of_fifty_megabytes_stops_nothing(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.put("huge.py", "x = 1\n".repeat(50 * MEGABYTE / 6));
        workspace.indexed().await;
        let found = workspace.ask("read_code", json!({"path": "huge.py"})).await;
        assert_eq!((&found["exists"], &found["content_omitted"]), (&json!(true), &json!("too_large")));
        assert!(found["size"].as_u64() > Some(49 * MEGABYTE as u64) && found.get("content").is_none(), "{found}");
        assert_eq!(strings(&workspace.read("shop/money.py").await["dependencies"]["imported_by"]), ["shop/cart.py"]);
        // It can be replaced, and its history says that it changed.
        assert_eq!(workspace.write("huge.py", "x = 1\n").await["change_type"], "update");
        assert_eq!(workspace.read("huge.py").await["content"], "x = 1\n");
        assert!(!workspace.changes(json!({"entity_id": "huge.py"})).await.is_empty());
    }

    async fn minified_and_deep_files_are_indexed_within_bounds(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let statements: String = (0..60_000).map(|number| format!("function f{number}(a){{return a+{number}}};")).collect();
        workspace.put("dist/app.min.js", &statements);
        let deep = 50_000;
        workspace.put("deep.js", format!("var x = {}1{};\n", "[".repeat(deep), "]".repeat(deep)));
        workspace.put("deep.py", format!("x = {}1{}\n", "(".repeat(deep), ")".repeat(deep)));
        workspace.put("nested.py", (0..2_000).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<String>());
        let folders: String = (0..60).map(|number| format!("d{number}/")).collect();
        workspace.put(&format!("{folders}end.py"), "lantern = 1\n");
        workspace.indexed().await;
        let found = workspace.ask("hybrid_search", json!({"query": "lantern", "search_types": []})).await;
        assert_eq!(each(&found["results"], "path"), [format!("{folders}end.py")]);
        for path in ["dist/app.min.js", "deep.js", "deep.py", "nested.py"] {
            let found = workspace.ask("read_code", json!({"path": path})).await;
            assert_eq!(found["exists"], true, "{path}");
        }
        let hits = workspace.session.call("hybrid_search", json!({"query": "f59999", "search_types": []})).await;
        assert!(hits.text.len() < MEGABYTE, "snippets are short: {} bytes", hits.text.len());
        // Deep text can be written too, or is refused in words.
        let deep = format!("x = {}1{}\n", "(".repeat(deep), ")".repeat(deep));
        let reply = workspace.session.call("write_code", json!({"path": "deeper.py", "content": deep, "reason": "r"})).await;
        assert!(!reply.text.contains("-32603"), "{}", reply.text);
    }

    async fn bytes_that_are_no_text_and_names_that_are_no_text(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.put("latin.py", b"# caf\xe9\ndef lantern():\n    return 1\n");
        workspace.put("utf16.py", "def harpoon(): pass".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
        workspace.put("bom.py", "\u{feff}def whale():\n    return 1\n");
        workspace.put("nul.py", "def f():\n    return '\0'\n");
        let odd = std::ffi::OsStr::from_bytes(b"bad\xff.py");
        std::fs::write(workspace.root.join(odd), "x = 1\n").unwrap();
        workspace.put("new\nline.py", "x = 1\n");
        workspace.put("Übung/日本語 file.py", "def sakura():\n    return 1\n");
        workspace.indexed().await;
        assert_eq!(workspace.read("latin.py").await["content_omitted"], "binary");
        assert_eq!(workspace.read("nul.py").await["content_omitted"], "binary");
        assert_eq!(workspace.read("bom.py").await["content"], "\u{feff}def whale():\n    return 1\n");
        let found = workspace.ask("hybrid_search", json!({"query": "sakura", "search_types": []})).await;
        assert_eq!(each(&found["results"], "path"), ["Übung/日本語 file.py"]);
        assert_eq!(workspace.write("latin.py", "lantern = 1\n").await["change_type"], "update", "a binary file can be replaced");
    }

    async fn pipes_sockets_and_devices_block_nobody(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let made = std::process::Command::new("mkfifo").arg(workspace.root.join("pipe.py")).status().unwrap();
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(workspace.root.join("socket.py")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", workspace.root.join("zero.py")).unwrap();
        workspace.indexed().await;
        for path in ["pipe.py", "socket.py"] {
            assert_eq!(workspace.read(path).await["content_omitted"], "special", "{path}");
            let error = workspace.refused("write_code", json!({"path": path, "content": "x = 1\n", "reason": "r"})).await;
            assert_eq!(error["code"], -32602, "{path}: {error}");
        }
        assert_eq!(workspace.session.call("read_code", json!({"path": "zero.py"})).await.error_code(), -32602);
        assert_eq!(workspace.coverage().await["files"], SHOP.len(), "only files are listed");
    }

    async fn two_thousand_files_are_indexed_to_the_end(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        for number in 0..2_000 {
            let before = if number == 0 { String::new() } else { format!("from pack{}.m{} import f{}\n\n\n", (number - 1) / 100, number - 1, number - 1) };
            workspace.put(&format!("pack{}/m{number}.py", number / 100), format!("{before}def f{number}():\n    return {number}\n"));
        }
        workspace.indexed().await;
        let coverage = workspace.coverage().await;
        assert_eq!((&coverage["files"], &coverage["indexed"], &coverage["failed"]), (&json!(2_000), &json!(2_000), &json!(0)));
        let found = workspace.ask("analyze_dependencies", json!({"path": "pack0/m0.py", "analysis_type": "impact", "max_depth": 3})).await;
        assert_eq!(each(&found["impact"], "path"), ["pack0/m1.py", "pack0/m2.py", "pack0/m3.py"]);
        for number in [0, 777, 1_999] {
            let hits = workspace.ask("hybrid_search", json!({"query": format!("f{number}"), "search_types": []})).await;
            assert_eq!(each(&hits["results"], "path")[0], format!("pack{}/m{number}.py", number / 100));
        }
        let context = workspace.ask("get_context", json!({"context_types": ["project"]})).await;
        assert_eq!((&context["project"]["files"], &context["project"]["imports"]), (&json!(2_000), &json!(1_999)));
    }

    async fn files_that_appear_and_vanish_are_followed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let imported_by = async || -> Value { workspace.read("shop/money.py").await["dependencies"]["imported_by"].clone() };
        workspace.put("fresh/new.py", "from shop.money import cents\n");
        eventually("a new folder is noticed", async || imported_by().await == json!(["fresh/new.py", "shop/cart.py"])).await;
        std::fs::rename(workspace.root.join("fresh"), workspace.root.join("moved")).unwrap();
        eventually("a moved folder is noticed", async || imported_by().await == json!(["moved/new.py", "shop/cart.py"])).await;
        std::fs::remove_dir_all(workspace.root.join("moved")).unwrap();
        eventually("a removed folder is noticed", async || imported_by().await == json!(["shop/cart.py"])).await;
        // An editor that saves by renaming.
        workspace.put("shop/cart.py.swp", "from shop.mail import receipt\n");
        std::fs::rename(workspace.root.join("shop/cart.py.swp"), workspace.root.join("shop/cart.py")).unwrap();
        eventually("a replaced file is noticed", async || imported_by().await == json!([])).await;
        assert_eq!(workspace.read("shop/money.py").await["content"], MONEY);
    }
}
