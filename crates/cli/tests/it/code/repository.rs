//! The repository's own history in `query_history`.

use std::collections::BTreeSet;

use serde_json::json;

use super::{MONEY, SHOP, Workspace, each, git_at};
use crate::support::{Crib, Engine, both_engines};

both_engines! {
    async fn commits_are_history_with_author_subject_and_diff(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.git("init -q -b main");
        workspace.git("add -A");
        workspace.git("commit -q -m 'open the shop'");
        workspace.put("shop/money.py", MONEY.replace("100", "1000"));
        workspace.git("commit -q -am 'count tenths of cents'");
        let commit = workspace.git("rev-parse HEAD");
        let changes = workspace.changes(json!({"entity_id": "shop/money.py"})).await;
        assert_eq!(changes.len(), 2, "{changes:?}");
        let newest = &changes[0];
        assert_eq!((&newest["id"], &newest["source"], &newest["change_type"]), (&json!(commit), &json!("git"), &json!("update")));
        assert!(newest["agent_id"].as_str().unwrap().starts_with("Ada"), "{newest}");
        assert_eq!(newest["reason"], "count tenths of cents");
        let diff = newest["diff"].as_str().unwrap();
        assert!(diff.contains("-    return round(amount * 100)\n+    return round(amount * 1000)\n"), "{diff}");
        assert_eq!((&changes[1]["change_type"], &changes[1]["reason"]), (&json!("create"), &json!("open the shop")));
        let symbol = workspace.changes(json!({"entity_id": "shop/money.py#cents"})).await;
        assert_eq!(symbol.len(), 2, "{symbol:?}");
        let untouched = workspace.changes(json!({"entity_id": "shop/cart.py#Cart.total"})).await;
        assert_eq!(untouched.len(), 1, "{untouched:?}");
        let found = workspace.ask("read_code", json!({"path": "shop/money.py", "include_history": true})).await;
        assert_eq!(each(&found["history"], "reason"), ["count tenths of cents", "open the shop"]);
        let all: BTreeSet<_> = workspace.changes(json!({"limit": 100})).await.iter().map(|change| change["entity_id"].to_string()).collect();
        assert_eq!(all.len(), SHOP.len(), "{all:?}");
    }

    async fn renames_moves_and_deletions_are_told_apart(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.git("init -q -b main");
        workspace.git("add -A");
        workspace.git("commit -q -m one");
        workspace.git("mv shop/money.py shop/coins.py");
        workspace.git("commit -q -am two");
        workspace.git("mv shop/coins.py web/coins.py");
        workspace.git("commit -q -am three");
        workspace.git("rm -q web/shape.ts");
        workspace.git("commit -q -am four");
        let changes = workspace.changes(json!({"entity_id": "web/coins.py"})).await;
        let told: Vec<_> = changes.iter().map(|change| (change["change_type"].clone(), change["from"].clone())).collect();
        assert_eq!(
            told,
            [(json!("move"), json!("shop/coins.py")), (json!("rename"), json!("shop/money.py")), (json!("create"), json!(null))],
            "the history follows the file"
        );
        let types = async |kind: &str| {
            let found = workspace.changes(json!({"change_types": [kind]})).await;
            found.iter().map(|change| change["entity_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(types("rename").await, ["shop/coins.py"]);
        assert_eq!(types("move").await, ["web/coins.py"]);
        assert_eq!(types("delete").await, ["web/shape.ts"]);
    }

    async fn times_and_diffs_narrow_commits_too(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.git("init -q -b main");
        for day in 1..=4_u64 {
            workspace.put("a.py", format!("day = {day}\n"));
            workspace.git("add -A");
            git_at(&workspace.root, &format!("commit -q -m 'day {day}'"), 1_760_000_000 + day * 86_400);
        }
        let all = workspace.changes(json!({})).await;
        let (start, end) = (all[2]["time"].clone(), all[0]["time"].clone());
        for entity in [None, Some("a.py")] {
            let mut arguments = json!({"time_range": {"start": start, "end": end}, "include_diff": false});
            if let Some(entity) = entity {
                arguments["entity_id"] = json!(entity);
            }
            let found = workspace.changes(arguments).await;
            let subjects: Vec<_> = found.iter().map(|change| change["reason"].as_str().unwrap()).collect();
            assert!(subjects == ["day 3", "day 2"] || subjects == ["day 4", "day 3", "day 2"], "{entity:?}: {subjects:?}");
            assert!(found.iter().all(|change| change.get("diff").is_none()), "{found:?}");
        }
        let late = workspace.changes(json!({"time_range": {"start": "2099-01-01T00:00:00Z"}})).await;
        assert_eq!(late, Vec::<serde_json::Value>::new());
    }

    async fn commits_of_one_second_are_in_order(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.git("init -q -b main");
        let mut subjects: Vec<String> = (0..8).map(|number| format!("commit {number}")).collect();
        for subject in &subjects {
            workspace.put("a.py", format!("def f():\n    return '{subject}'\n"));
            workspace.git("add -A");
            // As a rebase or a script does.
            git_at(&workspace.root, &format!("commit -q -m '{subject}'"), 1_760_000_000);
        }
        subjects.reverse();
        for entity in ["a.py", "a.py#f"] {
            let changes = workspace.changes(json!({"entity_id": entity, "limit": 100})).await;
            let times: BTreeSet<_> = changes.iter().map(|change| change["time"].to_string()).collect();
            assert_eq!(times.len(), 1, "all commits have one time: {times:?}");
            assert_eq!(changes.iter().map(|change| change["reason"].as_str().unwrap()).collect::<Vec<_>>(), subjects, "{entity}");
        }
    }

    async fn a_root_inside_a_repository_sees_its_own_files_only(engine: Engine) {
        let crib = Crib::start(engine).await;
        let outer = Workspace::new(&crib, SHOP).await;
        outer.git("init -q -b main");
        outer.git("add -A");
        outer.git("commit -q -m one");
        let root = outer.root.join("web");
        let inner = Workspace::at(crib.tenant().await, &root).await;
        let changes = inner.changes(json!({})).await;
        let entities: BTreeSet<_> = changes.iter().map(|change| change["entity_id"].as_str().unwrap()).collect();
        assert_eq!(entities, ["shape.ts", "square.ts"].into(), "paths are relative to the root, and nothing above it is told");
    }
}
