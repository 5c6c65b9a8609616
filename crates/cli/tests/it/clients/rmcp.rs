//! The official Rust SDK, in both eras, over HTTP and over stdio.

use ::rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion, ServerNotification, SubscriptionFilter};
use ::rmcp::service::{RoleClient, RunningService, ServiceError};
use ::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use ::rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use ::rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{LISTED, Target, doors};
use crate::support::{Crib, Engine, Tenant, binary, both_engines, http};

/// Far longer than any step takes. Only a failing test waits this long.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

type Client = RunningService<RoleClient, ClientConfig>;

/// Every way to start this client, with the expected protocol version.
fn start_modes() -> [(ClientLifecycleMode, ProtocolVersion); 3] {
    let modern = ProtocolVersion::V_2026_07_28;
    let preferred_versions = vec![modern.clone()];
    let auto = ClientLifecycleMode::Auto { preferred_versions: preferred_versions.clone(), legacy_version: None };
    [
        (ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25),
        (ClientLifecycleMode::Discover { preferred_versions }, modern.clone()),
        (auto, modern),
    ]
}

async fn over_http(target: &Target, start_mode: ClientLifecycleMode) -> Client {
    let config = StreamableHttpClientTransportConfig::with_uri(target.url.as_str()).auth_header(target.credential.as_str());
    let transport = StreamableHttpClientTransport::with_client(http(), config);
    ClientConfig::default().serve_with_lifecycle(transport, start_mode).await.expect("the client starts")
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<Value, i64> {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
    match client.call_tool(params).await {
        Ok(result) => Ok(serde_json::to_value(result).unwrap()),
        Err(ServiceError::McpError(error)) => Err(error.code.0.into()),
        Err(other) => panic!("{tool}: {other}"),
    }
}

/// Checks that hold for a read-only caller over any transport.
async fn check(client: &Client, refusal: i64) {
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, LISTED);
    assert!(tools.iter().all(|tool| tool.output_schema.is_some() && tool.annotations.is_some()));
    let listed = call(client, "bricks.list", json!({})).await.unwrap();
    assert_eq!(
        (&listed["structuredContent"], &listed["content"][0]["text"]),
        (&json!({"bricks": []}), &json!("Listed 0 brick(s)."))
    );
    let bad = call(client, "bricks.list", json!({"limit": 0})).await.unwrap();
    assert_eq!((&bad["isError"], &bad["structuredContent"]["error"]["parameter"]), (&json!(true), &json!("limit")));
    let brick = json!({"name": "b", "type": "score", "evaluation_prompt": "p"});
    assert_eq!(call(client, "bricks.create_draft", brick).await, Err(refusal));
    assert!(call(client, "no_such_tool", json!({})).await.is_err());
    assert!(client.list_all_resources().await.unwrap().is_empty() && client.list_all_prompts().await.unwrap().is_empty());
}

both_engines! {
    async fn rmcp_works_at_both_doors_in_both_eras(engine: Engine) {
        let crib = Crib::start(engine).await;
        let mut tenant = crib.tenant().await;
        for target in doors(&mut tenant).await {
            for (start_mode, version) in start_modes() {
                let client = over_http(&target, start_mode).await;
                let server = client.peer_info().expect("the server sends its info");
                let server = serde_json::to_value(&*server).unwrap();
                let said = (&server["serverInfo"]["name"], &server["protocolVersion"]);
                assert_eq!(said, (&json!("toolcrib"), &json!(version)), "{}: {server}", target.door);
                check(&client, target.refusal).await;
                client.cancel().await.unwrap();
            }
        }
    }
}

both_engines! {
    async fn rmcp_subscriber_is_notified_of_changes(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let agent = tenant.agent(&["*"], &["bricks.list"]).await;
        let target = Target { door: "agent", url: format!("{}/api/mcp", crib.url), credential: agent.token, refusal: -32001 };
        let [_, (discover, _), _] = start_modes();
        let client = over_http(&target, discover).await;
        let mut subscription = client.listen(SubscriptionFilter::builder().tools_list_changed().build()).await.unwrap();
        for tools in [vec![], vec!["kits.list", "kits.get"], vec!["bricks.list"]] {
            let path = format!("agents/{}", agent.id);
            tenant.api(reqwest::Method::PATCH, &path, Some(json!({"tools": tools}))).await.expect(200);
            let notice = tokio::time::timeout(PATIENCE, subscription.next()).await.expect("the notification arrives").unwrap();
            assert!(matches!(notice, Some(ServerNotification::ToolListChangedNotification(_))), "{notice:?}");
            let listed = client.list_all_tools().await.unwrap();
            assert_eq!(listed.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), tools, "the client must not use its cached list");
        }
        subscription.cancel().await.unwrap();
        client.cancel().await.unwrap();
    }
}

/// `toolcrib stdio` with the URL and key of a server.
fn stdio(tenant: &Tenant<'_>) -> Command {
    let mut command = Command::new(binary());
    command.args([
        "stdio",
        "--tool-names",
        "canonical",
        "--url",
        &tenant.crib.url,
        "--key",
        &tenant.key,
        "--org",
        &tenant.org,
        "--project",
        &tenant.project,
    ]);
    // Isolates the command from the user's own server and proxy.
    command.env_clear().env("HOME", tenant.crib.folder.path()).current_dir(tenant.crib.folder.path()).kill_on_drop(true);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn rmcp_works_over_stdio_in_both_eras() {
    let crib = Crib::start(Engine::Sqlite).await;
    let mut tenant = crib.tenant().await;
    tenant.key = tenant.key_with(&["org:read", "sessions:write", "bricks:read", "kits:read"]).await;
    for (start_mode, _) in start_modes() {
        let transport = TokioChildProcess::new(stdio(&tenant)).unwrap();
        let client = ClientConfig::default().serve_with_lifecycle(transport, start_mode.clone()).await;
        let client = client.unwrap_or_else(|error| panic!("{start_mode:?}: {error}"));
        check(&client, -32003).await;
        client.cancel().await.unwrap();
    }
    // Each run opened its own session. The last one may not have ended yet.
    let sessions = tenant.get("sessions").await.expect(200);
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), start_modes().len());
}
