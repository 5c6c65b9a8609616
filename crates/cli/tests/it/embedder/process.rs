//! The embedder's flags, variables and log, in a real process.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::endpoint::{DIMENSION, Endpoint, Mode};
use super::{MONEY, STAGING};
use crate::support::{Engine, Place, Process, Terminal, eventually, in_time};

const KEY: &str = "sk-embed-0123456789";

#[tokio::test(flavor = "multi_thread")]
async fn embedder_key_is_never_logged_and_an_outage_is_logged_once() {
    let (endpoint, place) = (Endpoint::start(), Place::new(Engine::Sqlite));
    let log = place.folder.path().join("log");
    let mut command = place.serve();
    command.args(["--embed-url", &endpoint.settings().url, "--embed-model", "bag-of-words"]);
    command.env("TOOLCRIB_EMBED_KEY", KEY).env("TOOLCRIB_LOG", "trace");
    command.stderr(std::fs::File::create(&log).unwrap());
    let mut process = Process::start(command, &place.data()).await;
    let terminal = Terminal::at(&place);
    let refusal = json!({"error": {"message": format!("the key {KEY} is unknown")}}).to_string();
    for status in [401, 429] {
        endpoint.answers(Mode::With(status, refusal.clone()));
        let note = if status == 401 { STAGING } else { MONEY };
        terminal.run(&format!("call af_memory_remember '{}'", json!({"content": note}))).await.ok();
        // Several failed tries are one outage.
        let tries = |asked: &[super::endpoint::Asked]| asked.iter().filter(|asked| asked.texts() == [note]).count();
        eventually("the text is tried again", async || tries(&endpoint.asked()) > 2).await;
        let found = terminal.run(&format!("call af_memory_recall '{}'", json!({"query": note, "workType": "chore"}))).await;
        assert!(found.ok().contains(note), "{found:?}");
        endpoint.answers(Mode::Well);
        let logged = |words: &str| std::fs::read_to_string(&log).unwrap().matches(words).count();
        let outages = if status == 401 { 1 } else { 2 };
        eventually("it is over", async || logged("embedder available again") == outages).await;
        assert_eq!(logged("embedder unavailable; memory search uses keywords only"), outages);
        assert!(logged(&format!("it answered {status}")) > 0);
    }
    assert!(endpoint.asked().iter().all(|asked| asked.authorization.as_deref() == Some(&format!("Bearer {KEY}"))));
    process.signal("TERM").await;
    in_time(process.child.wait()).await.unwrap();
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(!logged.contains(KEY) && !logged.contains("0123456789"));
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_and_doctor_report_embedder_problems() {
    let (endpoint, place) = (Endpoint::start(), Place::new(Engine::Sqlite));
    let terminal = Terminal::at(&place);
    let url = endpoint.settings().url;
    for (flags, said) in [
        (format!("--embed-url {url}"), "--embed-model"),
        ("--embed-model m".to_owned(), "--embed-url"),
        ("--embed-url localhost:1 --embed-model m".to_owned(), "without a user, query or fragment"),
        (format!("--embed-url {url} --embed-model m --embed-key-file nowhere"), "nowhere: No such file"),
        (format!("--embed-url {url} --embed-model m --embed-dimension 9000"), "at most 8192 numbers"),
        ("--embed-text-prefix 'passage: '".to_owned(), "--embed-text-prefix needs --embed-url"),
        (format!("--embed-url {url} --embed-model m --embed-query-prefix {}", "q".repeat(501)), "at most 500 characters"),
    ] {
        let refused = terminal.run(&format!("serve --listen 127.0.0.1:0 {flags}")).await;
        assert!(refused.refused(1).contains(said), "{flags}: {refused:?}");
    }

    let key = place.folder.path().join("embed.key");
    std::fs::write(&key, format!("{KEY}\n")).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let terminal = terminal
        .with("TOOLCRIB_EMBED_URL", &url)
        .with("TOOLCRIB_EMBED_MODEL", "bag-of-words")
        .with("TOOLCRIB_EMBED_KEY_FILE", key.to_str().unwrap());
    let embedder = async || {
        let said = terminal.run("doctor").await.out;
        assert!(!said.contains(KEY));
        said.lines().skip_while(|line| !line.contains("embedder")).take(2).collect::<Vec<_>>().join("\n")
    };
    let place = url.replace("http://", "");
    assert!(embedder().await.starts_with("ok"));
    assert!(embedder().await.contains(&format!("bag-of-words@{place}/{DIMENSION}")));
    let prefixed = terminal.with("TOOLCRIB_EMBED_TEXT_PREFIX", "passage: ").run("doctor").await.out;
    assert!(prefixed.contains(&format!("bag-of-words@{place}/{DIMENSION} \"passage: \"")), "{prefixed}");
    assert_eq!(endpoint.asked().last().unwrap().texts(), ["passage: memory"]);
    assert_eq!(endpoint.asked().last().unwrap().authorization.as_deref(), Some(&*format!("Bearer {KEY}")));
    endpoint.answers(Mode::With(401, format!(r#"{{"error": {{"message": "{KEY}"}}}}"#)));
    assert!(embedder().await.contains("it answered 401; check --embed-key-file"));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(embedder().await.contains("chmod 600"));
}
