//! Names in place of ids, and the error for an ambiguous name.

use serde_json::{Value, json};

use crate::support::{Engine, Place, Said, Terminal, both_engines, text};

both_engines! {
    async fn commands_accept_names_for_ids(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        let agent = terminal.json("agent add builder --scope '*' --tool af_memory_remember --tool bricks.list").await;
        let agent = text(&agent["agent_id"]);
        let opened = terminal.json("session open --agent builder").await;
        let session = terminal.json(&format!("session show {}", text(&opened["sessionId"]))).await;
        assert_eq!(session["session"]["agentId"], json!(agent));
        let noted = terminal.run(r#"call af_memory_remember '{"content": "builders note things"}' --agent builder"#).await;
        noted.ok();
        let listed = terminal.json("memory list --agent builder").await;
        assert_eq!((listed["observations"].as_array().unwrap().len(), &listed["observations"][0]["agentId"]), (1, &json!(agent)));
        assert_eq!(terminal.json("graph list --agent builder").await["triplets"], json!([]));
        let said = terminal.run("memory list --agent nobody").await;
        assert!(said.refused(1).contains("no `nobody` among the agents"), "{said:?}");

        // Bricks by key, kits by code, both by name.
        let draft = r#"call bricks.create_draft '{"name": "Tone", "type": "boolean", "evaluation_prompt": "p"}'"#;
        let first = text(&terminal.json(draft).await["structuredContent"]["brick_id"]);
        for named in ["tone", "Tone", &first] {
            assert_eq!(terminal.json(&format!("brick show {named}")).await["brick"]["brick_id"], json!(first), "{named}");
        }
        let second = text(&terminal.json(draft).await["structuredContent"]["brick_id"]);
        let key = text(&terminal.json(&format!("brick show {second}")).await["brick"]["brick_key"]);
        assert_eq!(terminal.json(&format!("brick show {key}")).await["brick"]["brick_id"], json!(second), "a brick key is unique");
        assert_eq!(terminal.json("brick show tone").await["brick"]["brick_id"], json!(first), "a brick key takes precedence over a name");
        let kit = format!(r#"call kits.create_draft '{{"name": "Replies", "brick_ids": ["{first}"]}}'"#);
        let kits = [terminal.json(&kit).await, terminal.json(&kit).await].map(|made| text(&made["structuredContent"]["kit_id"]));
        let code = text(&terminal.json(&format!("kit show {}", kits[0])).await["kit"]["kit_code"]);
        assert_eq!(terminal.json(&format!("kit show {code}")).await["kit"]["kit_id"], json!(kits[0]));
        let said = terminal.run("kit show replies").await;
        let words = said.refused(1);
        assert!(words.contains("several kits are named `replies`") && kits.iter().all(|id| words.contains(id)), "{words}");
        let keys = [terminal.json("key add ci").await, terminal.json("key add ci").await].map(|made| text(&made["key"]["id"]));
        let said = terminal.run("key revoke ci").await;
        assert!(keys.iter().all(|id| said.refused(1).contains(id)), "{said:?}");
        terminal.run(&format!("key revoke {}", keys[0])).await.ok();
        terminal.run("key revoke ci").await.ok();
        let said = terminal.run(&format!("key revoke {}", keys[0])).await;
        assert!(said.refused(1).contains(&format!("the key `{}` is already revoked, since 20", keys[0])), "{said:?}");
    }

    async fn audit_list_accepts_actor_names(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let terminal = Terminal::at(&place);
        let key = terminal.json("key add launcher").await;
        terminal.with("TOOLCRIB_KEY", &text(&key["key"]["fullKey"])).run("project add by-launcher").await.ok();
        let listed = terminal.json("audit list --actor Launcher --type project.created").await;
        let actors = listed["events"].as_array().unwrap().iter().map(|event| &event["actorId"]).collect::<Vec<_>>();
        assert_eq!(actors, [&key["key"]["id"]]);
        assert_ne!(terminal.json("audit list --actor instance-admin").await["events"], json!([]));
        let said = terminal.run("audit list --actor nobody").await;
        assert!(said.refused(1).contains("no agent, key or user of org `default` is named `nobody`"), "{said:?}");
        let agent = terminal.json("agent add launcher --scope bricks:read --tool bricks.list").await;
        let said = terminal.run("audit list --actor launcher").await;
        assert!(said.refused(1).contains(&text(&agent["agent_id"])) && said.err.contains(&text(&key["key"]["id"])), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_without_org_read_works_in_its_org_and_projects() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let admin = Terminal::at(&place);
    let made = admin.json("org add 'Acme Inc'").await;
    let acme = admin.with("TOOLCRIB_KEY", &text(&made["key"]["fullKey"]));
    acme.run("project add default").await.ok();
    let web = acme.within("web");
    web.run("project add web --root .").await.ok();
    let launcher = acme.json("key add launcher --scope sessions:write --scope bricks:read --scope bricks:create_draft").await;
    let launcher = web.with("TOOLCRIB_KEY", &text(&launcher["key"]["fullKey"]));
    // No flag names the org or the project.
    launcher.run("call bricks.list").await.ok();
    launcher.run("tools").await.ok();
    launcher.run("run -- true").await.ok();
    launcher.run("connect --print").await.ok();
    assert_eq!(launcher.run("brick list").await.ok(), "no bricks\n");
    launcher.run("call bricks.list --project default").await.ok();
    let org = text(&made["org"]["id"]);
    let sessions = server.get(&format!("/api/org/{org}/sessions")).await["sessions"].as_array().unwrap().clone();
    let project = acme.json("project show web").await["project"]["id"].take();
    assert_eq!(sessions.len(), 5);
    assert_eq!(sessions.iter().filter(|session| session["projectId"] == project).count(), 4, "the directory's root decides");
    let listed = launcher.run("project list").await;
    assert!(listed.ok().contains(launcher.here.to_str().unwrap()), "{listed:?}");
    assert!(!listed.out.contains("MEMORY") && listed.err.contains("settings are not shown"), "{listed:?}");
    let report: Value = serde_json::from_str(launcher.run("doctor --json").await.ok()).unwrap();
    assert!(report["checks"].as_array().unwrap().iter().any(|check| check["detail"].as_str().unwrap().contains("`web`, root")));
    // It still cannot list or look up other things.
    assert!(launcher.run("key list").await.refused(1).contains("`org:read`"));
    let said = launcher.run("session open --agent builder").await;
    assert!(said.refused(1).contains("use its id") && said.err.contains("`org:read`"), "{said:?}");

    // A key for one project sees no other.
    let narrow = acme.json("key add narrow --scope sessions:write --scope bricks:read --cover web").await;
    let narrow = launcher.with("TOOLCRIB_KEY", &text(&narrow["key"]["fullKey"]));
    narrow.run("call bricks.list").await.ok();
    let said = narrow.run("call bricks.list --project default").await;
    assert!(said.refused(1).contains("no project `default` in org `acme-inc`; existing projects: `web`"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_token_prints_a_header() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let said = terminal.run("agent add ci --scope bricks:read --tool bricks.list --json").await;
    let agent = said.json();
    let (key, secret) = (text(&agent["agent_key"]), text(&agent["agent_secret"]));
    let check_header = async |said: Said| {
        let header = said.json();
        assert_eq!(header.as_object().unwrap().len(), 1);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let asked = crate::support::http().post(format!("{}/api/mcp", server.url)).json(&message);
        let answer: Value =
            asked.header("authorization", text(&header["Authorization"])).send().await.unwrap().json().await.unwrap();
        assert_eq!(answer["result"]["tools"][0]["name"], "bricks.list", "{answer}");
    };
    let known = terminal.with("TOOLCRIB_AGENT_KEY", &key).with("TOOLCRIB_AGENT_SECRET", &secret);
    check_header(known.run("agent token").await).await;
    check_header(terminal.run_with_input("agent token", &said.out).await).await;
    check_header(terminal.run_with_input("agent token", &format!("{key}\n{secret}\n")).await).await;
    let elsewhere = Terminal::without_data(place.folder.path()).with("TOOLCRIB_URL", &server.url);
    check_header(elsewhere.run_with_input("agent token", &said.out).await).await;
    let whole = known.json("agent token").await;
    assert!(whole["access_token"].is_string() && whole["expires_at"].is_string(), "{whole}");
    let said = terminal.run_with_input("agent token", &format!("{key}\nwrong\n")).await;
    assert!(said.refused(1).contains("wrong agent key or secret (401)") && !said.err.contains("--key"), "{said:?}");
    assert!(terminal.run("agent token").await.refused(1).contains("TOOLCRIB_AGENT_KEY"));
    // A started agent does not inherit another agent's secret.
    let said = known.run("run -- env").await;
    assert!(!said.ok().contains(&secret), "{said:?}");
}
