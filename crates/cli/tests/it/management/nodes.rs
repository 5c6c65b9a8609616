//! Two servers on one database: a revocation on one applies to the other's next request.

use reqwest::Method;
use serde_json::json;
use server::MasterKeySource;

use super::text;
use crate::support::{Agent, Crib, Engine, Tenant, request};

/// Two nodes that share only a database and a master key.
async fn two_nodes() -> [Crib; 2] {
    let url = testkit::postgres::fresh_database();
    let node = async || {
        Crib::start_with(Engine::Postgres, |config| {
            config.database_url = Some(url.clone());
            config.master_key = MasterKeySource::Given("ab".repeat(32));
        })
        .await
    };
    [node().await, node().await]
}

/// Sends the same request to each node.
async fn on_both(nodes: &[Crib; 2], path: &str, credential: &str) -> [u16; 2] {
    let ping = request(1, "tools/list", json!({})).to_string();
    let post = async |node: &Crib| {
        node.send(node.http.post(format!("{}{path}", node.url)).bearer_auth(credential).body(ping.clone())).await.status
    };
    [post(&nodes[0]).await, post(&nodes[1]).await]
}

async fn tools_on(node: &Crib, agent: &Agent<'_>) -> usize {
    let list = request(1, "tools/list", json!({})).to_string();
    let reply = node.send(node.http.post(format!("{}/api/mcp", node.url)).bearer_auth(&agent.token).body(list)).await;
    reply.result()["tools"].as_array().unwrap().len()
}

async fn as_admin_of(node: &Crib, tenant: &Tenant<'_>, method: Method, path: &str, body: Option<serde_json::Value>) -> u16 {
    node.api(method, &format!("/api/org/{}/{path}", tenant.org), &tenant.key, body).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn revocation_applies_on_every_node_at_once() {
    let nodes = two_nodes().await;
    let tenant = nodes[0].tenant().await;
    for _ in 0..3 {
        let minted = tenant.post("keys", json!({"name": "k", "projects": "all"})).await.expect(201);
        let (key_id, key) = (text(&minted["key"]["id"]), text(&minted["key"]["fullKey"]));
        let session = tenant.session().await;
        let door = format!("/api/mcp/{}", session.id);
        // Both nodes have seen the credentials and may cache them.
        assert_eq!(on_both(&nodes, &door, &key).await, [200, 200]);
        assert_eq!(on_both(&nodes, &door, &session.key).await, [200, 200]);
        assert_eq!(as_admin_of(&nodes[1], &tenant, Method::DELETE, &format!("keys/{key_id}"), None).await, 200);
        assert_eq!(on_both(&nodes, &door, &key).await, [401, 401]);
        assert_eq!(on_both(&nodes, &door, &session.key).await, [200, 200]);
        assert_eq!(as_admin_of(&nodes[1], &tenant, Method::POST, &format!("sessions/{}/end", session.id), None).await, 200);
        assert_eq!(on_both(&nodes, &door, &session.key).await, [410, 410]);
        assert_eq!(on_both(&nodes, &door, &tenant.key).await, [410, 410]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_changes_apply_on_every_node_at_once() {
    let nodes = two_nodes().await;
    let tenant = nodes[0].tenant().await;
    let agent = tenant.agent(&["*"], &["bricks.list", "kits.list"]).await;
    let path = format!("agents/{}", agent.id);
    assert_eq!([tools_on(&nodes[0], &agent).await, tools_on(&nodes[1], &agent).await], [2, 2]);
    for tools in [json!(["bricks.list"]), json!([]), json!(["bricks.list", "kits.list", "kits.get"])] {
        assert_eq!(as_admin_of(&nodes[1], &tenant, Method::PATCH, &path, Some(json!({"tools": tools}))).await, 200);
        let count = tools.as_array().unwrap().len();
        assert_eq!([tools_on(&nodes[0], &agent).await, tools_on(&nodes[1], &agent).await], [count, count]);
    }
    assert_eq!(as_admin_of(&nodes[1], &tenant, Method::PATCH, &path, Some(json!({"disabled": true}))).await, 200);
    assert_eq!(on_both(&nodes, "/api/mcp", &agent.token).await, [401, 401]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_logins_operators_and_the_first_start() {
    let nodes = two_nodes().await;
    let tenant = nodes[0].tenant().await;
    let owner = tenant.person("owner").await;
    let me = async |node: &Crib| {
        node.send(node.http.get(format!("{}/api/console/me", node.url)).header("cookie", &owner.cookie)).await.status
    };
    assert_eq!([me(&nodes[0]).await, me(&nodes[1]).await], [200, 200]);
    owner.api(Method::POST, "/api/console/logout", None).await.expect(204);
    assert_eq!([me(&nodes[0]).await, me(&nodes[1]).await], [401, 401]);
    for (node, key) in [(&nodes[0], &nodes[1].admin_key), (&nodes[1], &nodes[0].admin_key)] {
        let orgs = node.api(Method::GET, "/api/orgs", key, None).await.expect(200);
        let names: Vec<_> = orgs["orgs"].as_array().unwrap().iter().map(|org| text(&org["name"])).collect();
        assert_eq!(names, ["org 0", "default"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn node_with_another_master_key_does_not_start() {
    let url = testkit::postgres::fresh_database();
    let start = async |key: &str| {
        let folder = tempfile::TempDir::with_prefix("toolcrib-it-").unwrap();
        let mut config = server::Config::new(folder.path().join("data"));
        config.listen = ([127, 0, 0, 1], 0).into();
        (config.database_url, config.master_key) = (Some(url.clone()), MasterKeySource::Given(key.to_owned()));
        server::Server::start(config).await.map(|server| (server, folder))
    };
    let (first, _folder) = start(&"ab".repeat(32)).await.expect("the first node starts");
    let refusal = start(&"cd".repeat(32)).await.err().expect("a node with another key is refused");
    assert!(refusal.message().contains("wrong master key"), "{}", refusal.message());
    assert!(start(&"AB".repeat(32)).await.is_ok(), "upper-case hex is the same key");
    first.stop().await;
}
