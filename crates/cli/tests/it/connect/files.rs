//! Messages about the client's file and its directory.

use serde_json::Value;

use super::start_server_and_terminal;
use crate::support::in_time;

#[tokio::test(flavor = "multi_thread")]
async fn replaced_entry_is_reported() {
    let (_place, _server, terminal) = start_server_and_terminal().await;
    let file = terminal.here.join(".mcp.json");
    let old = r#"{"mcpServers": {"toolcrib": {"command": "somebody else's"}}}"#;
    // Some editors write a byte order mark.
    std::fs::write(&file, format!("\u{feff}{old}")).unwrap();
    let said = terminal.run("connect claude").await;
    assert!(said.ok().contains("written, with the entry `toolcrib` replaced. Next: "), "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok() && !text.contains("somebody"), "{text}");
    assert!(terminal.run("connect claude").await.ok().contains("is up to date"));
}

#[tokio::test(flavor = "multi_thread")]
async fn client_file_must_be_a_regular_file() {
    let (_place, _server, terminal) = start_server_and_terminal().await;
    let pipe = terminal.here.join(".mcp.json");
    assert!(terminal.program("mkfifo").arg(&pipe).status().await.unwrap().success());
    let said = in_time(terminal.run("connect claude")).await;
    assert!(said.refused(1).contains(".mcp.json is not a file"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn project_name_may_begin_with_a_dash() {
    let (_place, _server, terminal) = start_server_and_terminal().await;
    terminal.run("project add -- -dash").await.ok();
    terminal.run("connect claude --project=-dash").await.ok();
    let text = std::fs::read_to_string(terminal.here.join(".mcp.json")).unwrap();
    assert!(text.contains("\"--project=-dash\""), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn directory_without_a_project_gets_a_note() {
    let (_place, _server, terminal) = start_server_and_terminal().await;
    let here = terminal.run("connect claude").await;
    assert!(!here.err.contains("note: "), "{here:?}");
    let outside = tempfile::tempdir().unwrap();
    let elsewhere = terminal.within(outside.path().to_str().unwrap());
    for line in ["connect claude", "connect --print"] {
        let said = elsewhere.run(line).await;
        said.ok();
        let words = "note: using project `default`, because no project contains this directory; create one for this directory with \
                     `toolcrib project add NAME --root .`";
        assert!(said.err.contains(words), "{line}: {said:?}");
        let named = elsewhere.run(&format!("{line} --project web")).await;
        assert!(!named.err.contains("note: "), "{named:?}");
    }
    let doctor = elsewhere.run("doctor").await;
    assert!(doctor.out.contains("no project contains this directory"), "{doctor:?}");
}
