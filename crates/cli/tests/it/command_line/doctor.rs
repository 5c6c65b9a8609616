//! `toolcrib doctor`: what it looks at, and what it tells to do about each thing that is wrong.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, Said, Terminal, both_engines};

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// How each check came out.
fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks.map(|check| (check["name"].as_str().unwrap(), check["status"].as_str().unwrap())).collect()
}

both_engines! {
    async fn a_good_setup_is_told_so(engine: Engine) {
        let place = Place::new(engine);
        let _server = place.start().await;
        let programs = place.folder.path().join("bin");
        std::fs::create_dir(&programs).unwrap();
        std::fs::write(programs.join("claude"), "").unwrap();
        set_mode(&programs.join("claude"), 0o755);
        let mut terminal = Terminal::at(&place).with("PATH", programs.to_str().unwrap());
        let mut expected = vec!["data folder", "settings", "server", "ready", "version", "key", "project", "clients"];
        if let Some(url) = &place.database_url {
            terminal = terminal.with("TOOLCRIB_DATABASE_URL", url);
            expected.insert(2, "postgresql");
        }
        let report = terminal.json("doctor").await;
        assert_eq!(report["ok"], true);
        assert_eq!(verdicts(&report), expected.iter().map(|name| (*name, "ok")).collect::<Vec<_>>());
        let shown = terminal.run("doctor").await;
        assert!(shown.ok().contains("key          good in the org `default`\n"), "{shown:?}");
        assert!(shown.out.ends_with("claude: `toolcrib connect claude` sets one up\n"), "{shown:?}");
        if let Some(password) = place.database_url.as_ref().and_then(|url| url.split('@').next()?.rsplit(':').next().map(str::to_owned)) {
            assert!(!shown.out.contains(&format!("{password}@")), "no password is shown");
        }
    }
}

/// Checks that `doctor` fails at one thing, and says what to do about it in both forms.
async fn fails_at(terminal: &Terminal, flags: &str, name: &str, hint: &str) {
    let said = terminal.run(&format!("doctor {flags} --json")).await;
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["ok"], false);
    let failed = report["checks"].as_array().unwrap().iter().filter(|check| check["status"] == "fail").collect::<Vec<_>>();
    assert_eq!(failed.iter().map(|check| &check["name"]).collect::<Vec<_>>(), [&json!(name)], "{report:#}");
    let told = failed[0]["hint"].as_str().unwrap();
    assert!(told.contains(hint), "{name}: `{told}` does not say `{hint}`");
    let shown = terminal.run(&format!("doctor {flags}")).await;
    assert_eq!(shown.code, Some(1));
    assert!(shown.out.contains(&format!("fail  {name} ")) && shown.out.contains(&format!("→ {told}")), "{}", shown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_with_what_to_do() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    fails_at(&terminal, "", "server", "`toolcrib stdio` works without one").await;
    let server = place.start().await;
    terminal.run("doctor").await.ok();

    fails_at(&terminal, "--key rsk_live_wrong", "key", "--key and TOOLCRIB_KEY").await;
    fails_at(&terminal, "--org nowhere", "key", "--key and TOOLCRIB_KEY").await;
    fails_at(&terminal, "--project nowhere", "project", "`toolcrib project list`").await;
    fails_at(&terminal, "--url http://127.0.0.1:1 --key x", "server", "correct --url").await;
    let unreachable = terminal.with("TOOLCRIB_DATABASE_URL", "postgres://u:hidden@127.0.0.1:1/x");
    fails_at(&unreachable, "", "postgresql", "start PostgreSQL").await;
    assert!(!unreachable.run("doctor").await.out.contains("hidden"));

    let root = terminal.within("code");
    root.run("project add code --root .").await.ok();
    std::fs::remove_dir(&root.here).unwrap();
    fails_at(&terminal, "--project code", "project", "`toolcrib project set code --root DIR`").await;
    for (name, open, closed) in [("server.json", 0o644, 0o600), ("master.key", 0o640, 0o600), ("", 0o755, 0o700)] {
        let path = place.data().join(name);
        set_mode(&path, open);
        fails_at(&terminal, "", "data folder", &format!("chmod {closed:o} {}", place.data().display())).await;
        set_mode(&path, closed);
    }
    std::fs::write(place.data().join("toolcrib.toml"), "lisen = 1\n").unwrap();
    fails_at(&terminal, "", "settings", "toolcrib.example.toml").await;
    std::fs::remove_file(place.data().join("toolcrib.toml")).unwrap();

    terminal.run("doctor").await.ok();
    server.kill_nine().await;
    fails_at(&terminal, "", "server", "`toolcrib stdio` works without one").await;
}

/// The commands in the hint of a check that did not come out well.
fn advised(said: &Said, name: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let check = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name && check["status"] != "ok");
    let hint = check.unwrap_or_else(|| panic!("{name} is fine: {report:#}"))["hint"].as_str().unwrap().to_owned();
    if hint.starts_with("chmod ") {
        return vec![hint];
    }
    hint.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_advice_can_be_followed_word_for_word() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().canonicalize().unwrap().join("my data");
    let programs = folder.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(crate::support::binary(), programs.join("toolcrib")).unwrap();
    let terminal = Terminal::without_data(folder.path()).within("code");
    let terminal = terminal.with("PATH", &format!("{}:/usr/bin:/bin", programs.display()));
    let flags = format!("--data '{}'", data.display());
    let doctor = async |more: &str| terminal.run(&format!("doctor {flags} {more} --json")).await;
    let shell = |line: &str| {
        let mut shell = terminal.program("sh");
        shell.args(["-c", line]);
        shell
    };

    // No folder and no server: both are told how to have one, in the same words.
    let before = doctor("").await;
    let serve = advised(&before, "data folder").remove(0);
    assert_eq!(advised(&before, "server")[0], serve);
    let start = || shell(&format!("exec {serve} --listen 127.0.0.1:0"));
    let server = Process::start(start(), &data).await;
    assert_eq!(doctor("").await.code, Some(0));

    // A folder that others can use.
    set_mode(&data, 0o755);
    Said::by(shell(&advised(&doctor("").await, "data folder")[0])).await.ok();
    assert_eq!(doctor("").await.code, Some(0));

    // A root that is gone.
    let gone = terminal.within("gone");
    gone.run(&format!("project add 'my web' --root . {flags}")).await.ok();
    std::fs::remove_dir(&gone.here).unwrap();
    let advice = advised(&doctor("--project 'my web'").await, "project").remove(0);
    Said::by(shell(&advice.replace("DIR", "."))).await.ok();
    assert_eq!(doctor("--project 'my web'").await.code, Some(0));

    // Names that nothing has.
    let listed = Said::by(shell(&advised(&doctor("--project nowhere").await, "project")[0])).await;
    assert!(listed.ok().contains("my web"), "{listed:?}");
    let listed = Said::by(shell(&advised(&doctor("--org nowhere").await, "key")[0])).await;
    assert!(listed.ok().contains("default"), "{listed:?}");

    // No client that we know.
    let printed = Said::by(shell(&advised(&doctor("").await, "clients")[0])).await;
    assert_eq!(printed.json()["mcpServers"]["toolcrib"]["type"], "http");

    // A server that has gone.
    server.kill_nine().await;
    assert_eq!(advised(&doctor("").await, "server")[0], serve);
    let _server = Process::start(start(), &data).await;
    assert_eq!(doctor("").await.code, Some(0));
}
