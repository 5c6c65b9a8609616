//! `analyze_dependencies`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{SHOP, Workspace, each, gist, strings};
use crate::support::{Crib, Engine, both_engines, members};

/// The edges as `from relationship to (resolution)`.
fn edges(found: &Value) -> BTreeSet<String> {
    let edges = found["edges"].as_array().unwrap().iter();
    let text = |edge: &Value, name: &str| edge[name].as_str().unwrap().to_owned();
    edges
        .map(|edge| {
            let (from, to) = (text(edge, "from"), text(edge, "to"));
            format!("{from} {} {to} ({})", text(edge, "relationship"), text(edge, "resolution"))
        })
        .collect()
}

fn distances(impact: &Value) -> Vec<(&str, u64)> {
    impact.as_array().unwrap().iter().map(|far| (far["path"].as_str().unwrap(), far["distance"].as_u64().unwrap())).collect()
}

both_engines! {
    async fn each_analysis_answers_its_part(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.indexed().await;
            let analyze = async |analysis: &str| {
                workspace.ask("analyze_dependencies", json!({"path": "shop/checkout.py", "analysis_type": analysis})).await
            };
            let always = ["counters", "coverage", "edge_count", "edges", "engine", "path"];
            for (analysis, part) in [("imports", "imports"), ("exports", "exports"), ("circular", "circular"), ("impact", "impact")] {
                let mut expected = [&always[..], &[part]].concat();
                expected.sort_unstable();
                assert_eq!(members(&analyze(analysis).await), expected);
            }
            let full = analyze("full").await;
            let mut expected = [&always[..], &["imports", "exports", "circular", "impact"]].concat();
            expected.sort_unstable();
            assert_eq!(members(&full), expected);
            assert_eq!(full["path"], "shop/checkout.py");
            assert_eq!(strings(&full["imports"]), ["shop/cart.py", "shop/mail.py", "shop/money.py"], "nearest first");
            assert_eq!(strings(&full["exports"]), ["GiftCart", "pay"]);
            assert_eq!(distances(&full["impact"]), [("shop/mail.py", 1)]);
            assert_eq!(full["edge_count"], edges(&full).len());
            let default = workspace.ask("analyze_dependencies", json!({"path": "shop/checkout.py"})).await;
            assert_eq!(members(&default), members(&full), "`full` is the default");
        }
    }

    async fn cycles_are_groups_that_reach_each_other(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let circular = async |path: &str| {
            let found = workspace.ask("analyze_dependencies", json!({"path": path, "analysis_type": "circular"})).await["circular"].clone();
            let groups = found.as_array().unwrap().iter().map(|group| strings(group).into_iter().map(str::to_owned).collect::<BTreeSet<_>>());
            groups.collect::<Vec<_>>()
        };
        let pair: BTreeSet<String> = ["shop/checkout.py", "shop/mail.py"].map(str::to_owned).into();
        assert_eq!(circular("shop/mail.py").await, std::slice::from_ref(&pair));
        assert_eq!(circular("shop/money.py").await, []);
        workspace.write("shop/money.py", "from shop import checkout\n\n\ndef cents(amount):\n    return amount\n").await;
        let all = ["shop/cart.py", "shop/checkout.py", "shop/mail.py", "shop/money.py"].map(str::to_owned).into();
        assert_eq!(circular("shop/money.py").await, [all]);
        workspace.write("shop/money.py", "def cents(amount):\n    return amount\n").await;
        assert_eq!(circular("shop/mail.py").await, [pair]);
    }

    async fn impact_counts_imports_and_stops_at_the_depth(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let impact = async |depth: u32| {
            let arguments = json!({"path": "shop/money.py", "analysis_type": "impact", "max_depth": depth});
            workspace.ask("analyze_dependencies", arguments).await
        };
        let all = [("shop/cart.py", 1), ("shop/checkout.py", 2), ("shop/mail.py", 3)];
        for depth in 1..=5 {
            assert_eq!(distances(&impact(depth).await["impact"]), all[..(depth as usize).min(3)]);
        }
        let expected = [
            "shop/cart.py imports shop/money.py (exact)",
            "shop/checkout.py imports shop/cart.py (exact)",
            "shop/mail.py imports shop/checkout.py (exact)",
        ];
        let found = edges(&impact(5).await);
        assert!(expected.iter().all(|edge| found.contains(*edge)), "{found:?}");
    }

    async fn packages_are_nodes_only_on_request(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.put("shop/lost.py", "from shop import nowhere_at_all\nfrom .gone import lamp\n");
        workspace.indexed().await;
        let imports = async |path: &str, external: bool| {
            let arguments = json!({"path": path, "analysis_type": "imports", "include_external": external, "max_depth": 1});
            workspace.ask("analyze_dependencies", arguments).await
        };
        let without = imports("shop/cart.py", false).await;
        assert_eq!(strings(&without["imports"]), ["shop/money.py"]);
        assert_eq!(edges(&without), BTreeSet::from(["shop/cart.py imports shop/money.py (exact)".to_owned()]));
        let with = imports("shop/cart.py", true).await;
        assert_eq!(strings(&with["imports"]).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(["json", "shop/money.py"]));
        assert!(edges(&with).contains("shop/cart.py imports json (external)"), "{with}");
        let lost = edges(&imports("shop/lost.py", false).await);
        assert!(lost.iter().any(|edge| edge.ends_with("(unresolved)")), "{lost:?}");
        assert!(lost.iter().all(|edge| !edge.ends_with("(external)")), "{lost:?}");
    }

    async fn all_algorithms_find_the_same_distances(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        // A ladder with shortcuts, so that the first way to a file is not the shortest one.
        for number in 0..40 {
            let ahead = [number + 1, number + 7].map(|next| format!("import m{next}\n")).concat();
            workspace.put(&format!("m{number}.py"), ahead);
        }
        workspace.indexed().await;
        let ask = async |path: &str, algorithm: Option<&str>| {
            let mut arguments = json!({"path": path, "analysis_type": "impact", "max_depth": 12});
            if let Some(algorithm) = algorithm {
                arguments["algorithm"] = json!(algorithm);
            }
            workspace.ask("analyze_dependencies", arguments).await
        };
        for path in ["m39.py", "m20.py", "shop/money.py"] {
            let expected = ask(path, None).await;
            assert!(!expected["impact"].as_array().unwrap().is_empty());
            for (algorithm, engine) in [("fre", "bfs"), ("dijkstra", "dijkstra"), ("dfs", "dfs")] {
                let found = ask(path, Some(algorithm)).await;
                assert_eq!((&found["impact"], &found["engine"]), (&expected["impact"], &json!(engine)), "{algorithm}");
                assert!(found["counters"]["nodes_visited"].as_u64().unwrap() > 0, "{found}");
            }
        }
        let far = ask("m39.py", None).await;
        let m4 = distances(&far["impact"]).into_iter().find(|(path, _)| *path == "m4.py");
        assert_eq!(m4, Some(("m4.py", 5)), "35 files ahead are five jumps");
    }

    async fn edges_are_paged_without_gaps(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let page = async |limit: u32, cursor: Option<&Value>| {
            let mut arguments = json!({"path": "shop/money.py", "limit": limit});
            if let Some(cursor) = cursor {
                arguments["cursor"] = cursor.clone();
            }
            workspace.ask("analyze_dependencies", arguments).await
        };
        let whole = page(1_000, None).await;
        assert_eq!(whole.get("next_cursor"), None);
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let some = page(2, cursor.as_ref()).await;
            assert_eq!(some["edge_count"], whole["edge_count"]);
            found.extend(some["edges"].as_array().unwrap().clone());
            cursor = some.get("next_cursor").cloned();
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(json!(found), whole["edges"]);
        let error = workspace.refused("analyze_dependencies", json!({"path": "shop/money.py", "cursor": "nonsense"})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("cursor")));
    }

    async fn a_missing_file_is_not_found(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let error = workspace.refused("analyze_dependencies", json!({"path": "shop/mony.py"})).await;
        assert_eq!((gist(&error).0, gist(&error).1), ("not_found", -32000), "{error}");
        assert!(error["message"].as_str().unwrap().contains("shop/money.py"), "a near name is offered: {error}");
        let error = workspace.refused("analyze_dependencies", json!({"path": "../mony.py"})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("path")));
        let all = workspace.ask("analyze_dependencies", json!({"path": "web/square.ts"})).await;
        assert_eq!(strings(&all["imports"]), ["web/shape.ts"]);
        assert_eq!(each(&all["impact"], "path"), [""; 0]);
    }
}
