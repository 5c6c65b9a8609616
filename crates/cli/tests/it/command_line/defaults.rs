//! The default server, org and project of a command.

use serde_json::{Value, json};

use crate::support::{Engine, Place, Terminal, both_engines};

/// The name of the project in which `session open` opens a session.
async fn project_of(terminal: &Terminal, flags: &str) -> String {
    let opened = terminal.json(&format!("session open {flags}")).await;
    let id = opened["projectId"].as_str().unwrap();
    terminal.json(&format!("project show {id}")).await["project"]["name"].as_str().unwrap().to_owned()
}

both_engines! {
    async fn project_is_chosen_by_directory_flag_or_variable(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let top = Terminal::at(&place);
        let (mono, web) = (top.within("mono"), top.within("mono/web"));
        mono.run("project add mono --root .").await.ok();
        web.run("project add web --root .").await.ok();
        let elsewhere = tempfile::tempdir().unwrap();
        let mut outside = top.clone();
        outside.here = elsewhere.path().to_owned();
        let id = top.json("project show web").await["project"]["id"].as_str().unwrap().to_owned();

        let by_variable = mono.with("TOOLCRIB_PROJECT", "web");
        for (terminal, flags, project) in [
            (&top, "", "default"),
            (&mono, "", "mono"),
            (&mono.within("api/src"), "", "mono"),
            (&web, "", "web"),
            (&web.within("src/deep"), "", "web"),
            (&outside, "", "default"),
            (&outside, "--project mono", "mono"),
            (&web, "--project default", "default"),
            (&mono, &format!("--project {id}"), "web"),
            (&by_variable, "", "web"),
            (&by_variable, "--project mono", "mono"),
        ] {
            assert_eq!(project_of(terminal, flags).await, project, "{} {flags}", terminal.here.display());
        }
        assert_eq!(web.json("project show").await["project"]["name"], "web");
        assert_eq!(web.json("project set --graph on").await["project"]["graph_enabled"], true);
        assert_eq!(mono.json("project show").await["project"]["graph_enabled"], false, "only one project changed");
    }
}

