//! Paths that try to leave the root. Every one is refused with -32602, and nothing outside is read or written.

use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::{SHOP, Workspace, gist};
use crate::support::{Crib, Engine, both_engines};

const SECRET: &str = "the combination is 1234";

/// Each tool that takes a path, with the name of the parameter.
fn calls(path: &str) -> [(&'static str, Value, &'static str); 4] {
    [
        ("read_code", json!({"path": path}), "path"),
        ("write_code", json!({"path": path, "content": "x = 1\n", "reason": "r"}), "path"),
        ("analyze_dependencies", json!({"path": path}), "path"),
        ("query_history", json!({"entity_id": path}), "entity_id"),
    ]
}

/// Every file below a folder with its content, to see whether anything has changed.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(contents(&entry.path()));
        } else if kind.is_file() {
            found.push((entry.path().display().to_string(), std::fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

/// A folder outside the root with a secret.
fn outside(crib: &Crib) -> std::path::PathBuf {
    let folder = crib.folder.path().join("outside");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("secret.py"), SECRET).unwrap();
    folder
}

both_engines! {
    async fn paths_that_leave_the_root_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let outside = outside(&crib);
        let before = contents(&outside);
        let absolute = outside.join("secret.py").display().to_string();
        let escapes = [
            absolute.as_str(), "/etc/passwd", "//etc/passwd", "..", "../outside/secret.py", "shop/../../outside/secret.py", "shop/..",
            "./shop/money.py", "shop/./money.py", "shop//money.py", "shop/", "shop/money.py/", ".", "..\\outside\\secret.py",
            "shop\\money.py", "\\\\server\\share", "C:\\secret.py", "C:secret.py", "c:/secret.py", "shop/money.py\0", "shop\n/money.py",
            "shop/\u{1b}[31mmoney.py", "",
        ];
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            let history = workspace.changes(json!({})).await;
            for path in escapes {
                for (tool, arguments, parameter) in calls(path) {
                    let reply = workspace.session.call(tool, arguments).await;
                    assert_eq!(gist(&reply.error()), ("invalid_params", -32602, Some(parameter)), "{tool} {path:?}: {}", reply.text);
                    assert!(!reply.text.contains("1234"), "{tool} {path:?}: {}", reply.text);
                    let folder = outside.to_str().unwrap();
                    assert!(path.contains(folder) || !reply.text.contains(folder), "{tool} {path:?} reveals a path: {}", reply.text);
                }
            }
            let long = ["x".repeat(1_025), "y".repeat(256), format!("{}z", "d/".repeat(64))];
            for path in &long {
                for (tool, arguments, parameter) in calls(path) {
                    let error = workspace.refused(tool, arguments).await;
                    assert_eq!(gist(&error), ("invalid_params", -32602, Some(parameter)), "{tool}: {error}");
                }
            }
            assert_eq!(workspace.changes(json!({})).await, history, "nothing was recorded");
        }
        assert_eq!(contents(&outside), before);
    }

    async fn names_that_some_disk_reads_as_git_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.git("init -q");
        let before = contents(&workspace.root.join(".git"));
        let names = [
            ".git", ".GIT", ".Git", ".gIt", ".git.", ".git ", ".git. .", ".git::$INDEX_ALLOCATION", "git~1", "GIT~1", "git~12",
            ".g\u{200c}it", ".gi\u{200d}t", "\u{feff}.git", ".git\u{206a}", "\u{200e}.\u{200f}g\u{202a}i\u{202e}t",
        ];
        for name in names {
            for path in [format!("{name}/config"), format!("{name}/hooks/pre-commit"), format!("shop/{name}/config"), name.to_owned()] {
                for (tool, arguments, parameter) in calls(&path) {
                    let error = workspace.refused(tool, arguments).await;
                    assert_eq!(gist(&error), ("invalid_params", -32602, Some(parameter)), "{tool} {path:?}: {error}");
                }
            }
        }
        assert_eq!(contents(&workspace.root.join(".git")), before);
        for path in [".github/workflows/ci.yml", ".gitignore", "git/config", "shop.git/x.py", ".gitmodules"] {
            assert_eq!(workspace.write(path, "x: 1\n").await["change_type"], "create", "{path} is no part of git's folder");
        }
    }

    async fn symbolic_links_out_of_the_root_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let outside = outside(&crib);
        let root = &workspace.root;
        workspace.git("init -q");
        let (git, before) = (contents(&root.join(".git")), contents(&outside));
        symlink(outside.join("secret.py"), root.join("file.py")).unwrap();
        symlink(&outside, root.join("folder")).unwrap();
        symlink("../outside", root.join("relative")).unwrap();
        symlink("folder", root.join("twice")).unwrap();
        symlink(outside.join("not-yet.py"), root.join("dangling.py")).unwrap();
        symlink(".git", root.join("innocent")).unwrap();
        for path in ["file.py", "folder/secret.py", "relative/secret.py", "twice/secret.py", "folder/new.py", "innocent/config"] {
            for (tool, arguments, _) in calls(path) {
                let reply = workspace.session.call(tool, arguments).await;
                assert_eq!(reply.error_code(), -32602, "{tool} {path}: {}", reply.text);
                assert!(!reply.text.contains("1234") && !reply.text.contains(outside.to_str().unwrap()), "{tool} {path}: {}", reply.text);
            }
        }
        let dangling = workspace.refused("write_code", json!({"path": "dangling.py", "content": "x = 1\n", "reason": "r"})).await;
        assert_eq!(gist(&dangling).1, -32602, "{dangling}");
        workspace.indexed().await;
        let found = workspace.ask("hybrid_search", json!({"query": "combination 1234 secret"})).await;
        assert!(!found.to_string().contains("1234"), "the index does not follow links out: {found}");
        assert_eq!((contents(&root.join(".git")), contents(&outside)), (git, before));
    }

    async fn links_inside_the_root_lead_to_the_file_itself(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        symlink("shop/money.py", workspace.root.join("link.py")).unwrap();
        symlink("shop", workspace.root.join("linked")).unwrap();
        for path in ["link.py", "linked/money.py"] {
            let found = workspace.read(path).await;
            assert_eq!((&found["path"], &found["exists"]), (&json!("shop/money.py"), &json!(true)), "{path}");
        }
        let written = workspace.write("linked/money.py", "x = 1\n").await;
        assert_eq!(written["path"], "shop/money.py", "the history is kept under the file's own path");
        assert_eq!(workspace.on_disk("shop/money.py"), "x = 1\n");
        assert!(workspace.root.join("link.py").is_symlink() && workspace.root.join("linked").is_symlink(), "links stay links");
        let changes = workspace.changes(json!({"entity_id": "link.py"})).await;
        assert!(changes.iter().any(|change| change["id"] == written["version_id"]), "{changes:?}");
    }

    async fn links_in_circles_are_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        symlink("two.py", workspace.root.join("one.py")).unwrap();
        symlink("one.py", workspace.root.join("two.py")).unwrap();
        symlink(".", workspace.root.join("here")).unwrap();
        symlink("../shop", workspace.root.join("shop/again")).unwrap();
        let error = workspace.refused("read_code", json!({"path": "one.py"})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("path")), "{error}");
        let error = workspace.refused("write_code", json!({"path": "two.py", "content": "", "reason": "r"})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("path")), "{error}");
        let found = workspace.read("here/here/here/shop/again/money.py").await;
        assert_eq!(found["path"], "shop/money.py");
        workspace.indexed().await;
        assert_eq!(workspace.coverage().await["files"], SHOP.len(), "no file is listed twice");
    }

    async fn a_folder_swapped_for_a_link_leads_nowhere(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        let outside = outside(&crib);
        let before = contents(&outside);
        let (place, real) = (workspace.root.join("swapped"), workspace.root.join("real"));
        std::fs::create_dir(&real).unwrap();
        let over = Cell::new(false);
        let write = async || {
            for number in 0..150 {
                let path = format!("swapped/{}.py", ["secret", "new"][number % 2]);
                let arguments = json!({"path": path, "content": format!("x = {number}\n"), "reason": "r"});
                let reply = workspace.session.call("write_code", arguments).await;
                assert!(!reply.text.contains("1234") && !reply.text.contains("\"internal\""), "{}", reply.text);
                let reply = workspace.session.call("read_code", json!({"path": path})).await;
                assert!(!reply.text.contains("1234") && !reply.text.contains("\"internal\""), "{}", reply.text);
            }
            over.set(true);
        };
        // The folder is a link out, then gone, then a real folder, as fast as a disk can do it.
        let swap = async || {
            while !over.get() {
                // A write may have made the folder anew.
                let _gone = std::fs::remove_dir_all(&place);
                if symlink(&outside, &place).is_ok() {
                    tokio::task::yield_now().await;
                    std::fs::remove_file(&place).unwrap();
                }
                tokio::task::yield_now().await;
                if std::fs::rename(&real, &place).is_ok() {
                    tokio::task::yield_now().await;
                    std::fs::rename(&place, &real).unwrap();
                }
            }
        };
        tokio::join!(write(), swap());
        assert_eq!(contents(&outside), before, "nothing outside has changed");
    }
}
