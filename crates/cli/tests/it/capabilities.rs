//! A project's switches decide which tools it has. A change applies from the next request.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines, request};

const MEMORY: [&str; 2] = ["af_memory_recall", "af_memory_remember"];
const GRAPH: [&str; 5] = ["graph_improve", "graph_ingest", "graph_neighbors", "graph_path", "graph_query"];

/// The listed tools of memory and the graph, sorted.
fn project_tools(listed: &Value) -> Vec<String> {
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("af_memory") || name.starts_with("graph_")).collect();
    names.sort_unstable();
    names
}

both_engines! {
    async fn turning_memory_off_removes_its_tools_at_once(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let (session, agent) = (tenant.session().await, tenant.agent(&["*"], &MEMORY).await);
        let list = request(1, "tools/list", json!({}));
        let note = json!({"content": "the lamp in the hall is broken"});
        let switch = async |on: bool| {
            let body = json!({"memory_enabled": on, "graph_enabled": false});
            tenant.api(Method::PATCH, &format!("projects/{}", tenant.project), Some(body)).await.expect(200)
        };
        for on in [true, false, true] {
            switch(on).await;
            let expected: &[&str] = if on { &MEMORY } else { &[] };
            assert_eq!(project_tools(&session.rpc(&list).await.result()), expected);
            assert_eq!(project_tools(&agent.rpc(&list).await.result()), expected);
            let (by_session, by_agent) =
                (session.call("af_memory_remember", note.clone()).await, agent.call("af_memory_remember", note.clone()).await);
            if on {
                by_session.result();
                by_agent.result();
            } else {
                assert_eq!((by_session.error_code(), by_agent.error_code()), (-32003, -32001));
            }
        }
    }

    async fn agent_without_a_project_has_no_project_tools(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let tools: Vec<_> = MEMORY.into_iter().chain(GRAPH).chain(["bricks.list", "record_decision"]).collect();
        let placed = tenant.agent(&["*"], &tools).await;
        assert_eq!(placed.tools().await.len(), tools.len());
        let roaming = tenant.agent_with(json!({"name": "roaming", "scopes": ["*"], "tools": tools})).await;
        assert_eq!(roaming.tools().await, ["bricks.list"]);
        let decision = json!({"decision": "d", "reasoning": "r"});
        for (tool, arguments) in [
            ("af_memory_recall", json!({"query": "q"})),
            ("graph_query", json!({"query": "q"})),
            ("record_decision", decision),
        ] {
            assert_eq!(roaming.call(tool, arguments).await.error_code(), -32001, "{tool}");
        }
    }

    async fn agent_with_safe_names_lists_safe_names(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let body = json!({"name": "safe", "scopes": ["*"], "tools": ["bricks.list", "kits.get"], "tool_names": "safe"});
        let agent = tenant.agent_with(body).await;
        assert_eq!(agent.tools().await, ["bricks_list", "kits_get"]);
        for spelling in ["bricks.list", "bricks_list"] {
            agent.call(spelling, json!({})).await.result();
        }
    }

    async fn first_start_enables_memory_and_graph_for_the_default_project(engine: Engine) {
        let crib = Crib::start(engine).await;
        let api = async |method, path: &str, body| crib.api(method, &format!("/api/org/default{path}"), &crib.admin_key, body).await;
        assert_eq!(api(Method::GET, "", None).await.expect(200)["org"]["plan"], json!({"kg_enabled": false}));
        let projects = api(Method::GET, "/projects", None).await.expect(200)["projects"].clone();
        let [first] = projects.as_array().unwrap().as_slice() else { panic!("{projects}") };
        assert_eq!((&first["name"], &first["memory_enabled"], &first["graph_enabled"]), (&json!("default"), &json!(true), &json!(true)));
        let second = api(Method::POST, "/projects", Some(json!({"name": "second"}))).await.expect(201)["project"].clone();
        let listed = async |project: &Value| {
            let opened = api(Method::POST, "/sessions", Some(json!({"projectId": project["id"]}))).await.expect(201);
            let url = format!("{}/api/mcp/{}", crib.url, opened["sessionId"].as_str().unwrap());
            let list = crib.http.post(url).bearer_auth(&crib.admin_key).body(request(1, "tools/list", json!({})).to_string());
            project_tools(&crib.send(list).await.result())
        };
        let everything: Vec<_> = MEMORY.into_iter().chain(GRAPH).collect();
        assert_eq!(listed(first).await, everything);
        assert_eq!(listed(&second).await, MEMORY, "a new project starts without the graph");
        let path = format!("/projects/{}", first["id"].as_str().unwrap());
        api(Method::PATCH, &path, Some(json!({"graph_enabled": false}))).await.expect(200);
        assert_eq!(listed(first).await, MEMORY, "the project's switch decides");
    }
}
