//! Errors: the exit code, an empty stdout, and on stderr the problem and a hint.

use crate::support::{Engine, Place, Terminal};

/// Checks that each line exits with 1 and prints all expected parts.
async fn fail(terminal: &Terminal, cases: &[(&str, &[&str])]) {
    for (line, expected) in cases {
        let said = terminal.run(line).await;
        let words = said.refused(1);
        assert!(words.starts_with("error: "), "{line}: {words}");
        for part in *expected {
            assert!(words.contains(part), "`{line}` does not say `{part}`: {words}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_suggest_a_fix() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let ended = terminal.json("session open").await["sessionId"].as_str().unwrap().to_owned();
    terminal.run(&format!("session end {ended}")).await.ok();
    let cases: &[(&str, &[&str])] = &[
        ("tools --key rsk_live_wrong", &["(401)", "hint: ", "--key", "TOOLCRIB_KEY"]),
        ("org list --key nonsense", &["(401)", "hint: "]),
        ("tools --org nowhere", &["no such org", "`toolcrib org list`"]),
        ("tools --project nowhere", &["no project `nowhere`", "`default`"]),
        ("project show nowhere", &["no project `nowhere`", "existing projects: `default`"]),
        ("project show prj_01m7gkhf3m000b74c6jz07bn7j", &["no such project", "`toolcrib project list`"]),
        ("project add default", &["named `default` already exists", "(409)"]),
        ("project add x --root /nowhere/at/all", &["no directory `/nowhere/at/all`", "the server's machine"]),
        ("key add x --scope wings:spread", &["no scope `wings:spread`"]),
        ("key add x --cover nowhere", &["no project `nowhere`"]),
        ("key add x --expires yesterday", &["`yesterday` is not a time", "90d"]),
        ("key add x --agents nobody", &["no `nobody` among the agents", "`toolcrib agent list`"]),
        ("key revoke nobody", &["no `nobody` among the keys", "`toolcrib key list`"]),
        ("session show ses_nothing", &["no such session", "`toolcrib session list`"]),
        ("session end ses_nothing", &["no such session", "`toolcrib session list`"]),
        (&format!("session end {ended}"), &["already ended", "(409)"]),
        ("session open --tool eat_bricks", &["no tool `eat_bricks`"]),
        ("agent show nobody", &["no `nobody` among the agents", "`toolcrib agent list`"]),
        ("agent add x --scope bricks:read --tool eat_bricks", &["no tool `eat_bricks`"]),
        ("user remove nobody@nowhere.example", &["among the users", "`toolcrib user list`"]),
        ("brick show brk_nothing", &["no such brick", "`toolcrib brick list`"]),
        ("kit show kit_nothing", &["no such kit", "`toolcrib kit list`"]),
        ("policy show nothing", &["no such policy", "`toolcrib policy list`"]),
        ("policy put Up --file /dev/null", &["(4"]),
        ("policy put up --file nowhere.cedar", &["cannot read `nowhere.cedar`"]),
        ("policy explain --agent nobody --tool bricks.list", &["no `nobody` among the agents", "`toolcrib agent list`"]),
        ("policy explain --session ses_nothing --tool bricks.list", &["(4"]),
        (
            &format!("policy explain --session {ended} --tool bricks.lst"),
            &["no tool `bricks.lst`; did you mean `bricks.list`? (404)"],
        ),
        (
            "policy forbid --tool nosuch --everyone",
            &["unrecognized action `Action::\"nosuch\"`; `toolcrib tools` lists all tools"],
        ),
        ("policy explain --agent nobody --tool bricks.list --with nowhere.cedar", &["cannot read `nowhere.cedar`"]),
        ("policy test nowhere.yaml", &["cannot read `nowhere.yaml`"]),
        ("policy forbid --all-tools --project nowhere", &["no project `nowhere`", "`default`"]),
        ("policy forbid --all-tools --session ses_nothing", &["no such session", "`toolcrib session list`"]),
        ("audit list --since yesterday", &["`yesterday` is not a time", "7d"]),
        ("audit revoke nothing", &["(404)", "`toolcrib audit keys`"]),
        ("audit export --out /nowhere/at/all", &["cannot write /nowhere/at/all"]),
        ("call bricks.list {", &["the arguments `{` are not valid JSON"]),
        ("call bricks.list []", &["must be a JSON object"]),
        ("call bricks.list @nowhere.json", &["cannot read `nowhere.json`"]),
        ("call bricks.eat", &["-32601 (tool_not_found)", "`toolcrib tools`"]),
        ("call bricks.list '{\"limit\": 0}'", &["-32602 (invalid_params)", "minimum of 1", "parameter: limit"]),
        ("call bricks.create_draft", &["`name` is required", "`type` is required", "`evaluation_prompt` is required"]),
        ("user add --email a@b.example --role owner", &["no terminal", "--password-stdin"]),
        ("user set a@b.example", &["nothing to change", "--role"]),
        ("login", &["pass --email and --password-stdin"]),
        ("connect claude --ttl 8h", &["--ttl needs --http"]),
        ("tools --url 127.0.0.1:7420 --key x", &["`127.0.0.1:7420` is not a server URL", "http://"]),
        ("tools --url http://127.0.0.1:1", &["no key for http://127.0.0.1:1", "--key", "TOOLCRIB_KEY"]),
        ("tools --url http://127.0.0.1:1 --key x", &["refused", "`toolcrib serve`", "--url"]),
    ];
    fail(&terminal, cases).await;
    let said = terminal.run("run -- /nowhere/agent").await;
    assert!(said.refused(127).contains("cannot start `/nowhere/agent`") && said.err.contains("on the PATH"), "{said:?}");
    assert!(server.sessions().await.iter().all(|session| session["state"] == "ended"), "a failed command left its session open");

    for (password, expected) in [("", "no password on stdin"), ("short", "12 to 1000 characters")] {
        let said = terminal.run_with_input("user add --email a@b.example --role owner --password-stdin", password).await;
        assert!(said.refused(1).contains(expected), "{said:?}");
    }
    let said = terminal.run_with_input("call bricks.list -", "nonsense").await;
    assert!(said.refused(1).contains("the arguments on stdin are not valid JSON"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_without_a_server_explains_how_to_start_one() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let data = place.data();
    let serve = format!("`toolcrib serve --data {}`", data.display());
    fail(&terminal, &[("tools", &["no server was ever started", &serve, "--url"]), ("call bricks.list", &[&serve])]).await;
    place.start().await.kill_nine().await;
    let lines = ["tools", "call bricks.list", "org list", "project list", "key list", "session list", "agent list", "user list"];
    for line in lines.iter().chain(&[
        "brick list",
        "kit list",
        "policy list",
        "audit list",
        "audit export",
        "run -- true",
        "connect --print",
    ]) {
        fail(&terminal, &[(line, &["no server is running on the data folder", &serve])]).await;
    }
    // Without a named data folder, the hint names none either.
    let home = Terminal::without_data(place.folder.path());
    fail(
        &home,
        &[("tools", &["~/.local/share/toolcrib".replace('~', home.here.to_str().unwrap()).as_str(), "`toolcrib serve`"])],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_errors_exit_with_code_2() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let cases: &[(&str, &str)] = &[
        ("", "Usage: toolcrib"),
        ("nonsense", "unrecognized subcommand 'nonsense'"),
        ("org", "subcommands: list, show, add, set"),
        ("tools --nonsense", "unexpected argument '--nonsense'"),
        ("run", "<COMMAND>"),
        ("connect", "<CLIENT>"),
        ("connect emacs", "possible values: claude, codex, cursor, vscode"),
        ("user add --email a@b.example --role king --password-stdin", "possible values: owner, admin, member"),
        ("session open --ttl soon", "8h"),
        ("session list --limit 0", "1..=1000000"),
        ("agent set x --disable --enable", "cannot be used with"),
        ("project set --root . --no-root", "cannot be used with"),
        ("policy forbid --tool bricks.list", "--everyone"),
        ("policy grant --everyone", "--read-only-tools"),
        ("policy grant --everyone --agent a --all-tools", "cannot be used with"),
        ("policy grant --everyone --all-tools --read-only-tools", "cannot be used with"),
        ("policy explain --tool bricks.list", "--agent <AGENT>"),
        ("policy check", "<FILE>"),
        ("audit list --limit 0", "1..=1000000"),
        ("completions klingon", "possible values: bash"),
        ("connect claude --name 'a b'", "letters, digits, - and _"),
    ];
    for (line, expected) in cases {
        let said = terminal.run(line).await;
        assert!(said.refused(2).contains(expected), "`{line}` does not say `{expected}`: {}", said.err);
    }
    let said = terminal.with("TOOLCRIB_DATA", "").run("tools").await;
    assert!(said.refused(2).contains("TOOLCRIB_DATA is set but empty"), "{said:?}");
    let said = terminal.run("session open --ttl 31d").await;
    assert!(said.refused(2).contains("at most 30 days"), "{said:?}");
    assert_eq!(terminal.run("help").await.ok(), terminal.run("--help").await.ok());
    assert_eq!(terminal.run("kit help publish").await.ok(), terminal.run("kit publish --help").await.ok());
    let said = terminal.with("TOOLCRIB_LOG", "a=b=c").run("tools").await;
    assert!(said.refused(1).contains("`a=b=c` is not a log filter"), "{said:?}");
}
