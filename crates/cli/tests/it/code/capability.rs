//! Which code tools a project has.

use reqwest::Method;
use serde_json::{Value, json};

use super::{MONEY, SHOP, put_all};
use crate::support::{Crib, Engine, Session, Tenant, both_engines, request};

const WITH_CODE: [&str; 5] = ["analyze_dependencies", "graph_search", "hybrid_search", "read_code", "semantic_search"];
const ALWAYS: [&str; 3] = ["get_context", "query_history", "write_code"];

/// The code tools in a list, sorted.
fn code_tools(listed: &Value) -> Vec<String> {
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    let mut names: Vec<_> = names.filter(|name| WITH_CODE.contains(&name.as_str()) || ALWAYS.contains(&name.as_str())).collect();
    names.sort_unstable();
    names
}

async fn listed(session: &Session<'_>) -> Vec<String> {
    code_tools(&session.rpc(&request(1, "tools/list", json!({}))).await.result())
}

fn all() -> Vec<String> {
    let mut all: Vec<_> = WITH_CODE.into_iter().chain(ALWAYS).map(str::to_owned).collect();
    all.sort_unstable();
    all
}

fn edit(path: &str) -> Value {
    json!({"path": path, "content": "x = 1\n", "reason": "the first file"})
}

both_engines! {
    async fn the_first_write_brings_the_tools_that_need_code(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let tools = all();
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let (session, agent) = (tenant.session().await, tenant.agent(&["*"], &tools).await);
        assert_eq!(listed(&session).await, ALWAYS);
        assert_eq!(agent.tools().await.len(), ALWAYS.len());
        assert_eq!(session.call("read_code", json!({"path": "a.py"})).await.error_code(), -32003);
        assert_eq!(agent.call("read_code", json!({"path": "a.py"})).await.error_code(), -32001);
        // What is always there answers without code.
        assert_eq!(session.call("query_history", json!({})).await.result()["structuredContent"]["changes"], json!([]));
        assert_eq!(session.call("get_context", json!({})).await.result()["structuredContent"]["project"]["files"], 0);
        session.call("write_code", edit("a.py")).await.result();
        assert_eq!(listed(&session).await, all(), "on the next request");
        assert_eq!(agent.tools().await.len(), all().len());
        session.call("read_code", json!({"path": "a.py"})).await.result();
        agent.call("read_code", json!({"path": "a.py"})).await.result();
        let empty = tenant.post("projects", json!({"name": "empty"})).await.expect(201)["project"]["id"].clone();
        assert_eq!(listed(&tenant.session_with(json!({"projectId": empty})).await).await, ALWAYS, "another project has no code");
    }

    async fn a_root_brings_them_and_its_end_takes_them_away(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let root = crib.folder.path().join("root");
        put_all(&root, SHOP);
        let set = async |root: Value| {
            let path = format!("projects/{}", tenant.project);
            tenant.api(Method::PATCH, &path, Some(json!({"root": root}))).await.expect(200)
        };
        set(json!(root)).await;
        assert_eq!(listed(&session).await, all());
        let found = session.call("read_code", json!({"path": "shop/money.py"})).await.result();
        assert_eq!(found["structuredContent"]["content"], MONEY);
        set(Value::Null).await;
        assert_eq!(listed(&session).await, ALWAYS);
        session.call("write_code", edit("stored.py")).await.result();
        assert!(!root.join("stored.py").exists(), "the file is in the store");
        assert_eq!(session.call("read_code", json!({"path": "shop/money.py"})).await.result()["structuredContent"]["exists"], false);
        set(json!(root)).await;
        assert_eq!(session.call("read_code", json!({"path": "stored.py"})).await.result()["structuredContent"]["exists"], false);
        assert_eq!(session.call("read_code", json!({"path": "shop/money.py"})).await.result()["structuredContent"]["exists"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_nodes_see_the_first_write_on_the_next_request() {
    let crib = Crib::start(Engine::Postgres).await;
    let other = crib.another_node(|_| ()).await;
    let tenant = crib.tenant().await;
    let there = Tenant { crib: &other, org: tenant.org.clone(), key: tenant.key.clone(), project: tenant.project.clone() };
    let (session, elsewhere) = (tenant.session().await, there.session().await);
    assert_eq!(
        (listed(&session).await, listed(&elsewhere).await),
        (ALWAYS.map(str::to_owned).to_vec(), ALWAYS.map(str::to_owned).to_vec())
    );
    session.call("write_code", edit("a.py")).await.result();
    assert_eq!((listed(&session).await, listed(&elsewhere).await), (all(), all()));
    let found = elsewhere.call("read_code", json!({"path": "a.py", "include_history": true})).await.result();
    assert_eq!(found["structuredContent"]["content"], "x = 1\n");
    assert_eq!(found["structuredContent"]["history"].as_array().unwrap().len(), 1);
    // Each node answers with what the other wrote.
    for round in 0..10 {
        let (writer, reader) = if round % 2 == 0 { (&elsewhere, &session) } else { (&session, &elsewhere) };
        let content = format!("x = {round}\nimport lamp{round}\n");
        writer.call("write_code", json!({"path": "a.py", "content": content, "reason": "r"})).await.result();
        let found = reader.call("read_code", json!({"path": "a.py"})).await.result()["structuredContent"].clone();
        assert_eq!(found["content"], content, "round {round}");
        assert_eq!(found["dependencies"]["imports"], json!([format!("lamp{round}")]), "round {round}");
        let analyzed = reader.call("analyze_dependencies", json!({"path": "a.py", "include_external": true})).await.result();
        assert_eq!(analyzed["structuredContent"]["imports"], json!([format!("lamp{round}")]), "round {round}");
    }
}
