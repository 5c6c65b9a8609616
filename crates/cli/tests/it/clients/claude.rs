//! Claude Code reads the file that `toolcrib connect claude` writes, and reaches the server.

use std::process::Stdio;

use testkit::node::NodePackages;

use super::tests_path;
use crate::support::{Engine, Place, Said, Terminal, eventually};

/// The entry point that works without install scripts.
const CLAUDE: &str = "@anthropic-ai/claude-code/cli-wrapper.cjs";
/// The oldest Node that it runs on.
const NODE_MAJOR_MIN: u32 = 18;

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_reaches_the_connected_server() {
    let install = || NodePackages::install(&tests_path("node/claude"), NODE_MAJOR_MIN);
    let packages = tokio::task::spawn_blocking(install).await.unwrap();
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let home = terminal.within("home").here;
    let claude = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::from(packages.script(CLAUDE, &[]));
        command.args(arguments).current_dir(&terminal.here).env("HOME", &home).env("NO_PROXY", "127.0.0.1,localhost");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        command.stdin(Stdio::null()).kill_on_drop(true);
        Said::by(command).await
    };
    terminal.run("connect claude").await.ok();
    let before = claude(&["mcp", "list"]).await;
    assert!(
        before.ok().contains("toolcrib: ") && before.out.contains("Pending approval"),
        "Claude Code must ask first: {before:?}"
    );
    assert_eq!(server.sessions().await.len(), 0);

    // The user's approval.
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/settings.json"), r#"{"enabledMcpjsonServers": ["toolcrib"]}"#).unwrap();
    let printed = terminal.json("session open").await;
    let entry = printed["mcpConfig"]["mcpServers"]["toolcrib"].to_string();
    claude(&["mcp", "add-json", "--scope", "user", "by-http", &entry]).await.ok();
    let listed = claude(&["mcp", "list"]).await;
    for name in ["toolcrib: ", "by-http: "] {
        let line = listed.ok().lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}{listed:?}"));
        assert!(line.ends_with("Connected"), "{line}");
    }
    let sessions = server.sessions().await;
    assert_eq!((sessions.len(), &sessions[1]["sessionId"]), (2, &printed["sessionId"]));
    let states = async || server.sessions().await.iter().map(|session| session["state"].clone()).collect::<Vec<_>>();
    eventually("the stdio session of Claude Code has ended", async || states().await == ["ended", "open"]).await;
}
