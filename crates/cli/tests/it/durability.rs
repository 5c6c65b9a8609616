//! Failures of the whole process: kill -9, signals, a full disk, a second server, data of another release.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::support::{Engine, Place, Process, both_engines, call, eventually, hearing_hangup, http, request};

/// A tenant over plain HTTP, for a server in another process.
pub(crate) struct Client {
    http: reqwest::Client,
    org: String,
    door: String,
    session_key: String,
    key: String,
    url: String,
}

impl Client {
    pub(crate) async fn new(process: &Process, name: &str) -> Self {
        let http = http();
        let post = async |path: String, key: &str, body: Value| -> Value {
            let reply = http.post(format!("{}{path}", process.url)).bearer_auth(key).json(&body).send().await.unwrap();
            assert_eq!(reply.status(), 201);
            reply.json().await.unwrap()
        };
        let made = post("/api/orgs".into(), &process.admin_key, json!({"name": name})).await;
        let (org, key) = (made["org"]["id"].as_str().unwrap(), made["key"]["fullKey"].as_str().unwrap());
        let project = post(format!("/api/org/{org}/projects"), key, json!({"name": "p"})).await;
        let body = json!({"projectId": project["project"]["id"]});
        let opened = post(format!("/api/org/{org}/sessions"), key, body).await;
        let bearer = opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"].as_str().unwrap();
        Self {
            org: org.to_owned(),
            door: format!("/api/mcp/{}", opened["sessionId"].as_str().unwrap()),
            session_key: bearer.strip_prefix("Bearer ").unwrap().to_owned(),
            key: key.to_owned(),
            url: process.url.clone(),
            http,
        }
    }

    /// Posts through the door. Fails if the server is gone.
    async fn rpc(&self, message: &Value) -> reqwest::Result<Value> {
        let request = self.http.post(format!("{}{}", self.url, self.door)).bearer_auth(&self.session_key);
        request.body(message.to_string()).send().await?.json().await
    }

    /// The status of a route that needs no key.
    async fn status(&self, path: &str) -> u16 {
        self.http.get(format!("{}{path}", self.url)).send().await.unwrap().status().as_u16()
    }

    /// Calls a tool and returns the id of the acknowledged request. Fails if the server is gone.
    pub(crate) async fn acknowledged(&self, tool: &str, arguments: Value) -> reqwest::Result<String> {
        let request = self.http.post(format!("{}{}", self.url, self.door)).bearer_auth(&self.session_key);
        let reply = request.body(call(1, tool, arguments).to_string()).send().await?;
        let id = reply.headers()["x-request-id"].to_str().unwrap().to_owned();
        let answer: Value = reply.json().await?;
        assert!(answer.get("result").is_some(), "{answer}");
        Ok(id)
    }

    /// The same tenant, on the restarted server.
    pub(crate) fn on(self, process: &Process) -> Self {
        Self { url: process.url.clone(), ..self }
    }

    /// The trail and the keys that verify it.
    pub(crate) async fn export(&self) -> crate::audit::Export {
        let get = async |path: String| {
            let reply = self.http.get(format!("{}{path}", self.url)).bearer_auth(&self.key).send().await.unwrap();
            assert_eq!(reply.status(), 200);
            reply.text().await.unwrap()
        };
        let lines = get("/api/audit/export".into()).await;
        crate::audit::Export { lines, jwks: get(format!("/.well-known/audit-keys/{}", self.org)).await }
    }

    async fn create_brick(&self) -> reqwest::Result<Value> {
        let arguments = json!({"name": "n", "type": "boolean", "evaluation_prompt": "p"});
        self.rpc(&call(1, "bricks.create_draft", arguments)).await
    }

