//! However it ends, its session ends with it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{Ground, Pipe, gist, ground};
use crate::support::{Engine, Process, both_engines, in_time, modern, request};

/// The state of the newest session, and how many there are.
async fn newest(server: &Process) -> (usize, Value) {
    let mut sessions = server.sessions().await;
    (sessions.len(), sessions[0]["state"].take())
}

both_engines! {
    async fn the_session_ends_with_the_input(engine: Engine) {
        let (_place, server, terminal) = ground(engine, Ground::Running).await;
        let server = server.unwrap();
        let pipe = Pipe::open(&terminal, "--work-type bug_fix --agent-label tester").ready().await;
        let open = server.sessions().await.remove(0);
        assert_eq!((&open["state"], &open["workType"], &open["agentLabel"]), (&json!("open"), &json!("bug_fix"), &json!("tester")));
        pipe.close().await.well();
        assert_eq!(newest(&server).await, (1, json!("ended")));
        // Nothing asked, nothing left open.
        Pipe::open(&terminal, "").close().await.well();
        assert_eq!(newest(&server).await, (2, json!("ended")));
    }

    async fn the_session_on_an_embedded_server_ends_too(engine: Engine) {
        let (place, _none, terminal) = ground(engine, Ground::Embedded).await;
        let pipe = Pipe::open(&terminal, "").ready().await;
        assert_eq!(terminal.json("session list").await["sessions"][0]["state"], "open", "its server is found by others");
        pipe.close().await.well();
        assert!(terminal.run("session list").await.refused(1).contains("no server is running"), "and gone with it");
        let server = place.start().await;
        assert_eq!(newest(&server).await, (1, json!("ended")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_is_an_end_like_any_other() {
    let (_place, server, terminal) = ground(Engine::Sqlite, Ground::Running).await;
    let server = server.unwrap();
    for (count, signal) in ["TERM", "INT"].into_iter().enumerate() {
        let pipe = Pipe::open(&terminal, "").ready().await;
        pipe.signal(signal).await;
        pipe.wait().await.well();
        assert_eq!(newest(&server).await, (count + 1, json!("ended")), "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_went_away_is_an_end_too() {
    let (_place, server, terminal) = ground(Engine::Sqlite, Ground::Running).await;
    let Pipe { mut child, mut input, output, errors } = Pipe::open(&terminal, "").ready().await;
    drop(output);
    input.write_all(format!("{}\n", request(1, "ping", json!({}))).as_bytes()).await.unwrap();
    let ended = in_time(child.wait()).await.unwrap();
    assert!(ended.success(), "{ended} {}", errors.await.unwrap());
    assert_eq!(newest(&server.unwrap()).await, (1, json!("ended")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_does_not_hold_the_end_up() {
    let (_place, server, terminal) = ground(Engine::Sqlite, Ground::Running).await;
    let mut pipe = Pipe::open(&terminal, "");
    let listen = modern(1, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(pipe.ask(&listen).await["method"], "notifications/subscriptions/acknowledged");
    let begun = Instant::now();
    pipe.close().await.well();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(newest(&server.unwrap()).await, (1, json!("ended")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_ended_elsewhere_says_so_to_each_request() {
    let (_place, server, terminal) = ground(Engine::Sqlite, Ground::Running).await;
    let mut pipe = Pipe::open(&terminal, "").ready().await;
    let server = server.unwrap();
    let id = server.sessions().await[0]["sessionId"].as_str().unwrap().to_owned();
    terminal.run(&format!("session end {id} --outcome rejected")).await.ok();
    for number in [1, 2] {
        let answer = pipe.ask(&request(number, "ping", json!({}))).await;
        assert_eq!(gist(&answer), json!({"id": number, "code": -32603}));
        assert!(answer["error"]["message"].as_str().unwrap().contains("start `toolcrib stdio` anew"), "{answer}");
    }
    pipe.close().await.well();
    assert_eq!(terminal.json(&format!("session show {id}")).await["session"]["outcome"], "rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_are_told_to_wait_and_the_session_still_ends() {
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
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
    assert_eq!(gist(refused), json!({"id": 7, "code": -32603}));
    let data = &refused["error"]["data"];
    assert_eq!((&data["kind"], &data["retryable"]), (&json!("unavailable"), &json!(true)));
    assert!(data["retry_after_seconds"].as_u64().unwrap() >= 1, "{refused}");
    pipe.close().await.well();
    assert_eq!(newest(&server).await, (1, json!("ended")));
}