/// The slug of the org that a command uses.
async fn org_of(terminal: &Terminal, flags: &str) -> Value {
    terminal.json(&format!("org show {flags}")).await["org"]["slug"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn org_is_chosen_by_key_flag_or_variable() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let admin = Terminal::at(&place);
    let made = admin.json("org add 'Acme Inc'").await;
    let (org, key) = (made["org"]["id"].as_str().unwrap(), made["key"]["fullKey"].as_str().unwrap());
    let acme = admin.with("TOOLCRIB_KEY", key);

    let by_flags = Terminal::without_data(place.folder.path());
    let address = format!("--url {}/ --key {key}", server.url);
    for (terminal, flags, slug) in [
        (&admin, "", "default"),
        (&admin, "--org acme-inc", "acme-inc"),
        (&admin, &format!("--org {org}"), "acme-inc"),
        (&admin.with("TOOLCRIB_ORG", org), "", "acme-inc"),
        (&admin.with("TOOLCRIB_ORG", org), "--org default", "default"),
        (&admin, &format!("--key {key}"), "acme-inc"),
        (&acme, "", "acme-inc"),
        (&by_flags, &address, "acme-inc"),
        (&by_flags.with("TOOLCRIB_URL", &server.url).with("TOOLCRIB_KEY", key), "", "acme-inc"),
        (&by_flags.with("TOOLCRIB_URL", &server.url).with("TOOLCRIB_KEY", &server.admin_key), "", "default"),
        // The URL of the data folder's own server needs no key.
        (&admin, &format!("--url {}", server.url), "default"),
    ] {
        assert_eq!(org_of(terminal, flags).await, slug, "{flags}");
    }

    // A key sees only its own org.
    let listed = acme.json("org list").await;
    assert_eq!(listed["orgs"].as_array().unwrap().iter().map(|org| &org["slug"]).collect::<Vec<_>>(), ["acme-inc"]);
    for line in ["org show default", "project list --org default", "brick list --org default", "session list --org default"] {
        assert!(acme.run(line).await.refused(1).contains("404"), "{line}");
    }
    // `brick list` defaults to the key's org.
    acme.run("project add default").await.ok();
    acme.run(r#"call bricks.create_draft '{"name": "n", "type": "boolean", "evaluation_prompt": "p"}'"#).await.ok();
    assert_eq!(acme.json("brick list").await["bricks"].as_array().unwrap().len(), 1);
    assert_eq!(admin.json("brick list").await["bricks"], json!([]));
    assert_eq!(admin.json("brick list --org acme-inc").await["bricks"].as_array().unwrap().len(), 1);

    // The instance admin's key defaults to the org `default`, from a file or a variable.
    let by_key = by_flags.with("TOOLCRIB_URL", &server.url).with("TOOLCRIB_KEY", &server.admin_key);
    assert_eq!(by_key.json("brick list").await["bricks"], json!([]));
    assert_eq!(by_key.json("brick list --org acme-inc").await["bricks"].as_array().unwrap().len(), 1);
    let workspace = async |flags: &str| by_key.json(&format!("audit checkpoint {flags}")).await["workspaceId"].take();
    assert_eq!(workspace("").await, by_key.json("org show default").await["org"]["id"]);
    assert_eq!(workspace("--org acme-inc").await, org);
}

/// One command of every kind that concerns an org.
const ABOUT_AN_ORG: [&str; 24] = [
    "org show",
    "project list",
    "key list",
    "session list",
    "agent list",
    "user list",
    "policy list",
    "webhook list",
    "brick list",
    "kit list",
    "audit list",
    "audit verify",
    "audit checkpoint",
    "audit keys",
    "audit jwks",
    "audit export",
    "memory list",
    "memory report",
    "graph list",
    "costs",
    "tools",
    "call bricks.list",
    "connect --print",
    "doctor",
];

#[tokio::test(flavor = "multi_thread")]
async fn instance_admin_key_defaults_to_the_default_org() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let by_key = Terminal::at(&place).with("TOOLCRIB_KEY", &server.admin_key);
    by_key.run("org add another").await.ok();
    for line in ABOUT_AN_ORG {
        let said = by_key.run(line).await;
        let expected =
            if line == "connect --print" { said.err.starts_with("This entry works until ") } else { said.err.is_empty() };
        assert!(said.code == Some(0) && expected, "{line}: {said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limited_key_reports_the_missing_scope() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let admin = Terminal::at(&place);
    let minted = admin.json("key add launcher --scope sessions:write --scope bricks:read").await;
    let project = admin.json("project show").await["project"]["id"].as_str().unwrap().to_owned();
    let launcher = admin.with("TOOLCRIB_KEY", minted["key"]["fullKey"].as_str().unwrap());

    // A key needs no flag and no scope for its own org and projects.
    assert_eq!(launcher.run("brick list").await.ok(), "no bricks\n");
    assert_eq!(launcher.run("call bricks.list").await.ok(), "Listed 0 brick(s).\n");
    assert_eq!(launcher.run("call bricks.list --org default").await.ok(), "Listed 0 brick(s).\n");
    let words = launcher.run("session list").await;
    assert!(words.refused(1).contains("org:read") && words.err.contains("hint: "), "{}", words.err);
    let listed = launcher.run(&format!("tools --org default --project {project}")).await;
    assert_eq!(listed.ok().lines().filter_map(|line| line.split(' ').next()).collect::<Vec<_>>(), ["TOOL", "bricks.list"]);
    let called = launcher.run(&format!("call bricks.list --org default --project {project}")).await;
    assert_eq!(called.ok(), "Listed 0 brick(s).\n");
    assert!(server.sessions().await.iter().all(|session| session["state"] == "ended"), "a finished command ends its session");
}
