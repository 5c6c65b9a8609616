//! Servers that come and go under a door that stays.

use std::os::unix::fs::MetadataExt;

use base::{Clock, Timestamp};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{Ground, Pipe, gist, ground};
use crate::support::{Crib, Engine, Place, Port, Process, Terminal, call, modern, request};

/// A server at an address of the test's own choice, so that another can take its place.
async fn start_at(place: &Place, address: &str) -> Process {
    let serve = place.serve();
    let arguments = serve.as_std().get_args().map(|word| if word == "127.0.0.1:0" { address.as_ref() } else { word });
    let mut command = Command::new(serve.as_std().get_program());
    command.args(arguments).current_dir(place.folder.path()).env("TOOLCRIB_LOG", "warn").kill_on_drop(true);
    Process::start(command, &place.data()).await
}

/// The result of a request after the server has gone. A connection that had been kept may break on the first try, which says
/// so; from then on there is another server.
async fn served(pipe: &mut Pipe, message: &Value) -> Value {
    for _ in 0..3 {
        let mut answer = pipe.ask(message).await;
        assert_eq!(answer["id"], message["id"]);
        if answer.get("result").is_some() {
            return answer["result"].take();
        }
        assert_eq!(answer["error"]["data"]["retryable"], true, "{answer}");
    }
    panic!("never served: {message}");
}

