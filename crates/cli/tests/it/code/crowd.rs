//! Twenty agents at once about one repository.

use serde_json::json;

use super::{SHOP, Workspace, answer, each};
use crate::support::{Crib, Engine, both_engines, eventually};

const AGENTS: usize = 20;
const FILES: usize = 400;

/// A figure of `/metrics`.
async fn figure(crib: &Crib, name: &str) -> u64 {
    let text = crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text;
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

both_engines! {
    async fn twenty_agents_share_one_index(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, SHOP).await;
        for number in 0..FILES {
            workspace.put(&format!("m{number}.py"), format!("from shop.money import cents\n\n\ndef lamp_{number}():\n    return cents({number})\n"));
        }
        let mut sessions = Vec::new();
        for number in 0..AGENTS {
            sessions.push(workspace.another_session(&format!("agent {number}")).await);
        }
        // All begin before anything is indexed.
        let ask = async |number: usize| {
            let session = &sessions[number];
            let found = answer(session, "read_code", json!({"path": format!("m{number}.py")})).await;
            let is_complete = found["semantic_context"]["coverage"]["complete"] == true;
            assert!(!is_complete || found["dependencies"]["imports"] == json!(["shop/money.py"]), "agent {number}: {found}");
            for tool in ["hybrid_search", "semantic_search"] {
                let found = answer(session, tool, json!({"query": format!("lamp_{number}")})).await;
                assert!(found["coverage"]["files"].is_u64(), "agent {number}: {found}");
            }
            let written = json!({"path": format!("w{number}.py"), "content": format!("import m{number}\n"), "reason": "r"});
            answer(session, "write_code", written).await;
            answer(session, "get_context", json!({})).await;
            answer(session, "query_history", json!({"entity_id": format!("w{number}.py")})).await;
            let found = answer(session, "analyze_dependencies", json!({"path": format!("w{number}.py"), "max_depth": 1})).await;
            let is_complete = found["coverage"]["complete"] == true;
            assert!(!is_complete || found["imports"] == json!([format!("m{number}.py")]), "agent {number}: {found}");
        };
        futures_util::future::join_all((0..AGENTS).map(ask)).await;
        workspace.indexed().await;
        let all = (SHOP.len() + FILES + AGENTS) as u64;
        eventually("the figures show the whole index", async || figure(&crib, "toolcrib_code_files_indexed").await == all).await;
        assert_eq!(figure(&crib, "toolcrib_code_projects").await, 1, "one index for all agents");
        assert_eq!(figure(&crib, "toolcrib_code_files").await, all);
        let found = answer(&sessions[0], "analyze_dependencies", json!({"path": "shop/money.py", "analysis_type": "impact", "max_depth": 1})).await;
        assert_eq!(each(&found["impact"], "path").len(), FILES + 1, "every file is there once");
        let hits = answer(&sessions[1], "hybrid_search", json!({"query": "lamp_399", "search_types": []})).await;
        assert_eq!(each(&hits["results"], "path")[0], "m399.py");
    }
}
