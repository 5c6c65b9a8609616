//! Edits by others, in the history of files that it follows.

use serde_json::{Value, json};

use super::Workspace;
use crate::support::{Crib, Engine, both_engines};

fn sources(changes: &[Value]) -> Vec<(&str, &str)> {
    changes.iter().map(|change| (change["source"].as_str().unwrap(), change["change_type"].as_str().unwrap())).collect()
}

both_engines! {
    async fn history_has_an_edit_on_disk_that_nobody_read(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.write("a.py", "a = 1\n").await;
        workspace.put("a.py", "a = 'by hand'\n");
        let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
        assert_eq!(sources(&changes), [("disk", "update"), ("toolcrib", "create")]);
        assert!(changes[0]["diff"].as_str().unwrap().contains("-a = 1\n+a = 'by hand'"), "{changes:?}");
    }

    async fn history_has_a_deletion_on_disk(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.write("a.py", "a = 1\n").await;
        std::fs::remove_file(workspace.root.join("a.py")).unwrap();
        assert_eq!(workspace.read("a.py").await["exists"], false);
        let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
        assert_eq!(sources(&changes), [("disk", "delete"), ("toolcrib", "create")]);
        let again = workspace.write("a.py", "a = 2\n").await;
        assert_eq!((&again["change_type"], &again["version"]), (&json!("create"), &json!(3)));
    }
}
