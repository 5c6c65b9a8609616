//! `toolcrib tools` and `toolcrib call` use the session door, in a session that ends with the command.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::{Engine, Place, Said, Terminal, both_engines, in_time};

const DRAFT: &str = r#"{"name": "Tone", "type": "boolean", "evaluation_prompt": "Friendly?"}"#;

fn names(list: &Value) -> BTreeSet<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn call_refused_for_a_scope_names_the_scope() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    let made = terminal.json("key add narrow --scope sessions:write").await;
    let key = made["key"]["fullKey"].as_str().unwrap();
    let said = terminal.run(&format!("call bricks.list --key {key}")).await;
    let words = said.refused(1);
    assert!(words.contains("`bricks.list` needs the scope `bricks:read`, which this credential does not have"), "{words}");
    assert!(words.contains("\n  scope: bricks:read\n"), "{words}");
}

both_engines! {
    async fn call_takes_arguments_from_line_stdin_or_file(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let terminal = Terminal::at(&place);
        std::fs::write(terminal.here.join("brick.json"), DRAFT).unwrap();
        let said = [
            terminal.run(&format!("call bricks.create_draft '{DRAFT}'")).await,
            terminal.run_with_input("call bricks.create_draft -", DRAFT).await,
            terminal.run("call bricks.create_draft @brick.json").await,
        ];
        let listed = terminal.json("brick list").await;
        let ids = listed["bricks"].as_array().unwrap().iter().map(|brick| brick["brick_id"].as_str().unwrap()).rev();
        let expected = ids.map(|id| format!("Created draft brick {id}.")).collect::<Vec<_>>();
        assert_eq!(said.iter().map(|said| said.ok().lines().next().unwrap()).collect::<Vec<_>>(), expected);

        let shown = terminal.run("call bricks.list").await;
        let (first, rows) = shown.ok().split_once('\n').unwrap();
        assert_eq!(first, "Listed 3 brick(s).", "arguments are optional");
        let shown = rows.lines().skip(1).map(|row| row.split(" | ").next().unwrap()).collect::<Vec<_>>();
        let ids = listed["bricks"].as_array().unwrap().iter().map(|brick| brick["brick_id"].as_str().unwrap());
        assert_eq!(shown, ids.collect::<Vec<_>>(), "{rows}");
        let whole = terminal.json("call bricks.list '{\"limit\": 1}'").await;
        assert_eq!(whole["structuredContent"]["bricks"].as_array().unwrap().len(), 1);
        let sessions = server.sessions().await;
        assert_eq!(sessions.len(), 5);
        assert!(sessions.iter().all(|session| session["state"] == "ended"), "{sessions:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_lists_the_tools_of_a_session() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    let all = terminal.json("tools").await;
    assert!(names(&all).is_superset(&["bricks.create_draft", "bricks.list", "kits.get"].into()), "{all}");
    let schema = &all["tools"][0]["inputSchema"];
    assert_eq!(schema["type"], "object", "`--json` prints the whole listing");
    let shown = terminal.run("tools").await;
    let (title, rows) = shown.ok().split_once('\n').unwrap();
    assert_eq!(words_of(title), ["TOOL", "DESCRIPTION"]);
    assert_eq!(rows.lines().map(|row| words_of(row)[0]).collect::<BTreeSet<_>>(), names(&all));

    let two = "--tool bricks.list --tool kits.get";
    assert_eq!(names(&terminal.json(&format!("tools {two}")).await), ["bricks.list", "kits.get"].into());
    assert_eq!(names(&terminal.json(&format!("tools {two} --tool-names safe")).await), ["bricks_list", "kits_get"].into());
    let key = terminal.json("key add reader --scope org:read,sessions:write,kits:read").await["key"]["fullKey"].take();
    let reader = terminal.with("TOOLCRIB_KEY", key.as_str().unwrap());
    assert_eq!(names(&reader.json("tools").await), ["kits.get", "kits.list"].into());
    let refused = reader.run("call bricks.list --json").await;
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    let error: Value = serde_json::from_str(&refused.err).unwrap();
    assert_eq!((&error["error"]["code"], &error["error"]["data"]["kind"]), (&json!(-32003), &json!("not_permitted")));
    let nothing = terminal.json("key add nothing --scope org:read,sessions:write").await["key"]["fullKey"].take();
    let said = terminal.with("TOOLCRIB_KEY", nothing.as_str().unwrap()).run("tools").await;
    assert!(said.ok().starts_with("this session has no tools"), "{said:?}");
}

fn words_of(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_tool_call_fails_the_command() {
    let place = Place::new(Engine::Sqlite);
    let mut serve = place.serve();
    serve.env("TOOLCRIB_CONFORMANCE", "1");
    let _server = crate::support::Process::start(serve, &place.data()).await;
    let terminal = Terminal::at(&place);
    let failed = terminal.run("call test_error_handling").await;
    assert_eq!((failed.code, failed.err.as_str()), (Some(1), ""));
    assert!(!failed.out.trim().is_empty(), "the tool's text is shown");
    let image = terminal.run("call test_image_content").await;
    assert_eq!(image.ok(), "[image image/png (--json shows it)]\n");
    assert!(terminal.json("call test_image_content").await["content"][0]["data"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_stdout_pipe_is_no_failure() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place).with("BINARY", crate::support::binary().to_str().unwrap());
    let mut shell = terminal.program("bash");
    shell.args(["-c", "\"$BINARY\" tools --json | true; echo \"${PIPESTATUS[0]}\""]);
    let said = Said::by(shell).await;
    assert_eq!((said.ok(), said.err.as_str()), ("0\n", ""));
    assert!(server.sessions().await.iter().all(|session| session["state"] == "ended"));
}

/// A proxy that forwards everything but requests to a session door. It never answers those, and reports each on the channel.
async fn proxy_without_session_door(server: &str) -> (String, mpsc::Receiver<()>, JoinSet<()>) {
    let server = server.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (report, reported) = mpsc::channel(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let (server, report) = (server.clone(), report.clone());
            connections.spawn(async move {
                let mut first = vec![0; 64 * 1024];
                let length = client.read(&mut first).await.unwrap();
                if first.starts_with(b"POST /api/mcp/") {
                    report.send(()).await.unwrap();
                    std::future::pending::<()>().await;
                }
                let mut server = TcpStream::connect(server).await.unwrap();
                tokio::io::AsyncWriteExt::write_all(&mut server, &first[..length]).await.unwrap();
                // Either side may close first.
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (url, reported, tasks)
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_command_ends_its_session() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    for (signal, command) in [("TERM", "call bricks.list"), ("INT", "call bricks.list"), ("TERM", "tools")] {
        let (url, mut called, _tasks) = proxy_without_session_door(&server.url).await;
        let line = format!("{command} --org default --url {url} --key {}", server.admin_key);
        let mut child = terminal.command(&line).stderr(std::process::Stdio::null()).spawn().unwrap();
        in_time(called.recv()).await.unwrap();
        assert_eq!(server.sessions().await[0]["state"], "open");
        let id = child.id().unwrap().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().await.unwrap().success());
        assert_eq!(in_time(child.wait()).await.unwrap().code(), Some(1), "{signal}");
        assert_eq!(server.sessions().await[0]["state"], "ended", "{signal} {command}");
    }
}