    /// The ids of all bricks.
    async fn bricks(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut cursor = String::new();
        loop {
            let url = format!("{}/api/bricks?limit=200{cursor}", self.url);
            let page: Value = self.http.get(url).bearer_auth(&self.key).send().await.unwrap().json().await.unwrap();
            found.extend(page["bricks"].as_array().unwrap().iter().map(|brick| brick["brick_id"].as_str().unwrap().to_owned()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    }
}

/// The number of kill rounds: `usual`, unless `make soak` sets another.
#[expect(clippy::disallowed_methods, reason = "`make soak` sets the number of rounds")]
pub(crate) fn rounds(usual: u32) -> u32 {
    std::env::var("TOOLCRIB_SOAK_ROUNDS").map_or(usual, |rounds| rounds.parse().unwrap())
}

/// Starts writers that write until the server stops. The channel yields the id of each acknowledged brick.
fn writers(client: &Arc<Client>, count: usize) -> mpsc::UnboundedReceiver<String> {
    let (acknowledged, received) = mpsc::unbounded_channel();
    for _ in 0..count {
        let (client, acknowledged) = (Arc::clone(client), acknowledged.clone());
        #[expect(clippy::disallowed_methods, reason = "it ends when the server is killed")]
        tokio::spawn(async move {
            while let Ok(answer) = client.create_brick().await {
                let id = answer["result"]["structuredContent"]["brick_id"].as_str().expect("a brick").to_owned();
                if acknowledged.send(id).is_err() {
                    return;
                }
            }
        });
    }
    received
}

both_engines! {
    async fn kill_nine_loses_no_acknowledged_write(engine: Engine) {
        let rounds = rounds(10);
        let place = Place::new(engine);
        for round in 0..rounds {
            let process = place.start().await;
            let client = Arc::new(Client::new(&process, &format!("round {round}")).await);
            let mut received = writers(&client, 16);
            let mut acknowledged = BTreeSet::new();
            // Each round kills the server a little later.
            while acknowledged.len() < 100 + 37 * (round as usize % 8) {
                acknowledged.insert(received.recv().await.unwrap());
            }
            process.kill_nine().await;
            while let Some(id) = received.recv().await {
                acknowledged.insert(id);
            }
            let process = place.start().await;
            let client = Client { url: process.url.clone(), ..Arc::into_inner(client).expect("all writers have stopped") };
            let found = client.bricks().await;
            let lost: Vec<_> = acknowledged.difference(&found).collect();
            assert!(lost.is_empty(), "round {round}: {} of {} were lost: {lost:?}", lost.len(), acknowledged.len());
            process.kill_nine().await;
        }
    }

    async fn sigterm_and_sighup_drain_and_stop(engine: Engine) {
        let place = Place::new(engine);
        for signal in ["TERM", "HUP"] {
            let mut process = Process::start(hearing_hangup(&place.serve()), &place.data()).await;
            let client = Arc::new(Client::new(&process, signal).await);
            let mut received = writers(&client, 8);
            let mut acknowledged = BTreeSet::new();
            while acknowledged.len() < 50 {
                acknowledged.insert(received.recv().await.unwrap());
            }
            process.signal(signal).await;
            let stopped = tokio::time::timeout(Duration::from_secs(30), process.child.wait()).await;
            let status = stopped.expect("the server stops").unwrap();
            assert!(status.success(), "{signal}: {status}");
            while let Some(id) = received.recv().await {
                acknowledged.insert(id);
            }
            let process = place.start().await;
            let client = Client { url: process.url.clone(), ..Arc::into_inner(client).unwrap() };
            assert!(client.bricks().await.is_superset(&acknowledged), "{signal}");
            process.kill_nine().await;
        }
    }

    async fn second_server_on_the_same_folder_is_refused(engine: Engine) {
        let place = Place::new(engine);
        let first = place.start().await;
        let second = place.serve().output().await.unwrap();
        let words = String::from_utf8(second.stderr).unwrap();
        assert!(!second.status.success() && words.contains("another server uses the data folder"), "{words}");
        first.kill_nine().await;
        place.start().await.kill_nine().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_gives_a_clear_error_and_recovers() {
    let place = Place::new(Engine::Sqlite);
    let process = place.start().await;
    let client = Client::new(&process, "disk").await;
    let limit = async |bytes: &str| {
        let pid = process.id().to_string();
        let set = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={bytes}:unlimited")]).status().await.unwrap();
        assert!(set.success());
    };
    client.create_brick().await.unwrap();
    let ready = async |status: u16| client.status("/readyz").await == status;
    assert!(ready(200).await);
    limit("65536").await;
    let mut acknowledged = 1;
    let error = loop {
        let answer = client.create_brick().await.unwrap();
        if answer.get("error").is_some() {
            break answer["error"].clone();
        }
        acknowledged += 1;
        assert!(acknowledged < 10_000, "the limit has no effect");
    };
    assert_eq!((error["code"].as_i64(), error["data"]["kind"].as_str()), (Some(-32603), Some("unavailable")), "{error}");
    assert_eq!(error["data"]["retryable"], true);
    // A call that cannot be recorded fails, even a read.
    let listed = client.rpc(&call(1, "bricks.list", json!({}))).await.unwrap();
    assert_eq!(listed["error"]["data"]["kind"], "unavailable", "{listed}");
    eventually("the server says that it is not ready", async || ready(503).await).await;
    limit("unlimited").await;
    eventually("the server is ready again", async || ready(200).await).await;
    let recovered = client.create_brick().await.unwrap();
    assert!(recovered.get("error").is_none(), "{recovered}");
    assert_eq!(client.bricks().await.len(), acknowledged + 1, "a brick was lost or half-written");
    client.export().await.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn data_of_a_newer_release_is_refused() {
    let place = Place::new(Engine::Sqlite);
    place.start().await.kill_nine().await;
    let database = rusqlite::Connection::open(place.data().join("toolcrib.db")).unwrap();
    database.execute("INSERT INTO schema_versions (version, applied_at) VALUES (999, 0)", []).unwrap();
    drop(database);
    let refused = place.serve().output().await.unwrap();
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && words.contains("newer release"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn data_folder_holds_no_readable_secret() {
    let place = Place::new(Engine::Sqlite);
    let process = place.start().await;
    let client = Client::new(&process, "secrets").await;
    client.create_brick().await.unwrap();
    let secrets = [client.session_key.clone(), client.key.clone(), process.admin_key.clone()];
    process.kill_nine().await;
    for entry in std::fs::read_dir(place.data()).unwrap().map(Result::unwrap) {
        let (path, bytes) = (entry.path(), std::fs::read(entry.path()).unwrap());
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        use std::os::unix::fs::PermissionsExt;
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        if name == "server.json" || name == "master.key" {
            assert_eq!(mode, 0o600, "{name}");
            continue;
        }
        for secret in &secrets {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{name} holds a secret");
        }
    }
    let folder = std::fs::metadata(place.data()).unwrap();
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_and_vanished_clients_block_nobody() {
    use tokio::io::AsyncWriteExt;
    let place = Place::new(Engine::Sqlite);
    let process = place.start().await;
    let client = Client::new(&process, "slow").await;
    let address = process.url.strip_prefix("http://").unwrap();
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-length: 1000\r\n\r\n{{\"jsonrpc\"",
        client.door, client.session_key
    );
    let mut slow_clients = Vec::new();
    for _ in 0..50 {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        slow_clients.push(stream);
    }
    for _ in 0..50 {
        let mut vanishing = tokio::net::TcpStream::connect(address).await.unwrap();
        vanishing.write_all(head.as_bytes()).await.unwrap();
    }
    let answer = client.rpc(&request(1, "ping", json!({}))).await.unwrap();
    assert_eq!(answer["result"], json!({}), "fifty slow clients block another");
    drop(slow_clients);
    assert!(client.create_brick().await.unwrap().get("error").is_none());
}
