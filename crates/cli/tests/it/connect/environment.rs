//! Entries in clients that pass on little of their environment, such as Codex and the official SDKs, and in shared repositories.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use super::{CLIENTS, Client, start_server_and_terminal};
use crate::support::{Engine, Place, Process, Said, Terminal, binary, in_time, request};

/// The variables that an SDK passes on.
const PASSED_ON: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// The command of an entry, in another folder and with only those variables.
fn started(entry: &Value, home: &Path, path: &str, elsewhere: &Path) -> Command {
    let command = entry["command"].as_str().unwrap();
    // Clients resolve the program with their own PATH.
    let program = if command == "toolcrib" { Path::new(path.split(':').next().unwrap()).join(command) } else { command.into() };
    let mut child = Command::new(program);
    child.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let value = |name: &str| match name {
        "HOME" => home.to_str().unwrap().to_owned(),
        "PATH" => path.to_owned(),
        _ => "someone".to_owned(),
    };
    child.env_clear().envs(PASSED_ON.map(|name| (name, value(name))));
    child.current_dir(elsewhere).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    child
}

/// The tools that the command lists, and its stderr.
async fn listed(mut command: Command) -> (Vec<String>, String) {
    let mut child = command.spawn().unwrap();
    let (mut input, mut errors) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let hello = request(1, "initialize", json!({"protocolVersion": "2025-06-18"}));
    let mut last = Value::Null;
    for message in [hello, request(2, "tools/list", json!({}))] {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        last = serde_json::from_str(&in_time(output.next_line()).await.unwrap().expect("an answer")).unwrap();
    }
    drop(input);
    assert!(in_time(child.wait()).await.unwrap().success());
    let mut said = String::new();
    errors.read_to_string(&mut said).await.unwrap();
    let tools = last["result"]["tools"].as_array().unwrap_or_else(|| panic!("{last}"));
    (tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect(), said)
}

fn entry_of(client: &Client, said: &Said) -> Value {
    client.read(said.ok())[client.member()]["toolcrib"].take()
}

