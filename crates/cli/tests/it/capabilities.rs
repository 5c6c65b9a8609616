//! Which tools there are: by the switches of a project, and only where there is a project. It holds from the next request.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Crib, Engine, both_engines, request};

const MEMORY: [&str; 2] = ["af_memory_recall", "af_memory_remember"];
const GRAPH: [&str; 5] = ["graph_improve", "graph_ingest", "graph_neighbors", "graph_path", "graph_query"];

/// The listed tools of memory and the graph, sorted.
fn of_projects(listed: &Value) -> Vec<String> {
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("af_memory") || name.starts_with("graph_")).collect();
    names.sort_unstable();
    names
}

both_engines! {
    async fn memory_that_is_turned_off_is_gone_from_sessions_and_agents_that_are_there(engine: Engine) {
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
            assert_eq!(of_projects(&session.rpc(&list).await.result()), expected);
            assert_eq!(of_projects(&agent.rpc(&list).await.result()), expected);
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

    async fn an_agent_without_a_project_has_no_projects_tools(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let tools: Vec<_> = MEMORY.into_iter().chain(GRAPH).chain(["bricks.list"]).collect();
        let placed = tenant.agent(&["*"], &tools).await;
        assert_eq!(placed.tools().await.len(), tools.len());
        let roaming = tenant.agent_with(json!({"name": "roaming", "scopes": ["*"], "tools": tools})).await;
        assert_eq!(roaming.tools().await, ["bricks.list"]);
        for (tool, arguments) in [("af_memory_recall", json!({"query": "q"})), ("graph_query", json!({"query": "q"}))] {
            assert_eq!(roaming.call(tool, arguments).await.error_code(), -32001, "{tool}");
        }
    }

    async fn an_agent_that_wants_safe_names_is_listed_those(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let body = json!({"name": "safe", "scopes": ["*"], "tools": ["bricks.list", "kits.get"], "tool_names": "safe"});
        let agent = tenant.agent_with(body).await;
        assert_eq!(agent.tools().await, ["bricks_list", "kits_get"]);
        for spelling in ["bricks.list", "bricks_list"] {
            agent.call(spelling, json!({})).await.result();
        }
    }

    async fn the_first_start_turns_memory_and_the_graph_on_for_one_project(engine: Engine) {
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
            of_projects(&crib.send(list).await.result())
        };
        let everything: Vec<_> = MEMORY.into_iter().chain(GRAPH).collect();
        assert_eq!(listed(first).await, everything);
        assert_eq!(listed(&second).await, MEMORY, "a project of its own choice");
        let path = format!("/projects/{}", first["id"].as_str().unwrap());
        api(Method::PATCH, &path, Some(json!({"graph_enabled": false}))).await.expect(200);
        assert_eq!(listed(first).await, MEMORY, "its switch is what counts");
    }
}
