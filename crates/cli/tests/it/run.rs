//! `toolcrib run`: an agent in its own session. Nothing is left when either ends.

mod endings;

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::support::{Engine, Place, Process, Said, Terminal, http, in_time};

/// An agent that prints its environment and calls a tool with the config alone.
const AGENT: &str = r#"
import json, os, sys, urllib.request
path = os.environ["TOOLCRIB_MCP_CONFIG"]
entry = json.load(open(path))["mcpServers"]["toolcrib"]
arguments = {"name": "Tone", "type": "boolean", "evaluation_prompt": "Friendly?"}
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "bricks.create_draft", "arguments": arguments}}
request = urllib.request.Request(entry["url"], json.dumps(call).encode(), entry["headers"])
answer = json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request))
variables = {name: value for name, value in os.environ.items() if name.startswith("TOOLCRIB_")}
print(json.dumps({"mode": os.stat(path).st_mode & 0o777, "entry": entry, "answer": answer, "variables": variables,
                  "arguments": sys.argv[1:], "here": os.getcwd(), "input": sys.stdin.read()}))
"#;

/// A server and a terminal.
async fn start_server_and_terminal() -> (Place, Process, Terminal) {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place).within("code");
    (place, server, terminal)
}

/// `toolcrib run` with an agent that is a shell script.
fn run(terminal: &Terminal, flags: &str, script: &str) -> Command {
    let mut command = terminal.command(&format!("run {flags} -- sh -c"));
    command.arg(script);
    command
}

/// No config file remains at the end.
const NOTHING: &[PathBuf] = &[];

/// A shell loop that waits while `condition` holds, for at most a minute, so that nothing outlives a failed test for long.
fn waiting_while(condition: &str) -> String {
    format!("n=0; while {condition} && test $n -lt 3000; do n=$((n + 1)); sleep 0.02; done")
}

/// The config files in the terminal's directory.
fn config_files(terminal: &Terminal) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(&terminal.here).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_str().unwrap().contains(".toolcrib-mcp-")).collect()
}