fn words(entry: &Value) -> Vec<&str> {
    entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// A server whose data folder only an environment variable names, and a terminal with that variable.
async fn behind_a_variable(variable: &str) -> (tempfile::TempDir, Process, Terminal) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    std::fs::create_dir(home.join("code")).unwrap();
    let shared = home.join("shared");
    let (data, value) = match variable {
        "TOOLCRIB_DATA" => (shared.join("crib"), shared.join("crib")),
        "XDG_DATA_HOME" => (shared.join("toolcrib"), shared.clone()),
        _ => (home.join(".local/share/toolcrib"), "".into()),
    };
    let terminal = Terminal::without_data(&home).with(variable, value.to_str().unwrap());
    let mut serve = Terminal::without_data(&home).within("code").command("serve --listen 127.0.0.1:0");
    serve.arg("--data").arg(&data).env("TOOLCRIB_LOG", "warn");
    let server = Process::start(serve, &data).await;
    (folder, server, terminal.within("code"))
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_finds_its_server_without_environment() {
    for variable in ["TOOLCRIB_DATA", "XDG_DATA_HOME", "NONE_OF_OURS"] {
        let (home, server, terminal) = behind_a_variable(variable).await;
        let elsewhere = tempfile::tempdir().unwrap();
        for (number, client) in CLIENTS.iter().enumerate() {
            let entry = entry_of(client, &terminal.run(&format!("connect {} --print", client.name)).await);
            assert_eq!(words(&entry).contains(&"--data"), variable != "NONE_OF_OURS", "{variable}: {entry}");
            let (tools, errors) = listed(started(&entry, home.path(), "/usr/bin:/bin", elsewhere.path())).await;
            assert!(tools.contains(&"bricks_list".to_owned()) && tools.iter().all(|tool| !tool.contains('.')), "{tools:?}");
            assert_eq!(errors, "", "{variable}: the running server is used");
            assert_eq!(server.sessions().await.len(), number + 1, "{variable} {}", client.name);
        }
        let other = home.path().join(".local/share/toolcrib");
        assert_eq!(other.exists(), variable == "NONE_OF_OURS", "a second server started in another folder");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repository_entry_holds_no_local_path() {
    let (home, server, terminal) = behind_a_variable("NONE_OF_OURS").await;
    let programs = home.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let on_path = terminal.with("PATH", &path);
    symlink(binary(), programs.join("toolcrib")).unwrap();
    for client in &CLIENTS {
        let entry = entry_of(client, &on_path.run(&format!("connect {} --print", client.name)).await);
        assert_eq!((&entry["command"], words(&entry)), (&json!("toolcrib"), vec!["stdio", "--project", "default"]), "{entry}");
    }
    let entry = entry_of(&CLIENTS[0], &on_path.run("connect claude --print").await);
    listed(started(&entry, home.path(), &path, home.path())).await;
    assert_eq!(server.sessions().await.len(), 1);
    // Another program named `toolcrib` on the PATH is not used.
    std::fs::remove_file(programs.join("toolcrib")).unwrap();
    std::fs::write(programs.join("toolcrib"), "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(programs.join("toolcrib"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for terminal in [&on_path, &terminal.with("PATH", "/usr/bin:/bin")] {
        let entry = entry_of(&CLIENTS[0], &terminal.run("connect claude --print").await);
        assert_eq!(entry["command"], json!(binary()), "{entry}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_with_a_key_never_uses_the_instance_admin_key() {
    let (place, server, terminal) = start_server_and_terminal().await;
    let key = terminal.json("key add launcher --scope sessions:write --scope bricks:read").await;
    let launcher = terminal.with("TOOLCRIB_KEY", key["key"]["fullKey"].as_str().unwrap());
    for client in &CLIENTS {
        let said = launcher.run(&format!("connect {}", client.name)).await;
        assert!(said.ok().contains("written") && said.err.contains("needs TOOLCRIB_KEY in its environment"), "{said:?}");
        let text = std::fs::read_to_string(client.path(&terminal)).unwrap();
        assert!(!text.contains("rsk_live_") && text.contains("TOOLCRIB_KEY"), "{text}");
        let entry = client.read(&text)[client.member()]["toolcrib"].take();
        let mut without = started(&entry, place.folder.path(), "/usr/bin:/bin", place.folder.path());
        without.stdin(Stdio::null());
        let said = Said::by(without).await;
        assert!(said.refused(1).contains("no key; set TOOLCRIB_KEY"), "{said:?}");
        let mut with = started(&entry, place.folder.path(), "/usr/bin:/bin", place.folder.path());
        with.env("TOOLCRIB_KEY", key["key"]["fullKey"].as_str().unwrap());
        assert_eq!(listed(with).await.0, ["bricks_list"], "the tools of the key");
    }
    assert_eq!(server.sessions().await.len(), CLIENTS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn connect_reports_when_an_entry_expires() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    for line in ["connect --print", "connect claude --http --print", "connect claude --http --ttl 8h"] {
        let said = terminal.run(line).await;
        said.ok();
        let session = server.sessions().await.remove(0);
        let expected = format!("This entry works until {}, when its session ends.\n", session["expiresAt"].as_str().unwrap());
        assert!(said.err.starts_with(&expected), "{line}: {said:?}");
        assert_eq!(session["tool_names"], "safe", "{line}");
    }
    let said = terminal.run("connect claude --http --json").await;
    let expires_at = server.sessions().await.remove(0)["expiresAt"].take();
    assert_eq!(said.json()["expiresAt"], expires_at);
    assert_eq!(terminal.run("connect claude").await.err, "", "an entry that opens its own sessions does not expire");
}

#[tokio::test(flavor = "multi_thread")]
async fn symlinks_out_of_the_directory_are_refused() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    let outside = tempfile::tempdir().unwrap();
    for client in &CLIENTS {
        let file = Path::new(client.file);
        let victim = outside.path().join(file.file_name().unwrap());
        std::fs::write(&victim, client.before).unwrap();
        // The link is the file itself, or its folder.
        let mut links = vec![(client.path(&terminal), victim.clone())];
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            links.push((terminal.here.join(folder), outside.path().to_owned()));
        }
        for (link, target) in links {
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&target, &link).unwrap();
            for flags in ["", "--http"] {
                let said = terminal.run(&format!("connect {} {flags}", client.name)).await;
                let words = said.refused(1);
                assert!(words.contains("outside this directory") && words.contains(link.to_str().unwrap()), "{words}");
            }
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), client.before, "{}", client.name);
            std::fs::remove_file(&link).unwrap();
            if let Some(folder) = link.parent().filter(|folder| **folder != terminal.here) {
                std::fs::remove_dir(folder).unwrap();
            }
        }
        std::fs::remove_file(&victim).unwrap();
    }
    assert!(server.sessions().await.is_empty(), "a refused command opened a session");
    // A link that stays inside the directory is followed.
    std::fs::write(terminal.here.join("shared.json"), "{}").unwrap();
    symlink("shared.json", terminal.here.join(".mcp.json")).unwrap();
    terminal.run("connect claude").await.ok();
    assert!(terminal.here.join(".mcp.json").is_symlink());
    assert!(std::fs::read_to_string(terminal.here.join("shared.json")).unwrap().contains("stdio"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stdio_without_a_server_names_the_data_folder() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let entry = json!({"command": binary(), "args": ["stdio", "--data", place.data()]});
    let start = || started(&entry, place.folder.path(), "/usr/bin:/bin", place.folder.path());
    let (_, errors) = listed(start()).await;
    let data = place.data();
    assert!(errors.contains(&format!("no server was ever started on the data folder {}", data.display())), "{errors}");
    let (_, errors) = listed(start()).await;
    assert!(errors.contains(&format!("no server is running on the data folder {}", data.display())), "{errors}");
    let server = place.start().await;
    assert_eq!(listed(start()).await.1, "");
    assert_eq!(server.sessions().await.len(), 3, "all three used the same data");
    drop(terminal);
}

#[tokio::test(flavor = "multi_thread")]
async fn stdio_creates_no_second_database() {
    let place = Place::new(Engine::Postgres);
    let server = place.start().await;
    let entry = json!({"command": binary(), "args": ["stdio", "--data", place.data()]});
    let start = || started(&entry, place.folder.path(), "/usr/bin:/bin", place.folder.path());
    listed(start()).await;
    server.kill_nine().await;
    let mut without = start();
    without.stdin(Stdio::null());
    let said = Said::by(without).await;
    assert!(said.refused(1).contains("its data is in an external database"), "{said:?}");
    assert!(!place.data().join("toolcrib.db").exists());
    let mut with = start();
    with.env("TOOLCRIB_DATABASE_URL", place.database_url.as_ref().unwrap());
    listed(with).await;
}
