//! `hybrid_search`

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::meaning::TOPICS;
use super::{SHOP, Workspace, each, gist};
use crate::support::{Crib, Engine, both_engines, members};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn ask(workspace: &Workspace<'_>, query: &str, types: &[&str]) -> Value {
    workspace.ask("hybrid_search", json!({"query": query, "search_types": types, "semantic_threshold": 0})).await
}

fn signal(hit: &Value, name: &str) -> f64 {
    hit["signals"][name].as_f64().unwrap()
}

/// Sets the time of a file's last change on disk.
fn set_changed(workspace: &Workspace<'_>, path: &str, ago: Duration) {
    let file = std::fs::File::options().write(true).open(workspace.root.join(path)).unwrap();
    let now = u64::try_from(base::Clock::system().now().ms()).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(now) - ago).unwrap();
}

both_engines! {
    async fn hits_have_their_place_and_the_parts_of_their_score(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.embedded().await;
            let found = workspace.ask("hybrid_search", json!({"query": "receipt"})).await;
            assert_eq!(members(&found), ["coverage", "results"]);
            let first = &found["results"][0];
            assert_eq!((&first["path"], &first["symbol"]), (&json!("shop/mail.py"), &json!("receipt")), "{found}");
            assert_eq!((&first["start_line"], &first["end_line"]), (&json!(5), &json!(6)), "{found}");
            assert!(first["snippet"].as_str().unwrap().starts_with("def receipt(cart):\n"), "{first}");
            for hit in found["results"].as_array().unwrap() {
                let parts = ["keyword", "identifier", "semantic", "graph", "dependency", "temporal"];
                let sum: f64 = parts.iter().map(|part| signal(hit, part)).sum();
                assert!((sum - hit["score"].as_f64().unwrap()).abs() < 1e-3, "the signals add up to the score: {hit}");
            }
            let coverage = members(&found["coverage"]);
            assert_eq!(coverage, ["complete", "embedded", "failed", "files", "fresh", "indexed", "passages"]);
            assert_eq!((&found["coverage"]["files"], &found["coverage"]["indexed"]), (&json!(SHOP.len()), &json!(SHOP.len())));
        }
    }

    async fn each_search_type_adds_its_signal_and_no_other(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.embedded().await;
        for (kind, others) in [
            ("semantic", ["graph", "dependency", "temporal"]),
            ("graph", ["semantic", "dependency", "temporal"]),
            ("dependency", ["semantic", "graph", "temporal"]),
            ("temporal", ["semantic", "graph", "dependency"]),
        ] {
            let found = ask(&workspace, "cart total receipt", &[kind]).await;
            let hits = found["results"].as_array().unwrap();
            assert!(hits.iter().any(|hit| signal(hit, kind) > 0.0), "{kind}: {found}");
            assert!(hits.iter().all(|hit| others.iter().all(|other| signal(hit, other) == 0.0)), "{kind}: {found}");
        }
        let words = ask(&workspace, "receipt", &[]).await;
        assert_eq!(each(&words["results"], "path")[0], "shop/mail.py", "keywords always count");
        let none = ask(&workspace, "xylophone", &[]).await;
        assert_eq!(none["results"], json!([]));
    }

    async fn meaning_is_found_only_above_the_threshold(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, TOPICS).await;
        workspace.embedded().await;
        // No word of the question is in the file.
        let ask = async |threshold: f64| {
            let arguments = json!({"query": "authentication", "search_types": ["semantic"], "semantic_threshold": threshold});
            workspace.ask("hybrid_search", arguments).await
        };
        let low = ask(0.0).await;
        let first = &low["results"][0];
        assert_eq!((&first["path"], signal(first, "keyword")), (&json!("accounts/sign_in.py"), 0.0), "{low}");
        let similarity = signal(first, "similarity");
        assert!((0.0..=1.0).contains(&similarity) && first["signals"]["cosine"].is_number(), "{first}");
        for threshold in [0.2, 0.5, 0.8] {
            let found = ask(threshold).await;
            let hits = found["results"].as_array().unwrap();
            assert!(hits.iter().all(|hit| signal(hit, "similarity") >= threshold - 1e-4), "{threshold}: {found}");
            assert_eq!(hits.is_empty(), similarity < threshold, "{threshold}: {found}");
        }
    }

    async fn time_range_keeps_files_that_changed_within_it(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        for (path, days) in [("old.py", 30), ("week.py", 3), ("new.py", 0)] {
            workspace.put(path, "def lantern():\n    return 1\n");
            set_changed(&workspace, path, DAY * days);
        }
        workspace.indexed().await;
        for (range, expected) in [
            (None, &["new.py", "old.py", "week.py"][..]),
            (Some("15m"), &["new.py"]),
            (Some("1h"), &["new.py"]),
            (Some("1w"), &["new.py", "week.py"]),
            (Some("60d"), &["new.py", "old.py", "week.py"]),
        ] {
            let mut arguments = json!({"query": "lantern", "search_types": ["temporal"]});
            if let Some(range) = range {
                arguments["time_range"] = json!(range);
            }
            let found = workspace.ask("hybrid_search", arguments).await;
            let mut paths = each(&found["results"], "path");
            if range.is_none() {
                assert_eq!(paths[0], "new.py", "a recent change counts: {found}");
            }
            paths.sort_unstable();
            assert_eq!(paths, expected, "{range:?}");
        }
        workspace.write("old.py", "def lantern():\n    return 2\n").await;
        let found = workspace.ask("hybrid_search", json!({"query": "lantern", "time_range": "1h"})).await;
        assert!(each(&found["results"], "path").contains(&"old.py"), "a write is a change: {found}");
        let error = workspace.refused("hybrid_search", json!({"query": "q", "time_range": "yesterday"})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("time_range")));
    }

    async fn results_are_paged(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[]).await;
        for number in 0..25 {
            workspace.put(&format!("lamp{number}.py"), format!("def lamp_{number}():\n    return 'lantern {number}'\n"));
        }
        workspace.embedded().await;
        let mut arguments = json!({"query": "lantern", "max_results": 4, "search_types": []});
        let mut found = Vec::new();
        loop {
            let some = workspace.ask("hybrid_search", arguments.clone()).await;
            assert!(some["results"].as_array().unwrap().len() <= 4);
            found.extend(each(&some["results"], "path").into_iter().map(str::to_owned));
            match some.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        found.sort_unstable();
        let mut expected: Vec<String> = (0..25).map(|number| format!("lamp{number}.py")).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    async fn text_files_without_a_grammar_are_found(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, &[("README.md", "# The lantern\n\nIt burns whale oil.\n"), ("notes.xyz", "harpoon\n")]).await;
        workspace.indexed().await;
        for (query, path) in [("whale oil", "README.md"), ("harpoon", "notes.xyz")] {
            assert_eq!(each(&ask(&workspace, query, &[]).await["results"], "path"), [path], "{query}");
        }
    }
}
