//! `toolcrib serve` as a command: its settings, its output, and its errors at the start.

use serde_json::json;

use store::{Store, StoreConfig};
use testkit::postgres::{Server, Settings};

use crate::support::{Engine, Place, Process, Terminal, eventually, http, in_time, request};

/// The name that a server reports.
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
async fn flags_override_environment_which_overrides_file() {
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
        // A file in the current directory may come from a stranger, so it is ignored.
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
async fn allowed_root_that_does_not_exist_is_logged() {
    let place = Place::new(Engine::Sqlite);
    let log = place.folder.path().join("log");
    let mut serve = place.serve();
    serve.args(["--allow-root", "/nowhere/at/all"]).stderr(std::fs::File::create(&log).unwrap());
    let server = Process::start(serve, &place.data()).await;
    let warns = async || std::fs::read_to_string(&log).unwrap().contains("--allow-root /nowhere/at/all is not a folder");
    eventually("the log warns", warns).await;
    server.kill_nine().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_reports_the_reason() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    std::fs::write(terminal.here.join("wrong.toml"), "[limits]\nbody = 1\n").unwrap();
    std::fs::write(terminal.here.join("master.key"), "ab".repeat(32)).unwrap();
    std::fs::write(terminal.here.join("file"), "").unwrap();
    std::fs::create_dir(terminal.here.join("broken")).unwrap();
    std::fs::write(terminal.here.join("broken/toolcrib.db"), "this is no database ".repeat(100)).unwrap();
    for (flags, code, expected) in [
        ("--limits-connections-max 0".to_owned(), 1, vec!["connections_max (--limits-connections-max) is 0", "write 1 or more"]),
        (format!("--listen {taken}"), 1, vec![taken.as_str(), "hint: ", "--listen"]),
        ("--listen everywhere".to_owned(), 2, vec!["`everywhere` is not an address with a port", "127.0.0.1:7420"]),
        ("--listen no-such-name.invalid:1".to_owned(), 1, vec!["`no-such-name.invalid`", "cannot resolve", "127.0.0.1:1"]),
        ("--listen 192.0.2.1:7420".to_owned(), 1, vec!["192.0.2.1:7420", "does not have that address", "--listen"]),
        ("--config nowhere.toml".to_owned(), 1, vec!["no settings file nowhere.toml", "--config"]),
        ("--config wrong.toml".to_owned(), 1, vec!["wrong.toml", "`body`", "body_bytes_max"]),
        ("--public-url crib.example".to_owned(), 1, vec!["`crib.example` is not a server URL", "https://"]),
        ("--workers 0".to_owned(), 2, vec!["a number from 1 to 256"]),
        ("--log a=b=c".to_owned(), 1, vec!["`a=b=c` is not a log filter"]),
        ("--listen 127.0.0.1:0 --master-key-file nowhere".to_owned(), 1, vec!["nowhere"]),
        // The port is taken too, but the error is about the other problem.
        (format!("--listen {taken} --data file"), 1, vec!["file is a file, not a folder", "--data"]),
        (format!("--listen {taken} --data /sys/toolcrib"), 1, vec!["data folder /sys/toolcrib cannot be created", "--data"]),
        (
            format!("--listen {taken} --data broken"),
            1,
            vec!["cannot open the database", "broken/toolcrib.db", "restore a backup"],
        ),
        (
            format!("--listen {taken} --database-url postgres://u:hidden@127.0.0.1:1/x"),
            1,
            vec!["the database at 127.0.0.1:1 cannot be reached", "start PostgreSQL", "Connection refused"],
        ),
        (
            format!("--listen {taken} --database-url postgres://u:hidden@no-such-name.invalid/x"),
            1,
            vec!["the database at no-such-name.invalid:5432 cannot be reached"],
        ),
        (
            format!("--listen {taken} --database-url hidden"),
            1,
            vec!["the database url cannot be read", "postgres://user:password@host"],
        ),
    ] {
        let said = terminal.run(&format!("serve {flags}")).await;
        let words = said.refused(code);
        assert!(!words.contains("hidden"), "{flags}: {words}");
        let is_about_the_port = flags == format!("--listen {taken}");
        assert_eq!(words.contains("stop the program that listens there"), is_about_the_port, "{flags}: {words}");
        for part in expected {
            assert!(words.contains(part), "`serve {flags}` does not say `{part}`: {words}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn database_refusals_are_reported() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let database = tokio::task::spawn_blocking(|| Server::start(&Settings::default())).await.unwrap();
    let trusted = database.fresh_database();
    let store = Store::open(&StoreConfig::Postgres { url: trusted.clone() }, &base::Clock::default()).await.unwrap();
    let hba = store
        .query("SELECT current_setting('hba_file') AS hba_file", &[], |row| row.get::<String>("hba_file"))
        .await
        .unwrap()
        .remove(0);
    let guard = format!("COPY (SELECT unnest(ARRAY['host all guarded all scram-sha-256', 'host all all all trust'])) TO '{hba}'");
    let guard: &'static str = Box::leak(guard.into_boxed_str());
    let change = store.write_instance(move |tx| {
        tx.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'", &[])?;
        tx.execute(guard, &[])?;
        tx.query("SELECT pg_reload_conf()::text", &[], |_| Ok(()))
    });
    change.await.unwrap();
    store.close().await;
    let serve = async |url: &str| {
        let said = terminal.run(&format!("serve --listen 127.0.0.1:0 --database-url {url}")).await;
        assert!(!said.err.contains("hidden"), "{said:?}");
        said.refused(1).to_owned()
    };
    let as_guarded = |password: &str| trusted.replacen("postgres@", &format!("guarded{password}@"), 1);
    let refused = "refuses the user `guarded`; check the user and the password";
    eventually("the database asks for a password", async || serve(&as_guarded(":hidden")).await.contains(refused)).await;
    assert!(serve(&as_guarded("")).await.contains("needs a password; add one for `guarded` to the database url"));
    assert!(serve(&trusted.replacen("postgres@", "nobody:hidden@", 1)).await.contains("refuses the user `nobody`"));
    let elsewhere = format!("{}/nothing", trusted.rsplit_once('/').unwrap().0);
    assert!(serve(&elsewhere).await.contains("has no database `nothing`; create it"));
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_accepts_a_host_name() {
    let place = Place::new(Engine::Sqlite);
    let server = Process::start(Terminal::at(&place).command("serve --listen localhost:0"), &place.data()).await;
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    server.get("/api/orgs").await;
}

/// The output of a server until it is ready, and the server.
async fn greeting(mut serve: tokio::process::Command) -> (String, tokio::process::Child) {
    let mut child = serve.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let mut text = String::new();
    while !text.contains("Ctrl-C stops it.") {
        text.push_str(&in_time(lines.next_line()).await.unwrap().expect("the server starts"));
        text.push('\n');
    }
    (text, child)
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_does_not_count_as_first_start() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    terminal.run(&format!("serve --listen {}", taken.local_addr().unwrap())).await.refused(1);
    let (text, _child) = greeting(place.serve()).await;
    assert!(text.contains("This was its first start."), "{text}");
    assert!(text.contains(&format!("default (root {})", terminal.here.display())), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn directory_above_the_data_folder_cannot_be_a_root() {
    let place = Place::new(Engine::Sqlite);
    let above = place.data().parent().unwrap().to_owned();
    let mut serve = place.serve();
    serve.current_dir(&above);
    let (text, _child) = greeting(serve).await;
    assert!(text.contains("default (no root, because this directory contains the data folder"), "{text}");
    let terminal = Terminal::at(&place);
    assert_eq!(terminal.json("project show default").await["project"]["root"], json!(null));
    let said = terminal.run(&format!("project set default --root {}", above.display())).await;
    assert!(said.refused(1).contains("contains the server's data folder"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn second_server_reports_the_locked_data_folder() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let said = terminal.run(&format!("serve --listen {}", server.url.strip_prefix("http://").unwrap())).await;
    assert!(said.refused(1).contains("another server uses the data folder") && !said.err.contains("hint: "), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn second_start_prints_one_line() {
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
    assert!(in_time(child.wait()).await.unwrap().success(), "Ctrl-C exits with 0");
    assert_eq!(lines.next_line().await.unwrap(), None);
}
