//! kill -9 during writes: every acknowledged write is there, no file is half-written, and the history agrees with the disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::sha256;
use crate::durability::rounds;
use crate::support::{Engine, Place, Process, both_engines, call, http, text};

/// The number of files that the writers share.
const FILES: usize = 5;
const WRITERS: usize = 8;

/// A project over plain HTTP, for a server in another process.
struct Client {
    http: reqwest::Client,
    url: String,
    door: String,
    key: String,
}

/// A write that the server acknowledged.
struct Written {
    path: String,
    version: i64,
    sha256: String,
}

impl Client {
    async fn new(process: &Process, root: Option<&Path>, name: &str) -> Self {
        let http = http();
        let post = async |path: &str, body: Value| -> Value {
            let request = http.post(format!("{}{path}", process.url)).bearer_auth(&process.admin_key).json(&body);
            let reply = request.send().await.unwrap();
            assert_eq!(reply.status(), 201, "{path}");
            reply.json().await.unwrap()
        };
        let project = post("/api/org/default/projects", json!({"name": name, "root": root})).await;
        let opened = post("/api/org/default/sessions", json!({"projectId": project["project"]["id"]})).await;
        let door = format!("/api/mcp/{}", text(&opened["sessionId"]));
        Self { http, url: process.url.clone(), door, key: process.admin_key.clone() }
    }

    /// Calls a tool. Fails if the server is gone.
    async fn call(&self, tool: &str, arguments: Value) -> reqwest::Result<Value> {
        let request = self.http.post(format!("{}{}", self.url, self.door)).bearer_auth(&self.key);
        let answer: Value = request.body(call(1, tool, arguments).to_string()).send().await?.json().await?;
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        Ok(answer["result"]["structuredContent"].clone())
    }

    /// The versions of a file, oldest first.
    async fn versions(&self, path: &str) -> Vec<Value> {
        let (mut found, mut arguments) = (Vec::new(), json!({"entity_id": path, "limit": 100}));
        loop {
            let page = self.call("query_history", arguments.clone()).await.unwrap();
            found.extend(page["changes"].as_array().unwrap().clone());
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        found.reverse();
        found
    }
}

/// A text whose lines all say the same, so that half of one is recognised.
fn content(writer: usize, number: usize) -> String {
    format!("line = 'writer {writer} number {number}'\n").repeat(500)
}

/// Starts writers that write until the server stops.
fn writers(client: &Arc<Client>) -> mpsc::UnboundedReceiver<Written> {
    let (acknowledged, received) = mpsc::unbounded_channel();
    for writer in 0..WRITERS {
        let (client, acknowledged) = (Arc::clone(client), acknowledged.clone());
        #[expect(clippy::disallowed_methods, reason = "it ends when the server is killed")]
        tokio::spawn(async move {
            for number in 0.. {
                let path = format!("f{}.py", (writer + number) % FILES);
                let text_now = content(writer, number);
                let arguments = json!({"path": path, "content": text_now, "reason": format!("{writer} {number}")});
                let Ok(answer) = client.call("write_code", arguments).await else { return };
                let version = answer["version"].as_i64().unwrap();
                if acknowledged.send(Written { path, version, sha256: text(&answer["sha256"]) }).is_err() {
                    return;
                }
            }
        });
    }
    received
}

/// Compares what was acknowledged with the answers of the restarted server, and with the disk.
async fn check(client: &Client, root: Option<&Path>, acknowledged: &[Written]) {
    for number in 0..FILES {
        let path = format!("f{number}.py");
        let found = client
            .call("read_code", json!({"path": path, "include_semantic_context": false, "include_dependencies": false}))
            .await
            .unwrap();
        let Some(now) = found["content"].as_str() else {
            assert!(acknowledged.iter().all(|written| written.path != path), "{path} is gone: {found}");
            continue;
        };
        let mut lines: Vec<&str> = now.lines().collect();
        assert_eq!(lines.len(), 500, "{path} is half-written");
        lines.dedup();
        assert_eq!(lines.len(), 1, "{path} mixes two writes");
        if let Some(root) = root {
            assert_eq!(std::fs::read_to_string(root.join(&path)).unwrap(), now);
        }
        let versions = client.versions(&path).await;
        let numbers: BTreeMap<i64, &Written> =
            acknowledged.iter().filter(|written| written.path == path).map(|written| (written.version, written)).collect();
        let newest = numbers.last_key_value().map(|(number, _)| *number).unwrap_or_default();
        assert!(versions.len() as i64 >= newest, "{path}: {} versions, {newest} acknowledged", versions.len());
        assert!(versions.iter().all(|version| version["source"] == "toolcrib"), "{path}: nobody else wrote: {versions:?}");
        assert_eq!(found["version"], versions.len() as i64, "{path}: the version of the file is the newest");
        let last = &versions[versions.len() - 1];
        let reason = text(&last["reason"]);
        let (writer, number) = reason.split_once(' ').unwrap();
        assert_eq!(
            sha256(now),
            sha256(content(writer.parse().unwrap(), number.parse().unwrap())),
            "{path}: history and disk agree"
        );
        if let Some(written) = numbers.get(&(versions.len() as i64)) {
            assert_eq!(written.sha256, sha256(now), "{path}");
        }
    }
    if let Some(root) = root {
        let names: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.len() <= FILES + WRITERS, "temporary files pile up: {names:?}");
    }
}

both_engines! {
    async fn kill_nine_loses_no_acknowledged_write_of_code(engine: Engine) {
        let place = Place::new(engine);
        let roots = tempfile::TempDir::with_prefix("toolcrib-roots-").unwrap();
        for round in 0..rounds(4) {
            // Every other round is a project without a root.
            let root = (round % 2 == 0).then(|| roots.path().join(format!("root{round}")));
            if let Some(root) = &root {
                std::fs::create_dir(root).unwrap();
            }
            let process = place.start().await;
            let client = Arc::new(Client::new(&process, root.as_deref(), &format!("round {round}")).await);
            let mut received = writers(&client);
            let mut acknowledged = Vec::new();
            while acknowledged.len() < 30 + 17 * (round as usize % 8) {
                acknowledged.push(received.recv().await.unwrap());
            }
            process.kill_nine().await;
            while let Some(written) = received.recv().await {
                acknowledged.push(written);
            }
            let process = place.start().await;
            let client = Arc::into_inner(client).expect("all writers have stopped");
            let client = Client { url: process.url.clone(), key: process.admin_key.clone(), ..client };
            check(&client, root.as_deref(), &acknowledged).await;
            // The next write continues after the last version.
            let path = &acknowledged[0].path;
            let before = client.versions(path).await.len() as i64;
            let next = client.call("write_code", json!({"path": path, "content": "after = 1\n", "reason": "0 0"})).await.unwrap();
            assert_eq!(next["version"], before + 1);
            process.kill_nine().await;
        }
    }
}
