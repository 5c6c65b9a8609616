//! Failures of whole processes: kill -9 during a delivery, two nodes on one database, a stolen data folder.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::receiver::{Got, Receiver};
use super::webhooks::allow_local_webhooks;
use crate::support::{Crib, Engine, Place, Port, Process, Terminal, both_engines, call, http, in_time};

/// Starts a server whose webhooks may reach this machine.
async fn start(place: &Place) -> Process {
    let mut command = place.serve();
    command.args(["--allow-webhook-net", "127.0.0.0/8"]);
    Process::start(command, &place.data()).await
}

/// A session of the org `default`: its door and its key.
async fn open_session(process: &Process) -> (String, String) {
    let projects = process.get("/api/org/default/projects").await;
    let body = json!({"projectId": projects["projects"][0]["id"]});
    let opened = post(process, "/api/org/default/sessions", &process.admin_key, body).await;
    let bearer = opened["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"].as_str().unwrap();
    let door = format!("/api/mcp/{}", opened["sessionId"].as_str().unwrap());
    (door, bearer.strip_prefix("Bearer ").unwrap().to_owned())
}

async fn post(process: &Process, path: &str, key: &str, body: Value) -> Value {
    let reply = http().post(format!("{}{path}", process.url)).bearer_auth(key).json(&body).send().await.unwrap();
    assert!(reply.status().is_success(), "{path}: {}", reply.status());
    reply.json().await.unwrap()
}

both_engines! {
    async fn kill_nine_before_delivery_loses_no_event(engine: Engine) {
        let place = Place::new(engine);
        let mut receiver = Receiver::start().await;
        receiver.held.send_replace(true);
        let process = start(&place).await;
        let hook = json!({"url": receiver.url, "events": ["post-verb"]});
        let made = post(&process, "/api/org/default/webhooks", &process.admin_key, hook).await;
        let (door, key) = open_session(&process).await;
        let count = 10;
        for id in 0..count {
            let answer = post(&process, &door, &key, call(id, "bricks.list", json!({}))).await;
            assert!(answer.get("error").is_none(), "{answer}");
        }
        // The receiver has the first event and has not answered. The rest is not sent yet.
        receiver.next().await;
        process.kill_nine().await;
        receiver.held.send_replace(false);
        let process = start(&place).await;
        let mut seen = BTreeSet::new();
        let mut order = Vec::new();
        while seen.len() < count {
            let got = receiver.next().await;
            assert!(got.is_signed_with(made["secret"].as_str().unwrap()));
            if seen.insert(got.header("webhook-id").to_owned()) {
                order.push(Got::sequence(&got));
            }
        }
        assert!(order.is_sorted(), "{order:?}");
        let costs = process.get("/api/org/default/costs").await;
        assert_eq!(costs["total"]["calls"], count, "each call is counted once");
        process.kill_nine().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_count_each_call_once_and_keep_the_order() {
    let first = Crib::start_with(Engine::Postgres, allow_local_webhooks).await;
    let second = first.another_node(allow_local_webhooks).await;
    let (tenant, mut receiver) = (first.tenant().await, Receiver::start().await);
    tenant.webhook(&receiver.url, &["post-verb"]).await;
    let session = tenant.session().await;
    let count = 40;
    for id in 0..count {
        let crib = if id % 2 == 0 { &first } else { &second };
        let door = format!("{}/api/mcp/{}", crib.url, session.id);
        let body = call(id, "bricks.list", json!({})).to_string();
        crib.send(crib.http.post(door).bearer_auth(&session.key).body(body)).await.result();
    }
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    while seen.len() < count {
        let got = receiver.next().await;
        if seen.insert(got.header("webhook-id").to_owned()) {
            order.push(got.sequence());
        }
    }
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(tenant.get("costs").await.expect(200)["total"]["calls"], count);
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_secret_is_not_readable_in_the_data_folder() {
    let place = Place::new(Engine::Sqlite);
    let process = start(&place).await;
    let hook = json!({"url": "https://hooks.invalid/", "events": ["org.changed"]});
    let made = post(&process, "/api/org/default/webhooks", &process.admin_key, hook).await;
    let secret = made["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap().to_owned();
    process.kill_nine().await;
    let mut read = 0;
    for entry in std::fs::read_dir(place.data()).unwrap().map(Result::unwrap) {
        let bytes = std::fs::read(entry.path()).unwrap();
        read += bytes.len();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{:?}", entry.path());
    }
    assert!(read > 10_000, "the database was read");
}

#[tokio::test(flavor = "multi_thread")]
async fn example_receiver_verifies_and_prints() {
    let place = Place::new(Engine::Sqlite);
    let process = start(&place).await;
    let terminal = Terminal::at(&place);
    // The webhook needs the port before the receiver knows the secret.
    let port = Port::reserve();
    let url = format!("http://{}/", port.address());
    let made = terminal.json(&format!("webhook add {url} --event pre-verb,post-verb,verb-error,key.*")).await;
    let mut receiver = receiver_of(made["secret"].as_str().unwrap(), &port);
    let mut lines = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let mut line = async || in_time(lines.next_line()).await.unwrap().expect("a line");
    assert_eq!(line().await, format!("listening on http://{}", port.address()));
    terminal.run("call bricks.list").await.ok();
    terminal.run("key add ci").await.ok();
    let without_number = |line: String| line.split_once(' ').unwrap().1.to_owned();
    assert_eq!(without_number(line().await), "pre-verb bricks.list");
    assert_eq!(without_number(line().await), "post-verb bricks.list completed");
    assert!(without_number(line().await).starts_with("key.minted key_"));
    // A message without the right signature is refused.
    let forged = http().post(url).header("webhook-id", "x").body("{}").send().await.unwrap();
    assert_eq!(forged.status(), 401);
    assert_eq!(line().await, "refused: the timestamp is missing, or too far from now");
    process.kill_nine().await;
}

fn receiver_of(secret: &str, port: &Port) -> tokio::process::Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/webhook_receiver.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(port.address().rsplit(':').next().unwrap()).env("WEBHOOK_SECRET", secret);
    python.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap()
}
