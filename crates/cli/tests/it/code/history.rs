//! `query_history` of files and symbols.

use base::Clock;
use serde_json::{Value, json};

use super::{Workspace, gist};
use crate::support::{Crib, Engine, both_engines, members};

/// A crib whose clock stands still, so that times are known.
async fn crib_at(engine: Engine) -> (Crib, Clock) {
    let clock = Clock::manual(Clock::system().now());
    (Crib::start_with(engine, |config| config.clock = clock.clone()).await, clock)
}

/// The entity and the type of each change.
fn told(changes: &[Value]) -> Vec<(&str, &str)> {
    changes.iter().map(|change| (change["entity_id"].as_str().unwrap(), change["change_type"].as_str().unwrap())).collect()
}

both_engines! {
    async fn changes_of_a_file_and_of_the_project_are_listed_newest_first(engine: Engine) {
        let (crib, clock) = crib_at(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            for (path, content) in [("a.py", "a = 1\n"), ("b.py", "b = 1\n"), ("a.py", "a = 2\n"), ("a.py", "a = 3\n")] {
                workspace.write(path, content).await;
                clock.advance_ms(1_000);
            }
            let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
            assert_eq!(told(&changes), [("a.py", "update"), ("a.py", "update"), ("a.py", "create")]);
            let expected = ["agent_id", "change_type", "diff", "entity_id", "id", "reason", "session_id", "source", "time"];
            assert_eq!(members(&changes[0]), expected);
            let all = workspace.changes(json!({})).await;
            assert_eq!(told(&all), [("a.py", "update"), ("a.py", "update"), ("b.py", "create"), ("a.py", "create")]);
            let times: Vec<_> = all.iter().map(|change| change["time"].as_str().unwrap()).collect();
            assert!(times.is_sorted_by(|one, other| one > other), "{times:?}");
            assert!(all.iter().all(|change| change["session_id"] == workspace.session.id), "{all:?}");
        }
    }

    async fn diffs_are_unified_and_can_be_left_out(engine: Engine) {
        let (crib, _) = crib_at(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.write("a.py", "one = 1\ntwo = 2\nthree = 3\n").await;
        workspace.write("a.py", "one = 1\ntwo = 'zwei'\nthree = 3\n").await;
        let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
        let diff = changes[0]["diff"].as_str().unwrap();
        assert!(diff.contains("@@ -1,3 +1,3 @@") && diff.contains("\n-two = 2\n+two = 'zwei'\n"), "{diff}");
        assert!(changes[1]["diff"].as_str().unwrap().contains("+one = 1\n+two = 2\n"), "{changes:?}");
        let without = workspace.changes(json!({"entity_id": "a.py", "include_diff": false})).await;
        assert_eq!(without.len(), 2);
        assert!(without.iter().all(|change| change.get("diff").is_none()), "{without:?}");
    }

    async fn a_symbol_has_its_own_changes(engine: Engine) {
        let (crib, clock) = crib_at(engine).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let text = |one: u32, two: Option<u32>| {
                let two = two.map_or(String::new(), |two| format!("\n    def two(self):\n        return {two}\n"));
                format!("class A:\n    def one(self):\n        return {one}\n{two}")
            };
            for (one, two) in [(1, None), (1, Some(1)), (2, Some(1)), (2, Some(2)), (2, None)] {
                workspace.write("a.py", &text(one, two)).await;
                clock.advance_ms(1_000);
            }
            let of_one = workspace.changes(json!({"entity_id": "a.py#A.one"})).await;
            assert_eq!(told(&of_one), [("a.py#A.one", "update"), ("a.py#A.one", "create")]);
            let of_two = workspace.changes(json!({"entity_id": "a.py#A.two"})).await;
            assert_eq!(told(&of_two), [("a.py#A.two", "delete"), ("a.py#A.two", "update"), ("a.py#A.two", "create")]);
            assert_eq!(workspace.changes(json!({"entity_id": "a.py#A"})).await.len(), 5);
            let updates = workspace.changes(json!({"entity_id": "a.py#A.two", "change_types": ["update"]})).await;
            assert_eq!(told(&updates), [("a.py#A.two", "update")], "the type is that of the symbol's change");
        }
    }

    async fn a_symbol_with_many_changes_is_paged_to_the_end(engine: Engine) {
        let (crib, clock) = crib_at(engine).await;
        let workspace = Workspace::stored(&crib, &[]).await;
        for number in 0..150 {
            // Every third write changes the symbol.
            workspace.write("a.py", &format!("def f():\n    return {}\n\n\nx = {number}\n", number / 3)).await;
            clock.advance_ms(1_000);
        }
        let (mut found, mut arguments) = (Vec::new(), json!({"entity_id": "a.py#f", "limit": 7}));
        loop {
            let page = workspace.ask("query_history", arguments.clone()).await;
            found.extend(page["changes"].as_array().unwrap().clone());
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        let types: Vec<_> = found.iter().map(|change| change["change_type"].as_str().unwrap()).collect();
        assert_eq!((types.len(), types.iter().filter(|kind| **kind == "create").count()), (50, 1), "{types:?}");
        assert_eq!(types.last(), Some(&"create"));
    }

    async fn types_and_times_narrow_the_list(engine: Engine) {
        let (crib, clock) = crib_at(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        for content in ["a = 1\n", "a = 2\n", "a = 3\n"] {
            workspace.write("a.py", content).await;
            clock.advance_ms(60_000);
        }
        workspace.write("b.py", "b = 1\n").await;
        let all = workspace.changes(json!({})).await;
        let time = |place: usize| all[place]["time"].clone();
        let ids = |changes: &[Value]| changes.iter().map(|change| change["id"].clone()).collect::<Vec<_>>();
        let of = async |arguments: Value| ids(&workspace.changes(arguments).await);
        assert_eq!(of(json!({"change_types": ["create"]})).await, ids(&[all[0].clone(), all[3].clone()]));
        assert_eq!(of(json!({"change_types": ["update"]})).await, ids(&all[1..3]));
        assert_eq!(of(json!({"change_types": ["create", "update"]})).await, ids(&all));
        assert_eq!(of(json!({"change_types": ["delete", "move", "rename"]})).await, Vec::<Value>::new());
        assert_eq!(of(json!({"time_range": {"start": time(1)}})).await, ids(&all[..2]), "from the start on");
        let until = of(json!({"time_range": {"end": time(1)}})).await;
        assert!(until.ends_with(&ids(&all[2..])) && !until.contains(&all[0]["id"]), "{until:?}");
        assert_eq!(of(json!({"time_range": {"start": time(2), "end": time(1)}, "change_types": ["create"]})).await, Vec::<Value>::new());
        for (arguments, parameter) in [
            (json!({"time_range": {"start": "yesterday"}}), "time_range.start"),
            (json!({"time_range": {"end": "2026-13-01T00:00:00Z"}}), "time_range.end"),
            (json!({"change_types": ["renamed"]}), "change_types[0]"),
            (json!({"limit": 0}), "limit"),
            (json!({"cursor": "x"}), "cursor"),
            (json!({"entity_id": "../a.py"}), "entity_id"),
        ] {
            let error = workspace.refused("query_history", arguments).await;
            assert_eq!(gist(&error), ("invalid_params", -32602, Some(parameter)), "{error}");
        }
    }

    async fn edits_by_others_are_recorded_as_disk(engine: Engine) {
        let (crib, clock) = crib_at(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.write("a.py", "a = 1\n").await;
        clock.advance_ms(1_000);
        workspace.put("a.py", "a = 'by hand'\n");
        assert_eq!(workspace.read("a.py").await["version"], 2, "a read notices it");
        clock.advance_ms(1_000);
        workspace.put("a.py", "a = 'by hand again'\n");
        // A write notices what it replaces.
        assert_eq!(workspace.write("a.py", "a = 2\n").await["version"], 4);
        let changes = workspace.changes(json!({"entity_id": "a.py"})).await;
        let sources: Vec<_> = changes.iter().map(|change| change["source"].as_str().unwrap()).collect();
        assert_eq!(sources, ["toolcrib", "disk", "disk", "toolcrib"]);
        assert!(changes[2]["diff"].as_str().unwrap().contains("-a = 1\n+a = 'by hand'"), "{changes:?}");
        assert_eq!((&changes[2]["agent_id"], changes[2].get("session_id")), (&json!("disk"), None));
    }
}