/// A `toolcrib run` whose agent has started.
struct Running {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the command and returns the first line of its agent.
    async fn start(mut command: Command) -> (Self, String) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = in_time(output.next_line()).await.unwrap().expect("the agent starts");
        (Self { child, output }, said)
    }

    fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    async fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status().await.unwrap();
        assert!(sent.success());
    }

    /// The exit code and the remaining lines.
    async fn finish(mut self) -> (Option<i32>, Vec<String>) {
        let ending = async {
            let mut rest = Vec::new();
            while let Some(line) = self.output.next_line().await.unwrap() {
                rest.push(line);
            }
            (self.child.wait().await.unwrap().code(), rest)
        };
        in_time(ending).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_gets_its_own_session_and_key() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let key = terminal.json("key add launcher").await["key"]["fullKey"].as_str().unwrap().to_owned();
    let secrets = terminal
        .with("TOOLCRIB_KEY", &key)
        .with("TOOLCRIB_MASTER_KEY", &"ab".repeat(32))
        .with("TOOLCRIB_DATABASE_URL", "postgres://u:hidden@nowhere/x");
    let mut command = secrets.command("run --work-type bug_fix --agent-label tester -- python3 -c");
    command.args([AGENT, "--config={mcp-config}", "{mcp-url}", "{session}", "{other}"]);
    let said = Said::by_with_input(command, "typed by the user").await;
    let seen = said.json();

    assert_eq!(seen["mode"], 0o600);
    assert_eq!(seen["here"], terminal.here.to_str().unwrap());
    assert_eq!(seen["input"], "typed by the user");
    let created = seen["answer"]["result"]["structuredContent"]["brick_id"].as_str().unwrap();
    let session = seen["variables"]["TOOLCRIB_SESSION"].as_str().unwrap();
    let brick = terminal.json(&format!("brick show {created}")).await;
    assert_eq!(brick["brick"]["created_by"], session);

    let (url, token) = (&seen["entry"]["url"], seen["entry"]["headers"]["Authorization"].as_str().unwrap());
    assert_eq!(url, &json!(format!("{}/api/mcp/{session}", server.url)));
    let token = token.strip_prefix("Bearer ").unwrap();
    let file = seen["variables"]["TOOLCRIB_MCP_CONFIG"].as_str().unwrap();
    assert_eq!(seen["arguments"], json!([format!("--config={file}"), url, session, "{other}"]));
    let passed_on = json!({
        "TOOLCRIB_MCP_CONFIG": file, "TOOLCRIB_MCP_URL": url, "TOOLCRIB_MCP_TOKEN": token, "TOOLCRIB_SESSION": session,
        "TOOLCRIB_DATA": seen["variables"]["TOOLCRIB_DATA"],
    });
    assert_eq!(seen["variables"], passed_on, "the agent gets none of the launcher's secrets");
    assert_ne!(token, key);

    assert!(!std::path::Path::new(file).exists(), "the config file remains");
    let after = server.session(session).await;
    assert_eq!((&after["state"], &after["outcome"]), (&json!("ended"), &json!("accepted")));
    assert_eq!((&after["workType"], &after["agentLabel"]), (&json!("bug_fix"), &json!("tester")));
    let refused = http().post(url.as_str().unwrap()).bearer_auth(token).body("{}").send().await.unwrap();
    assert_eq!(refused.status(), 410, "the session key still works");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_returns_the_agents_exit_code_and_records_the_outcome() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let both = "--outcome-on-success rework --outcome-on-failure rejected";
    let neither = "--outcome-on-success none --outcome-on-failure none";
    for (flags, script, code, outcome) in [
        ("", "exit 0", 0, json!("accepted")),
        ("", "exit 7", 7, json!("rework")),
        // Death by a signal gives no outcome, whether the agent or its shell reports it.
        ("", "kill -KILL $$", 137, Value::Null),
        ("", "kill -TERM $$", 143, Value::Null),
        ("", "exit 130", 130, Value::Null),
        ("", "exit 143", 143, Value::Null),
        (both, "exit 0", 0, json!("rework")),
        (both, "exit 3", 3, json!("rejected")),
        (both, "kill -TERM $$", 143, json!("rejected")),
        (both, "exit 130", 130, json!("rejected")),
        (neither, "exit 0", 0, Value::Null),
        (neither, "exit 1", 1, Value::Null),
        ("--outcome-on-success none", "exit 1", 1, json!("rework")),
        ("--outcome-on-failure rejected", "exit 0", 0, json!("accepted")),
        ("--outcome-on-failure rejected", "exit 255", 255, json!("rejected")),
    ] {
        let said = Said::by(run(&terminal, flags, &format!("test -f \"$TOOLCRIB_MCP_CONFIG\" || exit 99; {script}"))).await;
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(code), "", ""), "{flags} {script}");
        let session = server.sessions().await.remove(0);
        assert_eq!((&session["state"], &session["outcome"]), (&json!("ended"), &outcome), "{flags} {script}");
    }
    let json = Said::by(run(&terminal, "--json", "exit 5")).await;
    assert_eq!(json.code, Some(5));
    let newest = server.sessions().await.remove(0);
    assert_eq!(serde_json::from_str::<Value>(&json.out).unwrap(), json!({"sessionId": newest["sessionId"], "exitCode": 5}));
    assert_eq!(config_files(&terminal), NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_that_cannot_start_leaves_nothing_behind() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    for (flags, outcome) in [("", Value::Null), ("--outcome-on-failure rejected", json!("rejected"))] {
        let said = terminal.run(&format!("run {flags} -- ./no-such-agent")).await;
        assert!(said.refused(127).contains("cannot start `./no-such-agent`"), "{said:?}");
        let session = server.sessions().await.remove(0);
        assert_eq!((&session["state"], &session["outcome"]), (&json!("ended"), &outcome), "{flags}");
    }
    assert_eq!(config_files(&terminal), NOTHING);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_are_separate_and_clean_up_stale_files() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let left = terminal.here.join(".toolcrib-mcp-0123456789.json");
    std::fs::write(&left, "{}").unwrap();
    std::fs::write(terminal.here.join(".mcp.json"), "{}").unwrap();
    let wait = waiting_while("test -f stay");
    let wait = format!("echo \"$TOOLCRIB_MCP_CONFIG\"; {wait}; test -f \"$TOOLCRIB_MCP_CONFIG\"");
    std::fs::write(terminal.here.join("stay"), "").unwrap();
    let (first, one) = Running::start(run(&terminal, "", &wait)).await;
    assert!(!left.exists(), "a stale config file remains");
    let (second, other) = Running::start(run(&terminal, "", &wait)).await;
    assert_ne!(one, other);
    let mut files = config_files(&terminal);
    files.sort();
    let mut expected = [PathBuf::from(one), PathBuf::from(other)];
    expected.sort();
    assert_eq!(files, expected, "the config file of a live run was removed");
    assert_eq!(server.sessions().await.iter().filter(|session| session["state"] == "open").count(), 2);
    std::fs::remove_file(terminal.here.join("stay")).unwrap();
    assert_eq!(first.finish().await.0, Some(0));
    assert_eq!(second.finish().await.0, Some(0));
    assert_eq!(config_files(&terminal), NOTHING);
    assert!(terminal.here.join(".mcp.json").exists(), "another file was removed");
}
