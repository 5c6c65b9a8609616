//! The session ends with the stdio process, however that ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{Backend, Pipe, set_up, summary};
use crate::support::{Engine, Process, both_engines, hearing_hangup, in_time, modern, request};

/// The state of the newest session, and how many there are.
async fn newest(server: &Process) -> (usize, Value) {
    let mut sessions = server.sessions().await;
    (sessions.len(), sessions[0]["state"].take())
}

both_engines! {
    async fn session_ends_with_the_input(engine: Engine) {
        let (_place, server, terminal) = set_up(engine, Backend::Running).await;
        let server = server.unwrap();
        let pipe = Pipe::open(&terminal, "--work-type bug_fix --agent-label tester").ready().await;
        let open = server.sessions().await.remove(0);
        assert_eq!((&open["state"], &open["workType"], &open["agentLabel"]), (&json!("open"), &json!("bug_fix"), &json!("tester")));
        pipe.close().await.assert_clean();
        assert_eq!(newest(&server).await, (1, json!("ended")));
        // A process without requests leaves no open session either.
        Pipe::open(&terminal, "").close().await.assert_clean();
        assert_eq!(newest(&server).await, (2, json!("ended")));
    }

    async fn session_on_an_embedded_server_ends_with_the_input(engine: Engine) {
        let (place, _none, terminal) = set_up(engine, Backend::Embedded).await;
        let pipe = Pipe::open(&terminal, "").ready().await;
        assert_eq!(terminal.json("session list").await["sessions"][0]["state"], "open", "other commands find its server");
        pipe.close().await.assert_clean();
        assert!(terminal.run("session list").await.refused(1).contains("no server is running"), "the embedded server ended too");
        let server = place.start().await;
        assert_eq!(newest(&server).await, (1, json!("ended")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_ends_the_session() {
    let (_place, server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let server = server.unwrap();
    for (count, signal) in ["TERM", "INT", "HUP"].into_iter().enumerate() {
        let pipe = Pipe::start(hearing_hangup(&terminal.command("stdio"))).ready().await;
        pipe.signal(signal).await;
        pipe.wait().await.assert_clean();
        assert_eq!(newest(&server).await, (count + 1, json!("ended")), "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_stdout_ends_the_session() {
    let (_place, server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let Pipe { mut child, mut input, output, errors, .. } = Pipe::open(&terminal, "").ready().await;
    drop(output);
    input.write_all(format!("{}\n", request(1, "ping", json!({}))).as_bytes()).await.unwrap();
    let ended = in_time(child.wait()).await.unwrap();
    assert!(ended.success(), "{ended} {}", errors.await.unwrap());
    assert_eq!(newest(&server.unwrap()).await, (1, json!("ended")));
}

#[tokio::test(flavor = "multi_thread")]
async fn subscription_does_not_delay_the_end() {
    let (_place, server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let mut pipe = Pipe::open(&terminal, "");
    let listen = modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(pipe.ask(&listen).await["method"], "notifications/subscriptions/acknowledged");
    let begun = Instant::now();
    pipe.close().await.assert_clean();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(newest(&server.unwrap()).await, (1, json!("ended")));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_to_an_ended_session_get_an_error() {
    let (_place, server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let mut pipe = Pipe::open(&terminal, "").ready().await;
    let server = server.unwrap();
    let id = server.sessions().await[0]["sessionId"].as_str().unwrap().to_owned();
    terminal.run(&format!("session end {id} --outcome rejected")).await.ok();
    for number in [1, 2] {
        let answer = pipe.ask(&request(number, "ping", json!({}))).await;
        assert_eq!(summary(&answer), json!({"id": number, "code": -32000}));
        assert!(answer["error"]["message"].as_str().unwrap().contains("restart `toolcrib stdio`"), "{answer}");
    }
    pipe.close().await.assert_clean();
    assert_eq!(terminal.json(&format!("session show {id}")).await["session"]["outcome"], "rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limited_requests_get_an_error_and_the_session_still_ends() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let mut serve = place.serve();
    serve.args(["--limits-key-calls-burst", "5", "--limits-key-calls-per-minute", "1"]);
    let server = Process::start(serve, &place.data()).await;
    let mut pipe = Pipe::open(&terminal, "");
    let mut answers = Vec::new();
    for id in 0..8 {
        answers.push(pipe.ask(&request(id, "ping", json!({}))).await);
    }
    assert_eq!(answers.iter().filter(|answer| answer.get("result").is_some()).count(), 5, "{answers:?}");
    let refused = answers.last().unwrap();
    assert_eq!(summary(refused), json!({"id": 7, "code": -32603}));
    let data = &refused["error"]["data"];
    assert_eq!((&data["kind"], &data["retryable"]), (&json!("unavailable"), &json!(true)));
    assert!(data["retry_after_seconds"].as_u64().unwrap() >= 1, "{refused}");
    pipe.close().await.assert_clean();
    assert_eq!(newest(&server).await, (1, json!("ended")));
}
