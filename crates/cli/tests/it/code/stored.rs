//! A project without a root keeps its files in the store.

use serde_json::{Value, json};

use super::{SHOP, Workspace, answer, each, strings};
use crate::support::{Crib, Engine, Session, both_engines, eventually};

async fn lists(session: &Session<'_>, tool: &str) -> bool {
    let listed = session.rpc(&crate::support::request(1, "tools/list", json!({}))).await.result();
    listed["tools"].as_array().unwrap().iter().any(|listed| listed["name"] == tool)
}

both_engines! {
    async fn files_in_the_store_work_like_files_on_disk(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (disk, rows) = (Workspace::new(&crib, &[]).await, Workspace::stored(&crib, &[]).await);
        let mut answers: Vec<Vec<Value>> = Vec::new();
        for workspace in [&disk, &rows] {
            for (path, content) in SHOP {
                workspace.write(path, content).await;
            }
            workspace.indexed().await;
            let mut found = Vec::new();
            for (tool, arguments) in [
                ("read_code", json!({"path": "shop/cart.py", "include_semantic_context": false})),
                ("analyze_dependencies", json!({"path": "shop/money.py"})),
                ("graph_search", json!({"start_nodes": ["shop/checkout.py"]})),
                ("hybrid_search", json!({"query": "receipt", "search_types": []})),
            ] {
                let mut answer = workspace.ask(tool, arguments).await;
                // Vectors come later, and the time of a walk differs.
                answer.as_object_mut().unwrap().remove("coverage");
                if let Some(counters) = answer.get_mut("counters") {
                    counters.as_object_mut().unwrap().remove("engine_us");
                }
                found.push(answer);
            }
            answers.push(found);
            let paths: Vec<_> = workspace.changes(json!({"limit": 100})).await.iter().map(|change| change["entity_id"].clone()).collect();
            let newest_first: Vec<_> = SHOP.iter().rev().map(|(path, _)| json!(path)).collect();
            assert_eq!(paths, newest_first);
        }
        assert_eq!(answers[0], answers[1]);
    }

    async fn files_survive_a_restart(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::stored(&crib, SHOP).await;
        let (org, key, project) = (workspace.tenant.org.clone(), workspace.tenant.key.clone(), workspace.project.clone());
        let url = crib.database_url();
        let master = std::fs::read_to_string(crib.folder.path().join("data/master.key")).unwrap();
        let folder = crib.stop_and_keep().await;
        let crib = Crib::start_in(folder, Engine::Sqlite, |config| {
            config.database_url = url;
            config.master_key = server::MasterKeySource::Given(master.trim().to_owned());
        })
        .await;
        let tenant = crate::support::Tenant { crib: &crib, org, key, project };
        let session = tenant.session().await;
        assert!(lists(&session, "read_code").await);
        for (path, content) in SHOP {
            let found = answer(&session, "read_code", json!({"path": path, "include_semantic_context": false})).await;
            assert_eq!((&found["content"], &found["version"]), (&json!(content), &json!(1)), "{path}");
        }
        let has_all = async || {
            let found = answer(&session, "read_code", json!({"path": "shop/money.py", "include_semantic_context": false})).await;
            strings(&found["dependencies"]["imported_by"]) == ["shop/cart.py"]
        };
        eventually("the index is built again", has_all).await;
    }

    async fn two_projects_do_not_share_files(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::stored(&crib, SHOP).await;
        let second = workspace.tenant.post("projects", json!({"name": "second"})).await.expect(201)["project"]["id"].clone();
        let second = workspace.tenant.session_with(json!({"projectId": second})).await;
        assert_eq!(second.call("read_code", json!({"path": "shop/cart.py"})).await.error_code(), -32003, "it has no code");
        answer(&second, "write_code", json!({"path": "other.py", "content": "lantern = 1\n", "reason": "r"})).await;
        assert_eq!(answer(&second, "read_code", json!({"path": "shop/cart.py"})).await["exists"], false);
        let found = answer(&second, "hybrid_search", json!({"query": "receipt lantern", "search_types": []})).await;
        assert_eq!(each(&found["results"], "path"), ["other.py"]);
        assert_eq!(answer(&second, "query_history", json!({})).await["changes"].as_array().unwrap().len(), 1);
    }
}
