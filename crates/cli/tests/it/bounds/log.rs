//! A log that cannot be written fails no call and does not change the exit code.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, call, http};

/// Makes a call that writes a row and a log line.
async fn create_brick(process: &Process, session: &Value, number: usize) -> Value {
    let entry = &session["mcpConfig"]["mcpServers"]["toolcrib"];
    let message =
        call(number, "bricks.create_draft", json!({"name": format!("b{number}"), "type": "boolean", "evaluation_prompt": "p"}));
    let authorization = entry["headers"]["Authorization"].as_str().unwrap();
    let post = http().post(format!("{}/api/mcp/{}", process.url, session["sessionId"].as_str().unwrap()));
    let reply = post.header("authorization", authorization).body(message.to_string()).send().await.unwrap();
    reply.json().await.unwrap()
}

async fn open_session(process: &Process) -> Value {
    let api = async |method: reqwest::Method, path: &str, body: Option<Value>| -> Value {
        let mut request = http().request(method, format!("{}{path}", process.url)).bearer_auth(&process.admin_key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.unwrap().json().await.unwrap()
    };
    let projects = api(reqwest::Method::GET, "/api/org/default/projects", None).await;
    let project = projects["projects"][0]["id"].clone();
    api(reqwest::Method::POST, "/api/org/default/sessions", Some(json!({"projectId": project}))).await
}

async fn stop_cleanly(mut process: Process) {
    process.signal("TERM").await;
    let status = tokio::time::timeout(Duration::from_secs(30), process.child.wait()).await.expect("the server stops").unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_reader_that_closes_or_stalls_fails_no_call() {
    for reads_nothing in [false, true] {
        let place = Place::new(Engine::Sqlite);
        let mut command = place.serve();
        command.env("TOOLCRIB_LOG", "trace").stderr(Stdio::piped());
        let mut process = Process::start(command, &place.data()).await;
        let log = process.child.stderr.take();
        // The pipe either fills up or is closed.
        let kept = log.filter(|_| reads_nothing);
        let session = open_session(&process).await;
        for number in 0..200 {
            let answer = tokio::time::timeout(Duration::from_secs(20), create_brick(&process, &session, number)).await;
            let answer = answer.expect("a call does not wait for the log");
            assert!(answer["result"].is_object(), "{number}: {answer}");
        }
        stop_cleanly(process).await;
        drop(kept);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_on_a_full_disk_fails_no_call() {
    let place = Place::new(Engine::Sqlite);
    let mut command = place.serve();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    command.env("TOOLCRIB_LOG", "trace").stderr(full);
    let process = Process::start(command, &place.data()).await;
    let session = open_session(&process).await;
    for number in 0..20 {
        let answer = create_brick(&process, &session, number).await;
        assert!(answer["result"].is_object(), "{number}: {answer}");
    }
    stop_cleanly(process).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_starts_when_stdout_is_closed() {
    let place = Place::new(Engine::Sqlite);
    // The reader of stdout is gone before the server starts.
    let (reader, stdout) = std::io::pipe().unwrap();
    drop(reader);
    let mut server = place.serve().stdout(stdout).spawn().unwrap();
    let data = place.data();
    crate::support::eventually("the server answers", async || {
        let Some(file) = server::find_running(&data) else { return false };
        http().get(format!("{}/healthz", file.url)).send().await.is_ok_and(|reply| reply.status() == 200)
    })
    .await;
    assert!(server.try_wait().unwrap().is_none(), "the server keeps running");
}
