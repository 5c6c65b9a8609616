//! Secrets work as printed, and a revocation applies at once.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, Terminal, http, text};

async fn post(server: &Process, path: &str, body: Value) -> StatusCode {
    http().post(format!("{}{path}", server.url)).json(&body).send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_from_stdin_log_people_in() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let log_in =
        async |password: &str| post(&server, "/api/console/login", json!({"email": "ada@b.example", "password": password})).await;
    // The password is the first line with its spaces, without the line ending.
    let add = "user add --email ada@b.example --role admin --password-stdin";
    let said = terminal.run_with_input(add, " correct horse battery \r\nnot this\n").await;
    assert!(!said.ok().contains("horse"), "{said:?}");
    assert_eq!(log_in(" correct horse battery ").await, 200);
    assert_eq!(log_in("correct horse battery").await, 401);

    let set = "user set ada@b.example --password-stdin";
    terminal.run_with_input(set, "another long one").await.ok();
    assert_eq!(log_in(" correct horse battery ").await, 401);
    assert_eq!(log_in("another long one").await, 200);
    for (line, status) in
        [("user set ada@b.example --disable", 401), ("user set ADA@B.example --enable", 200), ("user remove ada@b.example", 401)]
    {
        terminal.run(line).await.ok();
        assert_eq!(log_in("another long one").await, status, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_secret_works_until_rotated_disabled_or_removed() {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    let authenticate = async |agent: &Value| {
        let body = json!({"agent_key": agent["agent_key"], "agent_secret": agent["agent_secret"]});
        post(&server, "/api/agents/authenticate", body).await
    };
    let first = terminal.json("agent add reviewer --scope bricks:read --tool bricks.list").await;
    assert_eq!(authenticate(&first).await, 200);
    let second = terminal.json("agent rotate reviewer").await;
    assert_eq!(second["agent_key"], first["agent_key"]);
    assert_eq!((authenticate(&first).await, authenticate(&second).await), (StatusCode::UNAUTHORIZED, StatusCode::OK));
    for (line, status) in
        [("agent set reviewer --disable", 401), ("agent set reviewer --enable", 200), ("agent remove reviewer", 401)]
    {
        terminal.run(line).await.ok();
        assert_eq!(authenticate(&second).await, status, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_works_in_its_projects_until_revoked() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    terminal.run("project add web").await.ok();
    let minted = terminal.json("key add ci --scope org:read,sessions:write,bricks:read --cover web").await;
    let ci = terminal.with("TOOLCRIB_KEY", &text(&minted["key"]["fullKey"]));
    ci.run("call bricks.list --project web").await.ok();
    let elsewhere = ci.run("call bricks.list --project default").await;
    assert!(elsewhere.refused(1).contains("no project `default`"), "the key sees only its own project: {elsewhere:?}");
    let beyond = ci.run("key add more").await;
    assert!(beyond.refused(1).contains("(403)") && beyond.err.contains("hint: "), "{beyond:?}");
    terminal.run(&format!("key revoke {}", text(&minted["key"]["id"]))).await.ok();
    let dead = ci.run("call bricks.list --project web").await;
    assert!(dead.refused(1).contains("(401)") && dead.err.contains("revoked"), "{dead:?}");
}
