//! `toolcrib doctor`: its checks, and its hint for each problem.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, Said, Terminal, both_engines};

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The name and status of each check.
fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks.map(|check| (check["name"].as_str().unwrap(), check["status"].as_str().unwrap())).collect()
}

both_engines! {
    async fn good_setup_is_reported_ok(engine: Engine) {
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
        assert!(shown.ok().contains("key          valid for org `default`\n"), "{shown:?}");
        assert!(shown.out.ends_with("claude; set one up with `toolcrib connect claude`\n"), "{shown:?}");
        if let Some(password) = place.database_url.as_ref().and_then(|url| url.split('@').next()?.rsplit(':').next().map(str::to_owned)) {
            assert!(!shown.out.contains(&format!("{password}@")), "the password is shown");
        }
    }
}

/// Checks that `doctor` fails exactly one check, and gives the hint as text and as JSON.
async fn fails_at(terminal: &Terminal, flags: &str, name: &str, hint: &str) {
    let said = terminal.run(&format!("doctor {flags} --json")).await;
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{said:?}");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["ok"], false);
    let failed = report["checks"].as_array().unwrap().iter().filter(|check| check["status"] == "fail").collect::<Vec<_>>();
    assert_eq!(failed.iter().map(|check| &check["name"]).collect::<Vec<_>>(), [&json!(name)], "{report:#}");
    let given = failed[0]["hint"].as_str().unwrap();
    assert!(given.contains(hint), "{name}: `{given}` does not say `{hint}`");
    let shown = terminal.run(&format!("doctor {flags}")).await;
    assert_eq!(shown.code, Some(1));
    assert!(shown.out.contains(&format!("fail  {name} ")) && shown.out.contains(&format!("→ {given}")), "{}", shown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_problem_is_reported_with_a_hint() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    fails_at(&terminal, "", "server", "`toolcrib stdio` works without one").await;
    let server = place.start().await;
    terminal.run("doctor").await.ok();

    fails_at(&terminal, "--key rsk_live_wrong", "key", "--key and TOOLCRIB_KEY").await;
    fails_at(&terminal, "--org nowhere", "key", "--key and TOOLCRIB_KEY").await;
    fails_at(&terminal, "--project nowhere", "project", "`toolcrib project list`").await;
    fails_at(&terminal, "--url http://127.0.0.1:1 --key x", "server", "fix --url").await;
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

/// The commands in the hint of a failed check.
fn suggested_commands(said: &Said, name: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let check = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name && check["status"] != "ok");
    let hint = check.unwrap_or_else(|| panic!("{name} is fine: {report:#}"))["hint"].as_str().unwrap().to_owned();
    if hint.starts_with("chmod ") {
        return vec![hint];
    }
    hint.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn suggested_commands_fix_the_problem() {
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

    // Without a folder and a server, both hints are the same command.
    let before = doctor("").await;
    let serve = suggested_commands(&before, "data folder").remove(0);
    assert_eq!(suggested_commands(&before, "server")[0], serve);
    let start = || shell(&format!("exec {serve} --listen 127.0.0.1:0"));
    let server = Process::start(start(), &data).await;
    assert_eq!(doctor("").await.code, Some(0));

    // A data folder that other users can read.
    set_mode(&data, 0o755);
    Said::by(shell(&suggested_commands(&doctor("").await, "data folder")[0])).await.ok();
    assert_eq!(doctor("").await.code, Some(0));

    // A project root that no longer exists.
    let gone = terminal.within("gone");
    gone.run(&format!("project add 'my web' --root . {flags}")).await.ok();
    std::fs::remove_dir(&gone.here).unwrap();
    let advice = suggested_commands(&doctor("--project 'my web'").await, "project").remove(0);
    Said::by(shell(&advice.replace("DIR", "."))).await.ok();
    assert_eq!(doctor("--project 'my web'").await.code, Some(0));

    // Unknown names.
    let listed = Said::by(shell(&suggested_commands(&doctor("--project nowhere").await, "project")[0])).await;
    assert!(listed.ok().contains("my web"), "{listed:?}");
    let listed = Said::by(shell(&suggested_commands(&doctor("--org nowhere").await, "key")[0])).await;
    assert!(listed.ok().contains("default"), "{listed:?}");

    // No known client is installed.
    let printed = Said::by(shell(&suggested_commands(&doctor("").await, "clients")[0])).await;
    assert_eq!(printed.json()["mcpServers"]["toolcrib"]["type"], "http");

    // A server that was killed.
    server.kill_nine().await;
    assert_eq!(suggested_commands(&doctor("").await, "server")[0], serve);
    let _server = Process::start(start(), &data).await;
    assert_eq!(doctor("").await.code, Some(0));
}