/// Which of these processes has the data folder's lock, as its server does.
fn position_of_server(pipes: &[Pipe], place: &Place) -> usize {
    let inode = std::fs::metadata(place.data().join("toolcrib.lock")).unwrap().ino();
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    let holder = locks.lines().find_map(|lock| {
        let words = lock.split_whitespace().collect::<Vec<_>>();
        let is_it = words.get(5)?.rsplit(':').next()? == inode.to_string() && words.get(3) == Some(&"WRITE");
        is_it.then(|| words[4].parse::<u32>().unwrap())
    });
    let holder = holder.expect("somebody has the lock");
    pipes.iter().position(|pipe| pipe.child.id() == Some(holder)).expect("one of the doors has it")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_answers_with_errors_and_comes_back() {
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
    let port = Port::reserve();
    let server = start_at(&place, &port.address()).await;
    let mut pipe = Pipe::open(&terminal, &format!("--url {}", server.url)).ready().await;
    // It hears the requests and never answers them.
    server.signal("STOP").await;
    for id in 0..20 {
        pipe.write(call(format!("lost {id}"), "bricks.list", json!({})).to_string()).await;
    }
    pipe.write(json!([request("a", "ping", json!({})), request("b", "ping", json!({}))]).to_string()).await;
    pipe.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
    server.kill_nine().await;
    let mut lost = Vec::new();
    for _ in 0..21 {
        let answer = pipe.read().await;
        for answer in answer.as_array().cloned().unwrap_or_else(|| vec![answer]) {
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            let data = &answer["error"]["data"];
            assert_eq!((&data["kind"], &data["retryable"]), (&json!("unavailable"), &json!(true)), "{answer}");
            lost.push(answer["id"].as_str().unwrap().to_owned());
        }
    }
    let mut expected = (0..20).map(|id| format!("lost {id}")).chain(["a".into(), "b".into()]).collect::<Vec<_>>();
    expected.sort();
    lost.sort();
    assert_eq!(lost, expected);
    let refused = pipe.ask(&request(1, "ping", json!({}))).await;
    assert_eq!(gist(&refused), json!({"id": 1, "code": -32603}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("`toolcrib serve`"), "{refused}");
    pipe.write("garbage").await;
    assert_eq!(gist(&pipe.read().await), json!({"id": null, "code": -32700}), "needs no server");

    let server = start_at(&place, &port.address()).await;
    assert_eq!(gist(&pipe.ask(&call(2, "bricks.list", json!({}))).await), json!({"id": 2, "ok": true}), "the session went on");
    pipe.close().await.well();
    let sessions = server.sessions().await;
    assert_eq!((sessions.len(), &sessions[0]["state"]), (1, &json!("ended")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_without_its_server_becomes_one() {
    let (place, server, terminal) = ground(Engine::Sqlite, Ground::Running).await;
    let mut pipe = Pipe::open(&terminal, "").ready().await;
    server.unwrap().kill_nine().await;
    served(&mut pipe, &call(1, "bricks.list", json!({}))).await;
    pipe.close().await.well();
    let sessions = place.start().await.sessions().await;
    assert_eq!((sessions.len(), &sessions[0]["state"]), (1, &json!("ended")), "the same session, and it was ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn doors_that_start_at_once_share_one_server_and_outlive_it() {
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
    let mut pipes = (0..4).map(|_| Pipe::open(&terminal, "")).collect::<Vec<_>>();
    for pipe in &mut pipes {
        let draft = json!({"name": "n", "type": "boolean", "evaluation_prompt": "p"});
        assert_eq!(gist(&pipe.ask(&call(1, "bricks.create_draft", draft)).await), json!({"id": 1, "ok": true}));
    }
    // One of them is the server: it leaves, another becomes it, and the others hardly notice.
    while !pipes.is_empty() {
        pipes.remove(position_of_server(&pipes, &place)).close().await.well();
        for pipe in &mut pipes {
            let listed = served(pipe, &call(2, "bricks.list", json!({}))).await;
            assert_eq!(listed["structuredContent"]["bricks"].as_array().map(Vec::len), Some(4), "{listed}");
        }
    }
    let sessions = place.start().await.sessions().await;
    assert_eq!(sessions.len(), 4);
    assert!(sessions.iter().all(|session| session["state"] == "ended"), "{sessions:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_it_from_starting_is_said_on_stderr() {
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
    for (flags, expected) in [
        ("--project nowhere", "no project `nowhere`"),
        ("--org nowhere", "no such org"),
        ("--url http://127.0.0.1:1 --key x", "nothing listens at"),
        ("--url http://127.0.0.1:1", "no key for"),
        ("--key rsk_live_wrong", "(401)"),
        ("--config nowhere.toml", "no settings file nowhere.toml"),
    ] {
        let ended = Pipe::open(&terminal, flags).close().await;
        assert_eq!((ended.code, ended.rest.len()), (Some(1), 0), "{flags}: {ended:?}");
        assert!(ended.errors.contains(expected), "{flags}: {}", ended.errors);
    }
    std::fs::write(place.data().join("toolcrib.toml"), "lisen = 1\n").unwrap();
    let ended = Pipe::open(&terminal, "").close().await;
    assert!(ended.code == Some(1) && ended.errors.contains("lisen"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_expired_is_opened_anew_and_one_that_was_ended_is_not() {
    let clock = Clock::manual(Timestamp::from_ms(1_800_000_000_000));
    let crib = Crib::start_with(Engine::Sqlite, |config| config.clock = clock.clone()).await;
    let tenant = crib.tenant().await;
    let sessions = async || tenant.get("sessions").await.expect(200)["sessions"].as_array().unwrap().clone();
    let place = format!("--url {} --key {} --org {} --project {}", crib.url, tenant.key, tenant.org, tenant.project);
    let terminal = Terminal::without_data(crib.folder.path());
    let mut pipe = Pipe::open(&terminal, &format!("{place} --ttl 60 --work-type chore")).ready().await;
    clock.advance_ms(60_000);
    assert_eq!(sessions().await[0]["state"], "expired");
    for id in 0..8 {
        pipe.write(call(id, "bricks.list", json!({})).to_string()).await;
    }
    for _ in 0..8 {
        assert!(pipe.read().await.get("result").is_some(), "the client notices nothing");
    }
    let anew = sessions().await;
    assert_eq!((anew.len(), &anew[0]["state"], &anew[0]["workType"]), (2, &json!("open"), &json!("chore")));
    tenant.post(&format!("sessions/{}/end", anew[0]["sessionId"].as_str().unwrap()), json!({})).await.expect(200);
    assert_eq!(gist(&pipe.ask(&request(9, "ping", json!({}))).await), json!({"id": 9, "code": -32603}), "somebody meant it");
    pipe.close().await.well();
    assert_eq!(sessions().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_a_tool_wants_in_headers_are_sent_there() {
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
    let mut serve = place.serve();
    serve.env("TOOLCRIB_CONFORMANCE", "1");
    let _server = Process::start(serve, &place.data()).await;
    let mut pipe = Pipe::open(&terminal, "").ready().await;
    for (id, region) in [(1, "eu-west-1"), (2, "Österreich"), (3, " padded ")] {
        let call = modern(id, "tools/call", json!({"name": "test_x_mcp_header", "arguments": {"region": region}}));
        let answer = pipe.ask(&call).await;
        assert!(answer.get("result").is_some(), "{answer}");
    }
    let without = modern(4, "tools/call", json!({"name": "test_x_mcp_header", "arguments": {}}));
    assert!(pipe.ask(&without).await.get("result").is_some());
    pipe.close().await.well();
}
