//! Lists: sessions by state, costs with a total, and `audit list --follow`.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::support::{Engine, Place, Terminal, both_engines, in_time};

fn column<'t>(table: &'t str, title: &str) -> Vec<&'t str> {
    let start = table.lines().next().unwrap().find(title).unwrap_or_else(|| panic!("no {title}: {table}"));
    table.lines().skip(1).map(|line| line.get(start..).unwrap_or_default().split("  ").next().unwrap().trim()).collect()
}

both_engines! {
    async fn sessions_are_listed_by_state_with_agent_and_expiry(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("agent add builder --scope bricks:read --tool bricks.list").await.ok();
        let open = async |flags: &str| terminal.json(&format!("session open {flags}")).await;
        let ended = open("--agent-label me").await;
        terminal.run(&format!("session end {}", ended["sessionId"].as_str().unwrap())).await.ok();
        let opened = open("--agent builder --ttl 8h").await;
        let expired = open("--ttl 1s").await;
        crate::support::eventually("the session expires", async || {
            terminal.json("session list --state expired").await["sessions"].as_array().unwrap().len() == 1
        })
        .await;
        for (state, session) in [("ended", &ended), ("open", &opened), ("expired", &expired)] {
            let listed = terminal.json(&format!("session list --state {state}")).await;
            let ids = listed["sessions"].as_array().unwrap().iter().map(|row| &row["sessionId"]).collect::<Vec<_>>();
            assert_eq!(ids, [&session["sessionId"]], "{state}");
        }
        let table = terminal.run("session list").await.ok().to_owned();
        assert_eq!(column(&table, "STATE"), ["expired", "open", "ended"]);
        assert_eq!(column(&table, "AGENT"), ["-", "builder", "me"]);
        assert_eq!(column(&table, "EXPIRES")[1], opened["expiresAt"].as_str().unwrap());
        assert_eq!(terminal.run("session list --state open --limit 1").await.ok().lines().count(), 2);
        let said = terminal.run("session list --state asleep").await;
        assert!(said.refused(2).contains("open, ended, expired"), "{said:?}");
    }

    async fn costs_end_with_a_total(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        for tool in ["kits.list", "kits.list", "bricks.list"] {
            terminal.run(&format!("call {tool}")).await.ok();
        }
        crate::support::eventually("costs are counted", async || {
            terminal.json("costs").await["total"]["calls"].as_u64() == Some(3)
        })
        .await;
        let table = terminal.run("costs").await.ok().to_owned();
        assert_eq!((column(&table, "TOOL").last(), column(&table, "CALLS").last()), (Some(&"total"), Some(&"3")), "{table}");
        assert_eq!(terminal.json("costs").await["total"].get("verb"), None, "`--json` prints the API's answer unchanged");
    }

    async fn audit_follow_prints_every_entry_once(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("project add before").await.ok();
        let (mut child, mut all) = follow(&terminal, "--json");
        // The earlier entry is printed first. From then on, the command follows new entries.
        let mut numbers = Vec::new();
        loop {
            let entry = next(&mut all).await;
            numbers.push(entry["sequenceNumber"].as_u64().unwrap());
            if entry["payload"]["name"] == "before" {
                break;
            }
        }
        let (mut other, mut projects) = follow(&terminal, "--type project.created --limit 1 --json");
        assert_eq!(next(&mut projects).await["payload"]["name"], "before");
        for name in ["one", "two", "three"] {
            terminal.run(&format!("project add {name}")).await.ok();
            terminal.run("call kits.list").await.ok();
        }
        for name in ["one", "two", "three"] {
            assert_eq!(next(&mut projects).await["payload"]["name"], json!(name), "only matching entries, in order");
        }
        let whole = terminal.json("audit list").await;
        let newest = whole["events"][0]["sequenceNumber"].as_u64().unwrap();
        while numbers.last() != Some(&newest) {
            numbers.push(next(&mut all).await["sequenceNumber"].as_u64().unwrap());
        }
        assert_eq!(numbers, (numbers[0]..=newest).collect::<Vec<_>>(), "no gap and no repeat");
        for child in [&mut child, &mut other] {
            let id = child.id().unwrap().to_string();
            assert!(tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
            assert!(in_time(child.wait()).await.unwrap().success(), "Ctrl-C exits with 0");
        }
        let said = terminal.run("audit list --follow --until 1h").await;
        assert!(said.refused(2).contains("cannot be used with"), "{said:?}");
    }

    async fn audit_follow_continues_after_a_restart(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let admin = Terminal::at(&place);
        admin.run("project add before").await.ok();
        let key = admin.json("key add auditor --scope audit:read").await["key"]["fullKey"].as_str().unwrap().to_owned();
        let auditor = admin.with("TOOLCRIB_KEY", &key);
        let (mut child, mut entries) = follow(&auditor, "--type project.created --limit 1 --json");
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert_eq!(next(&mut entries).await["payload"]["name"], "before");
        let url = server.url.clone();
        server.stop_with("TERM").await;
        let line = in_time(said.next_line()).await.unwrap();
        assert_eq!(line, Some(format!("toolcrib: lost the connection to {url}; waiting for the server")));
        let server = place.start().await;
        for name in ["one", "two"] {
            admin.run(&format!("project add {name}")).await.ok();
        }
        for name in ["one", "two"] {
            assert_eq!(next(&mut entries).await["payload"]["name"], json!(name), "no gap and no repeat");
        }
        let line = in_time(said.next_line()).await.unwrap().unwrap();
        assert!(line.starts_with(&format!("toolcrib: connected to {}; continuing after entry ", server.url)), "{line}");
        admin.run("key revoke auditor").await.ok();
        let line = in_time(said.next_line()).await.unwrap().unwrap();
        assert!(line.contains("(401)"), "a revoked key ends it: {line}");
        assert_eq!(in_time(child.wait()).await.unwrap().code(), Some(1));
    }
}

fn follow(terminal: &Terminal, flags: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = terminal.command(&format!("audit list --follow {flags}"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

async fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    serde_json::from_str(&in_time(lines.next_line()).await.unwrap().expect("the command still runs")).unwrap()
}
