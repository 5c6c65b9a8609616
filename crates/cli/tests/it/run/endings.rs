//! How a run ends: signals, kill -9, Ctrl-C at a terminal, and a killed server.

use serde_json::{Value, json};

use super::{NOTHING, Running, config_files, run, start_server_and_terminal, waiting_while};
use crate::support::{Said, binary, eventually, in_time};

/// A script that prints its process id and waits for a signal.
fn waiting(traps: &str) -> String {
    format!("{traps} echo $$; {}", waiting_while(":"))
}

/// The state, the parent and the process group of a process, or `None` if it is gone.
fn process(id: u32) -> Option<(char, u32, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold any character.
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The live processes, without zombies, whose parent and group match.
fn live_processes(is_match: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id| process(*id).is_some_and(|(state, parent, group)| !matches!(state, 'Z' | 'X') && is_match(parent, group)))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_reach_the_agent_and_its_children() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let flag = "--outcome-on-failure rework";
    for (flags, signal, traps, code, outcome) in [
        (flag, "INT", "trap 'echo heard; exit 40' INT;", 40, json!("rework")),
        (flag, "TERM", "trap 'echo heard; exit 40' TERM;", 40, json!("rework")),
        (flag, "HUP", "trap 'echo heard; exit 40' HUP;", 40, json!("rework")),
        (flag, "INT", "", 130, json!("rework")),
        (flag, "TERM", "", 143, json!("rework")),
        (flag, "HUP", "", 129, json!("rework")),
        // A run that is stopped from outside has no outcome, however the agent reacts.
        ("", "TERM", "", 143, Value::Null),
        ("", "HUP", "", 129, Value::Null),
        ("", "INT", "trap 'echo heard; exit 40' INT;", 40, Value::Null),
        ("", "TERM", "trap 'echo heard; exit 0' TERM;", 0, Value::Null),
    ] {
        let (running, agent) = Running::start(run(&terminal, flags, &waiting(traps))).await;
        let agent: u32 = agent.parse().unwrap();
        assert_eq!(
            process(agent).map(|(_, parent, group)| (parent, group)),
            Some((running.id(), agent)),
            "the agent has its own process group"
        );
        running.signal(signal).await;
        let heard = if traps.is_empty() { vec![] } else { vec!["heard".to_owned()] };
        assert_eq!(running.finish().await, (Some(code), heard), "{signal} {traps}");
        eventually("the agent and its children are gone", async || live_processes(|_, group| group == agent).is_empty()).await;
        let session = server.sessions().await.remove(0);
        assert_eq!((&session["state"], &session["outcome"]), (&json!("ended"), &outcome), "{flags} {signal} {traps}");
        assert_eq!(config_files(&terminal), NOTHING, "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_nine_of_a_run_leaves_nothing_behind() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    // An agent that ignores signals, with a child that does the same.
    let stubborn = waiting("trap '' TERM HUP INT; sleep 60 &");
    let (mut running, agent) = Running::start(run(&terminal, "--outcome-on-failure rejected", &stubborn)).await;
    let agent: u32 = agent.parse().unwrap();
    assert!(live_processes(|_, group| group == agent).len() >= 2);
    let id = running.id();
    let watchers = live_processes(|parent, group| parent == id && group != agent);
    assert_eq!(watchers.len(), 1, "the watcher is outside the agent's process group");
    let file = config_files(&terminal).remove(0);
    let session = server.sessions().await[0]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(server.session(&session).await["state"], "open");

    running.child.kill().await.unwrap();
    eventually("the file is gone", async || !file.exists()).await;
    eventually("the session is ended", async || server.session(&session).await["state"] == "ended").await;
    eventually("the agent and its children are gone", async || live_processes(|_, group| group == agent).is_empty()).await;
    eventually("the watcher is gone", async || process(watchers[0]).is_none_or(|(state, _, _)| state == 'Z')).await;
    assert_eq!(server.session(&session).await["outcome"], "rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_run_has_no_outcome() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let (mut running, _) = Running::start(run(&terminal, "", &waiting(""))).await;
    let session = server.sessions().await[0]["sessionId"].as_str().unwrap().to_owned();
    running.child.kill().await.unwrap();
    eventually("the session is ended", async || server.session(&session).await["state"] == "ended").await;
    assert_eq!(server.session(&session).await["outcome"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_finishes_when_the_server_is_gone() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    std::fs::write(terminal.here.join("stay"), "").unwrap();
    let script = format!("echo begun; {}; exit 6", waiting_while("test -f stay"));
    let mut command = run(&terminal, "", &script);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 6];
    tokio::io::AsyncReadExt::read_exact(&mut out, &mut first).await.unwrap();
    server.kill_nine().await;
    std::fs::remove_file(terminal.here.join("stay")).unwrap();
    let output = in_time(child.wait_with_output()).await.unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{words}");
    assert!(words.starts_with("warning: cannot end session ses_") && words.contains("ends when it expires"), "{words}");
    assert_eq!(config_files(&terminal), NOTHING);
}

/// Starts a command at a pseudo-terminal, waits for its first line, types Ctrl-C, and prints the result and the exit code.
const CTRL_C: &str = r#"
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"begun" not in seen:
    seen += os.read(terminal, 1024)
os.write(terminal, b"\x03")
try:
    while piece := os.read(terminal, 1024):
        seen += piece
except OSError:
    pass
print("heard" if b"heard" in seen else seen, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_at_a_terminal_goes_to_the_agent() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let agent = format!("trap 'echo heard; exit 40' INT; echo begun; {}", waiting_while(":"));
    let mut command = terminal.program("python3");
    command.args(["-c", CTRL_C]).arg(binary()).args(["run", "--", "sh", "-c", &agent]);
    assert_eq!(Said::by(command).await.ok(), "heard 40\n");
    let session: Value = server.sessions().await.remove(0);
    assert_eq!((&session["state"], &session["outcome"]), (&json!("ended"), &json!("rework")), "the agent's exit code decides");
    assert_eq!(config_files(&terminal), NOTHING);
}
