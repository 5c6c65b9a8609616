//! `graph_search`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{SHOP, Workspace, each, gist};
use crate::support::{Crib, Engine, both_engines, members};

fn ids(found: &Value) -> BTreeSet<&str> {
    each(&found["nodes"], "id").into_iter().collect()
}

fn depth_of(found: &Value, id: &str) -> Option<u64> {
    found["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).map(|node| node["depth"].as_u64().unwrap())
}

both_engines! {
    async fn each_relationship_is_followed_in_both_directions(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, SHOP).await, Workspace::stored(&crib, SHOP).await] {
            workspace.indexed().await;
            let ask = async |start: &str, relationship: &str, direction: &str| {
                let arguments = json!({"start_nodes": [start], "relationship_types": [relationship], "direction": direction, "max_depth": 1});
                workspace.ask("graph_search", arguments).await
            };
            for (from, relationship, to) in [
                ("shop/cart.py", "imports", "shop/money.py"),
                ("shop/money.py", "exports", "shop/money.py#cents"),
                ("shop/checkout.py#pay", "calls", "shop/mail.py#receipt"),
                ("shop/cart.py#Cart.total", "calls", "shop/money.py#cents"),
                ("shop/checkout.py#GiftCart", "extends", "shop/cart.py#Cart"),
                ("web/square.ts#Square", "implements", "web/shape.ts#Shape"),
            ] {
                for (start, end, direction) in [(from, to, "forward"), (to, from, "backward"), (from, to, "both"), (to, from, "both")] {
                    let found = ask(start, relationship, direction).await;
                    assert_eq!(depth_of(&found, start), Some(0), "{start} {direction}: {found}");
                    // A file stands for its symbols too, so these are starts.
                    let depth = if start == from && relationship == "exports" { 0 } else { 1 };
                    assert_eq!(depth_of(&found, end), Some(depth), "{start} {relationship} {direction}: {found}");
                    let edges = found["edges"].as_array().unwrap();
                    let is_it = |edge: &&Value| edge["from"] == from && edge["to"] == to && edge["relationship"] == relationship;
                    assert_eq!(edges.iter().filter(is_it).count(), 1, "{start} {direction}: {found}");
                    assert!(edges.iter().all(|edge| edge["relationship"] == relationship), "{found}");
                }
                if relationship != "exports" {
                    let against = ask(from, relationship, "backward").await;
                    assert_eq!(depth_of(&against, to), None, "{from} {relationship} backward: {against}");
                }
            }
        }
    }

    async fn nodes_are_files_and_symbols_nearest_first(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let arguments = json!({"start_nodes": ["shop/money.py"], "relationship_types": ["imports"], "direction": "backward"});
        let found = workspace.ask("graph_search", arguments).await;
        assert_eq!(members(&found), ["counters", "coverage", "edges", "engine", "nodes"]);
        assert_eq!(ids(&found), ["shop/money.py", "shop/cart.py", "shop/checkout.py", "shop/mail.py"].into());
        let depths: Vec<_> = found["nodes"].as_array().unwrap().iter().map(|node| node["depth"].as_u64().unwrap()).collect();
        assert_eq!(depths, [0, 1, 2, 3]);
        assert!(found["nodes"].as_array().unwrap().iter().all(|node| node["kind"] == "file" && node["id"] == node["path"]), "{found}");
        let symbol = workspace.ask("graph_search", json!({"start_nodes": ["shop/cart.py#Cart"], "relationship_types": ["extends"]})).await;
        let node = &symbol["nodes"][0];
        assert_eq!((&node["id"], &node["kind"], &node["path"]), (&json!("shop/cart.py#Cart"), &json!("class"), &json!("shop/cart.py")));
        let two = json!({"start_nodes": ["shop/money.py", "web/shape.ts"], "relationship_types": ["imports"], "max_depth": 1});
        assert_eq!(ids(&workspace.ask("graph_search", two).await), ["shop/money.py", "shop/cart.py", "web/shape.ts", "web/square.ts"].into());
    }

    async fn all_algorithms_find_the_same_depths(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        for start in ["shop/money.py", "shop/checkout.py#pay", "web/square.ts"] {
            let ask = async |algorithm: &str| {
                workspace.ask("graph_search", json!({"start_nodes": [start], "algorithm": algorithm})).await
            };
            let expected = workspace.ask("graph_search", json!({"start_nodes": [start]})).await;
            assert!(expected["nodes"].as_array().unwrap().len() > 1, "{expected}");
            for (algorithm, engine) in [("fre", "bfs"), ("dijkstra", "dijkstra"), ("bfs", "bfs")] {
                let found = ask(algorithm).await;
                assert_eq!((&found["nodes"], &found["engine"]), (&expected["nodes"], &json!(engine)), "{start} {algorithm}");
            }
        }
    }

    async fn an_unknown_start_is_named_with_near_names(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        for (start, near) in [
            ("shop/crat.py", "shop/cart.py"),
            ("cart.py", "shop/cart.py"),
            ("shop/cart.py#Carts", "shop/cart.py#Cart"),
            ("shop/cart.py#total", "shop/cart.py#Cart.total"),
        ] {
            let error = workspace.refused("graph_search", json!({"start_nodes": ["shop/money.py", start]})).await;
            assert_eq!((gist(&error).0, gist(&error).1), ("invalid_params", -32602), "{error}");
            let words = error["message"].as_str().unwrap();
            assert!(words.contains(&format!("`{start}`")) && words.contains(&format!("`{near}`")), "{start}: {words}");
        }
        let none = workspace.refused("graph_search", json!({"start_nodes": []})).await;
        assert_eq!(gist(&none), ("invalid_params", -32602, Some("start_nodes")));
        let unlike = workspace.refused("graph_search", json!({"start_nodes": ["zzz/qqq/www.kt"]})).await;
        assert!(unlike["message"].as_str().unwrap().contains("zzz/qqq/www.kt"), "{unlike}");
    }

    async fn nodes_are_paged_without_gaps_or_duplicates(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        workspace.indexed().await;
        let page = async |limit: u32, cursor: Option<&Value>| {
            let mut arguments = json!({"start_nodes": ["shop/checkout.py"], "limit": limit});
            if let Some(cursor) = cursor {
                arguments["cursor"] = cursor.clone();
            }
            workspace.ask("graph_search", arguments).await
        };
        let whole = page(500, None).await;
        assert_eq!(whole.get("next_cursor"), None, "{whole}");
        let (mut nodes, mut edges, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let some = page(3, cursor.as_ref()).await;
            nodes.extend(some["nodes"].as_array().unwrap().clone());
            edges.extend(some["edges"].as_array().unwrap().iter().map(Value::to_string));
            cursor = some.get("next_cursor").cloned();
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(json!(nodes), whole["nodes"]);
        let expected: Vec<String> = whole["edges"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(edges.iter().collect::<BTreeSet<_>>(), expected.iter().collect::<BTreeSet<_>>());
        assert_eq!(edges.len(), expected.len(), "each edge is on one page");
    }
}
