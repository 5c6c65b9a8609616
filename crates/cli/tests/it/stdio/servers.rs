//! A stdio process outlives its servers.

use std::os::unix::fs::MetadataExt;

use base::{Clock, Timestamp};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{Backend, Pipe, set_up, summary};
use crate::support::{Crib, Engine, Place, Port, Process, Terminal, both_engines, call, modern, request};

/// Starts a server at a fixed address, so that another can replace it.
async fn start_at(place: &Place, address: &str) -> Process {
    let serve = place.serve();
    let arguments = serve.as_std().get_args().map(|word| if word == "127.0.0.1:0" { address.as_ref() } else { word });
    let mut command = Command::new(serve.as_std().get_program());
    command.args(arguments).current_dir(place.folder.path()).env("TOOLCRIB_LOG", "warn").kill_on_drop(true);
    Process::start(command, &place.data()).await
}

/// The result of a request after the server was killed. A kept connection may break on the first tries, with a retryable error.
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

/// The index of the process that holds the data folder's lock: it runs the server.
fn position_of_server(pipes: &[Pipe], place: &Place) -> usize {
    let inode = std::fs::metadata(place.data().join("toolcrib.lock")).unwrap().ino();
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    let holder = locks.lines().find_map(|lock| {
        let words = lock.split_whitespace().collect::<Vec<_>>();
        let is_it = words.get(5)?.rsplit(':').next()? == inode.to_string() && words.get(3) == Some(&"WRITE");
        is_it.then(|| words[4].parse::<u32>().unwrap())
    });
    let holder = holder.expect("no process holds the lock");
    pipes.iter().position(|pipe| pipe.child.id() == Some(holder)).expect("another process holds the lock")
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_fail_while_the_server_is_gone_and_work_again_afterwards() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let port = Port::reserve();
    let server = start_at(&place, &port.address()).await;
    let mut pipe = Pipe::open(&terminal, &format!("--url {}", server.url)).ready().await;
    // A stopped server receives requests and never answers.
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
    assert_eq!(summary(&refused), json!({"id": 1, "code": -32603}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("`toolcrib serve`"), "{refused}");
    pipe.write("garbage").await;
    assert_eq!(summary(&pipe.read().await), json!({"id": null, "code": -32700}), "a parse error needs no server");

    let server = start_at(&place, &port.address()).await;
    assert_eq!(
        summary(&pipe.ask(&call(2, "bricks.list", json!({}))).await),
        json!({"id": 2, "ok": true}),
        "the session continues"
    );
    pipe.close().await.assert_clean();
    let sessions = server.sessions().await;
    assert_eq!((sessions.len(), &sessions[0]["state"]), (1, &json!("ended")));
}

/// What a client says when its server is gone: it waits, or it starts an embedded server.
const GONE: [&str; 2] = ["waiting for it", "started an embedded one"];

both_engines! {
    async fn server_restarts_while_its_clients_call(engine: Engine) {
        let (place, server, terminal) = set_up(engine, Backend::Running).await;
        let terminal = terminal.with("TOOLCRIB_LOG", "info");
        let mut pipes = [Pipe::open(&terminal, "").ready().await, Pipe::open(&terminal, "").ready().await];
        server.unwrap().stop_with("TERM").await;
        for pipe in &mut pipes {
            pipe.write(call(1, "bricks.list", json!({})).to_string()).await;
            pipe.says(&GONE).await;
        }
        let server = place.start().await;
        for pipe in &mut pipes {
            assert_eq!(summary(&pipe.read().await), json!({"id": 1, "ok": true}), "the request waits for the server");
        }
        for pipe in pipes {
            let ended = pipe.close().await;
            ended.assert_clean();
            assert!(!ended.errors.contains("embedded one"), "{ended:?}");
        }
        let sessions = server.sessions().await;
        assert_eq!(sessions.len(), 2, "the sessions continue: {sessions:?}");
        assert!(sessions.iter().all(|session| session["state"] == "ended"), "{sessions:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn request_fails_if_the_server_stays_down() {
    let (place, server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let mut pipe = Pipe::open(&terminal, "").ready().await;
    server.unwrap().stop_with("TERM").await;
    let refused = pipe.ask(&call(1, "bricks.list", json!({}))).await;
    assert_eq!(refused["error"]["data"]["retryable"], true, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the server is down") && message.ends_with("start it with `toolcrib serve`, then retry"),
        "{message}"
    );
    let _server = place.start().await;
    served(&mut pipe, &call(2, "bricks.list", json!({}))).await;
    pipe.close().await.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn client_opens_a_new_session_if_the_restarted_server_lost_it() {
    let (place, server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    terminal.run("backup early.backup").await.ok();
    let mut pipe = Pipe::open(&terminal, "").ready().await;
    server.unwrap().stop_with("TERM").await;
    terminal.run("restore early.backup --replace").await.ok();
    let server = place.start().await;
    served(&mut pipe, &call(1, "bricks.list", json!({}))).await;
    pipe.close().await.assert_clean();
    let sessions = server.sessions().await;
    assert_eq!((sessions.len(), &sessions[0]["state"]), (1, &json!("ended")));
}

#[tokio::test(flavor = "multi_thread")]
async fn client_embeds_no_server_after_it_used_a_running_one() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let terminal = terminal.with("TOOLCRIB_LOG", "info");
    let first = Pipe::open(&terminal, "").ready().await;
    let mut second = Pipe::open(&terminal, "").ready().await;
    first.close().await.assert_clean();
    let server = place.start().await;
    served(&mut second, &call(1, "bricks.list", json!({}))).await;
    server.stop_with("TERM").await;
    second.write(call(2, "bricks.list", json!({})).to_string()).await;
    second.says(&GONE).await;
    let _server = place.start().await;
    assert_eq!(summary(&second.read().await), json!({"id": 2, "ok": true}));
    second.close().await.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_warns_about_an_embedded_server() {
    let (_place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let pipe = Pipe::open(&terminal, "").ready().await;
    let report = terminal.json("doctor").await;
    let check = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "server").unwrap();
    let words = format!("embedded in an MCP client's `toolcrib stdio` (process {})", pipe.child.id().unwrap());
    assert!(check["status"] == "warn" && check["detail"].as_str().unwrap().contains(&words), "{check}");
    assert!(check["hint"].as_str().unwrap().contains("toolcrib serve"), "{check}");
    assert_eq!(report["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_stdio_processes_share_one_server_and_outlive_it() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let mut pipes = (0..4).map(|_| Pipe::open(&terminal, "")).collect::<Vec<_>>();
    for pipe in &mut pipes {
        let draft = json!({"name": "n", "type": "boolean", "evaluation_prompt": "p"});
        assert_eq!(summary(&pipe.ask(&call(1, "bricks.create_draft", draft)).await), json!({"id": 1, "ok": true}));
    }
    // One process runs the server. When it ends, another takes over.
    while !pipes.is_empty() {
        pipes.remove(position_of_server(&pipes, &place)).close().await.assert_clean();
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
async fn failed_start_is_reported_on_stderr() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    for (flags, expected) in [
        ("--project nowhere", "no project `nowhere`"),
        ("--org nowhere", "no such org"),
        ("--url http://127.0.0.1:1 --key x", "refused"),
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
async fn expired_session_is_reopened_but_an_ended_one_is_not() {
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
        assert!(pipe.read().await.get("result").is_some(), "the client sees no error");
    }
    let anew = sessions().await;
    assert_eq!((anew.len(), &anew[0]["state"], &anew[0]["workType"]), (2, &json!("open"), &json!("chore")));
    tenant.post(&format!("sessions/{}/end", anew[0]["sessionId"].as_str().unwrap()), json!({})).await.expect(200);
    assert_eq!(
        summary(&pipe.ask(&request(9, "ping", json!({}))).await),
        json!({"id": 9, "code": -32000}),
        "an ended session is not reopened"
    );
    pipe.close().await.assert_clean();
    assert_eq!(sessions().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn header_arguments_are_sent_as_headers() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
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
    pipe.close().await.assert_clean();
}

/// The error must name the process that holds the folder.
#[tokio::test(flavor = "multi_thread")]
async fn second_server_names_the_stdio_process_that_holds_the_folder() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let pipe = Pipe::open(&terminal, "").ready().await;
    let said = terminal.run(&format!("serve --listen 127.0.0.1:0 --data {}", place.data().display())).await;
    let words = format!("an MCP client's `toolcrib stdio` (process {})", pipe.child.id().unwrap());
    assert!(said.refused(1).contains(&words), "{said:?}");
}
