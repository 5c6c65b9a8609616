//! `toolcrib policy` beyond the transcripts: names that look like Cedar, files, exit codes, and the documentation.

use serde_json::{Value, json};

use crate::support::{Engine, Place, Said, Terminal, both_engines};

/// An agent with every brick tool.
async fn agent(terminal: &Terminal, name: &str) -> Value {
    let mut add = terminal.command("agent add --scope bricks:read,bricks:create_draft --tool bricks.list,bricks.create_draft");
    add.args(["--json", "--", name]);
    Said::by(add).await.json()
}

fn write(terminal: &Terminal, name: &str, text: &str) {
    std::fs::write(terminal.here.join(name), text).unwrap();
}

both_engines! {
    /// Names come from other people. A policy for a name forbids only what it should, and permits nothing.
    async fn names_cannot_inject_cedar(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        for (number, name) in ["x\"); permit (principal, action, resource); //", "\\", "*/ \\\" // \u{2028}x"].iter().enumerate() {
            let id = agent(&terminal, name).await["agent_id"].as_str().unwrap().to_owned();
            let mut forbid = terminal.command(&format!("policy forbid --tool bricks.list --id nasty-{number} --json"));
            forbid.args(["--agent", name]);
            let saved = Said::by(forbid).await.json();
            let cedar = saved["policy"]["cedar"].as_str().unwrap();
            assert!(cedar.contains(&format!("principal in Agent::\"{id}\"")), "{cedar}");
            let explained = terminal.json(&format!("policy explain --agent {id} --tool bricks.list")).await;
            // The policy is one statement, with the document's name.
            assert_eq!(explained["decision"]["policies"], json!([format!("nasty-{number}")]), "{explained}");
            let other = terminal.json(&format!("policy explain --agent {id} --tool bricks.create_draft")).await;
            assert_eq!(other["decision"]["policies"], json!(["starter#own-tools"]), "the name permits nothing: {other}");
        }
        // A hostile tool name stays part of unknown names, split at its commas, and nothing is saved.
        let mut grant = terminal.command("policy grant --everyone --id hostile --json");
        grant.args(["--tool", "a\");\npermit (principal, action, resource); //"]);
        let refused = Said::by(grant).await;
        assert!(refused.refused(1).contains(r#"unrecognized action `Action::"a\");\npermit (principal"`"#), "{refused:?}");
        assert!(terminal.json("policy list").await["policies"].as_array().unwrap().iter().all(|policy| policy["id"] != "hostile"));
        assert_eq!(terminal.json("policy list").await["flagged"], json!([]));
    }

    async fn grants_limit_the_tools_of_a_project(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        terminal.run("project add web --graph on").await.ok();
        terminal.run("policy grant --read-only-tools --project web").await.ok();
        terminal.run("policy grant --tool bricks.create_draft,kits.list --project default").await.ok();
        terminal.run("policy remove starter").await.ok();
        let tools = async |project: &str| {
            let listed = terminal.json(&format!("tools --project {project}")).await;
            let mut names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
            names.sort();
            names.join(" ")
        };
        let reading = "af_memory_recall bricks.list get_context get_performance_metrics graph_neighbors graph_path graph_query kits.get \
                       kits.list query_history";
        assert_eq!(tools("web").await, reading);
        assert_eq!(tools("default").await, "bricks.create_draft kits.list");
        let session = terminal.json("session open --project web").await["sessionId"].as_str().unwrap().to_owned();
        terminal.run(&format!("policy forbid --tool bricks.list --session {session}")).await.ok();
        let said = terminal.run(&format!("policy explain --session {session} --tool bricks.list --arguments {{}}")).await;
        assert!(said.ok().contains("refused: session `ses_") && said.out.contains(&format!("  forbid-bricks.list-{session}\n")), "{said:?}");
        assert_eq!(tools("web").await, reading, "other sessions are unchanged");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policy_files_are_checked_and_tested_before_saving() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    agent(&terminal, "ci-bot").await;
    write(
        &terminal,
        "good.cedar",
        "// Nobody drafts.\nforbid (principal, action == Action::\"bricks.create_draft\", resource);\n",
    );
    write(&terminal, "bad.cedar", "// A slip.\n  permit (principal, action == Action::\"bricks.eat\", resource);\n");
    assert_eq!(terminal.run("policy check good.cedar").await.ok(), "good.cedar: ok\n");
    let said = terminal.run("policy check good.cedar bad.cedar").await;
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{said:?}");
    assert!(said.out.starts_with("good.cedar: ok\nbad.cedar:2:") && said.out.contains("bricks.eat"), "{said:?}");
    let said = terminal.run("policy put drafts --file bad.cedar").await;
    assert!(said.refused(1).contains("was not saved:\n  bad.cedar:2:"), "{said:?}");

    write(
        &terminal,
        "cases.yaml",
        "# What the bot may do.\n- name: the bot reads\n  agent: ci-bot\n  tool: bricks.list\n  arguments: {limit: 5}\n  expect: allow\n\
         - name: the bot does not draft\n  agent: ci-bot\n  tool: bricks.create_draft\n  expect: deny\n  policy: good\n",
    );
    let said = terminal.run("policy test cases.yaml").await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(
        said.out,
        "ok    the bot reads\nFAIL  the bot does not draft: expected deny, but the call is allowed: permitted, and not forbidden \
         (starter#own-tools)\n2 cases: 1 passed, 1 failed\n"
    );
    let tried = terminal.run("policy test cases.yaml --with good.cedar").await;
    assert!(tried.ok().ends_with("2 cases: 2 passed, 0 failed\n"), "{tried:?}");
    let said = terminal.run("policy explain --agent ci-bot --tool bricks.create_draft --with good.cedar").await;
    assert!(said.ok().contains("\n  good\n    forbid (principal,"), "the text that is tried is quoted: {said:?}");
    assert_eq!(terminal.json("policy list").await["policies"].as_array().unwrap().len(), 1, "nothing was saved");
    terminal.run("policy put good --file good.cedar").await.ok();
    terminal.run("policy test cases.yaml").await.ok();
    let shown = terminal.run("policy show good").await.ok().to_owned();
    assert_eq!(
        shown,
        std::fs::read_to_string(terminal.here.join("good.cedar")).unwrap(),
        "the output can be edited and saved again"
    );
    let schema = terminal.run("policy schema").await.ok().to_owned();
    assert!(schema.contains("action \"bricks.list\" in [\"tool_call\"]"), "{schema}");
    assert_eq!(terminal.json("policy schema").await["schema"].as_str().unwrap().trim_end(), schema.trim_end());
}

/// Every policy in the documentation passes `policy check` with the real tools.
#[tokio::test(flavor = "multi_thread")]
async fn documented_policies_are_valid() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    let mut files = Vec::new();
    for document in ["docs/policy.md", "docs/audit.md"] {
        let text = std::fs::read_to_string(format!("{}/../../{document}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for block in text.split("```cedar\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            let name = format!("snippet-{}.cedar", files.len() + 1);
            write(&terminal, &name, block);
            files.push(name);
        }
    }
    assert!(files.len() >= 8, "{files:?}");
    let said = terminal.run(&format!("policy check {}", files.join(" "))).await;
    assert_eq!(said.code, Some(0), "{}", said.out);
}
