//! `toolcrib serve` as far as it is a command: where its settings come from, what it says, why it does not start.

use serde_json::json;

use crate::support::{Engine, Place, Process, Terminal, http, in_time, request};

/// What a server calls itself.
async fn name_of(server: &Process, terminal: &Terminal) -> String {
    let opened = terminal.json("session open").await;
    let entry = &opened["mcpConfig"]["mcpServers"]["toolcrib"];
    let asked = http().post(entry["url"].as_str().unwrap());
    let asked = asked.header("authorization", entry["headers"]["Authorization"].as_str().unwrap());
    let answer = asked.body(request(1, "initialize", json!({})).to_string()).send().await.unwrap();
    let answer: serde_json::Value = answer.json().await.unwrap();
    assert!(entry["url"].as_str().unwrap().starts_with(&server.url));
    answer["result"]["serverInfo"]["name"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_beats_the_environment_and_the_environment_beats_the_file() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let (here, data) = (place.folder.path().join("toolcrib.toml"), place.data().join("toolcrib.toml"));
    std::fs::create_dir(place.data()).unwrap();
    std::fs::write(&data, "server_name = \"data folder\"\n").unwrap();
    std::fs::write(&here, "server_name = \"current directory\"\n").unwrap();
    std::fs::write(place.folder.path().join("other.toml"), "server_name = \"named file\"\n").unwrap();
    for (variable, flags, name) in [
        (Some("variable"), &["--server-name", "flag", "--config", "other.toml"][..], "flag"),
        (Some("variable"), &["--config", "other.toml"], "variable"),
        (None, &["--config", "other.toml"], "named file"),
        // A file that happens to lie in the current directory may be a stranger's.
        (None, &[], "data folder"),
    ] {
        let mut serve = place.serve();
        serve.args(flags).envs(variable.map(|name| ("TOOLCRIB_SERVER_NAME", name)));
        let server = Process::start(serve, &place.data()).await;
        assert_eq!(name_of(&server, &terminal).await, name);
        server.kill_nine().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_it_from_starting_is_said() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    std::fs::write(terminal.here.join("wrong.toml"), "[limits]\nbody = 1\n").unwrap();
    std::fs::write(terminal.here.join("master.key"), "ab".repeat(32)).unwrap();
    std::fs::write(terminal.here.join("file"), "").unwrap();
    for (flags, code, expected) in [
        (format!("--listen {taken}"), 1, vec![taken.as_str(), "hint: ", "--listen"]),
        ("--listen everywhere".to_owned(), 2, vec!["everywhere"]),
        ("--config nowhere.toml".to_owned(), 1, vec!["no settings file nowhere.toml", "--config"]),
        ("--config wrong.toml".to_owned(), 1, vec!["wrong.toml", "`body`", "body_bytes_max"]),
        ("--public-url crib.example".to_owned(), 1, vec!["`crib.example` is no url", "https://"]),
        ("--workers 0".to_owned(), 2, vec!["a number from 1 to 256"]),
        ("--log a=b=c".to_owned(), 1, vec!["`a=b=c` is no log filter"]),
        ("--listen 127.0.0.1:0 --master-key-file nowhere".to_owned(), 1, vec!["nowhere"]),
        ("--listen 127.0.0.1:0 --data file".to_owned(), 1, vec!["file"]),
        ("--listen 127.0.0.1:0 --database-url postgres://u:hidden@127.0.0.1:1/x".to_owned(), 1, vec!["error: "]),
    ] {
        let said = terminal.run(&format!("serve {flags}")).await;
        let words = said.refused(code);
        assert!(!words.contains("hidden"), "{flags}: {words}");
        for part in expected {
            assert!(words.contains(part), "`serve {flags}` does not say `{part}`: {words}");
        }
    }
}

/// Everything that a server says when it is ready, and the server.
async fn greeting(mut serve: tokio::process::Command) -> (String, tokio::process::Child) {
    let mut child = serve.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let mut text = String::new();
    while !text.contains("Ctrl-C stops it.") {
        text.push_str(&in_time(lines.next_line()).await.unwrap().expect("it starts"));
        text.push('\n');
    }
    (text, child)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_failed_was_not_the_first() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    terminal.run(&format!("serve --listen {}", taken.local_addr().unwrap())).await.refused(1);
    let (text, _child) = greeting(place.serve()).await;
    assert!(text.contains("This was its first start."), "{text}");
    assert!(text.contains(&format!("default (root {})", terminal.here.display())), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_holds_the_data_is_no_root() {
    let place = Place::new(Engine::Sqlite);
    let above = place.data().parent().unwrap().to_owned();
    let mut serve = place.serve();
    serve.current_dir(&above);
    let (text, _child) = greeting(serve).await;
    assert!(text.contains("default (no root: this directory holds the data folder"), "{text}");
    let terminal = Terminal::at(&place);
    assert_eq!(terminal.json("project show default").await["project"]["root"], json!(null));
    let said = terminal.run(&format!("project set default --root {}", above.display())).await;
    assert!(said.refused(1).contains("holds the server's data folder"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_one_is_told_of_the_first_and_not_of_its_port() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let said = terminal.run(&format!("serve --listen {}", server.url.strip_prefix("http://").unwrap())).await;
    assert!(said.refused(1).contains("another server uses the data folder") && !said.err.contains("hint: "), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_second_start_is_one_line() {
    let place = Place::new(Engine::Sqlite);
    place.start().await.kill_nine().await;
    let mut serve = place.serve();
    let mut child = serve.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let line = lines.next_line().await.unwrap().unwrap();
    let url = server::find_running(&place.data()).unwrap().url;
    let data = place.data();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(line, format!("Toolcrib {version} is ready at {url} (data in {}). Ctrl-C stops it.", data.display()));
    let id = child.id().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
    assert!(in_time(child.wait()).await.unwrap().success(), "Ctrl-C is an end in order");
    assert_eq!(lines.next_line().await.unwrap(), None);
}
