//! `query_history`, page by page.

use std::collections::BTreeSet;

use base::Clock;
use serde_json::{Value, json};

use super::Workspace;
use crate::support::{Crib, Engine, both_engines};

/// The id and the entity of every change, page by page.
async fn all(workspace: &Workspace<'_>, mut arguments: Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    loop {
        let page = workspace.ask("query_history", arguments.clone()).await;
        let changes = page["changes"].as_array().unwrap();
        assert!(changes.len() as u64 <= arguments["limit"].as_u64().unwrap(), "{page}");
        let text = |change: &Value, name: &str| change[name].as_str().unwrap().to_owned();
        found.extend(changes.iter().map(|change| (text(change, "id"), text(change, "entity_id"))));
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return found,
        }
    }
}

both_engines! {
    async fn pages_of_writes_at_the_same_time_have_no_gap_and_no_duplicate(engine: Engine) {
        let clock = Clock::manual(Clock::system().now());
        let crib = Crib::start_with(engine, |config| config.clock = clock.clone()).await;
        for workspace in [Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await] {
            let mut expected = Vec::new();
            for number in 0..30 {
                let path = format!("f{}.py", number % 7);
                let written = workspace.write(&path, &format!("x = {number}\n")).await;
                expected.push((written["version_id"].as_str().unwrap().to_owned(), path));
                // Five writes share each time.
                if number % 5 == 4 {
                    clock.advance_ms(1);
                }
            }
            for limit in [1, 4, 29, 30, 100] {
                let found = all(&workspace, json!({"limit": limit, "include_diff": false})).await;
                assert_eq!(found.len(), expected.len(), "limit {limit}");
                assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected.iter().collect::<BTreeSet<_>>(), "limit {limit}");
            }
            let one = all(&workspace, json!({"limit": 2, "entity_id": "f3.py"})).await;
            let of_three: Vec<_> = expected.iter().filter(|(_, path)| path == "f3.py").cloned().collect();
            assert_eq!(one.iter().collect::<BTreeSet<_>>(), of_three.iter().collect::<BTreeSet<_>>());
        }
    }

    async fn writes_and_commits_are_one_list(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        workspace.git("init -q -b main");
        let mut expected = BTreeSet::new();
        for number in 0..12 {
            let mut paths: Vec<String> = (0..=number % 4).map(|file| format!("d/f{file}.py")).collect();
            for path in &paths {
                workspace.put(path, format!("x = {number}\n"));
            }
            workspace.git("add -A");
            workspace.git(&format!("commit -q -m 'commit {number}'"));
            let commit = workspace.git("rev-parse HEAD");
            expected.extend(paths.drain(..).map(|path| (commit.clone(), path)));
            if number % 3 == 0 {
                let path = format!("w{number}.py");
                let written = workspace.write(&path, "w = 1\n").await;
                expected.insert((written["version_id"].as_str().unwrap().to_owned(), path));
                // The next commit would take it along.
                workspace.put(".git/info/exclude", "w*.py\n");
            }
        }
        for limit in [1, 3, 10, 100] {
            let found = all(&workspace, json!({"limit": limit, "include_diff": false})).await;
            assert_eq!(found.len(), expected.len(), "limit {limit}: no duplicates");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "limit {limit}");
        }
        let of_file = all(&workspace, json!({"limit": 2, "entity_id": "d/f0.py"})).await;
        let expected: BTreeSet<_> = expected.into_iter().filter(|(_, path)| path == "d/f0.py").collect();
        assert_eq!((of_file.len(), of_file.into_iter().collect::<BTreeSet<_>>()), (expected.len(), expected));
    }
}
