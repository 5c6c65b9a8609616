//! An endpoint that is down, slow, or sends invalid answers.

use serde_json::json;
use server::{Config, EmbedEndpoint};
use tempfile::TempDir;

use super::endpoint::{DIMENSION, Down, Endpoint, Mode, with_dimension};
use super::{
    ABOUT_STAGING, Known, MONEY, STAGING, again, all_embedded, contents, figures, found_by_meaning, recall, remember, restarted,
    waiting,
};
use crate::support::{Crib, Engine, eventually, in_time, start_server};

#[tokio::test(flavor = "multi_thread")]
async fn server_starts_without_its_embedder_and_finds_it_later() {
    let down = Down::new();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(with_dimension(down.settings()))).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    remember(&session, STAGING).await;
    let (text, found) = recall(&session, "staging").await;
    assert_eq!(contents(&found), [STAGING]);
    assert!(text.contains("Searched by keywords only"), "{text}");
    let (text, found) = recall(&session, ABOUT_STAGING).await;
    assert!(found.is_empty() && text.contains("try other words, or try again later"), "{text}");
    assert_eq!(crib.send(crib.http.get(format!("{}/readyz", crib.url))).await.status, 200);
    eventually("the failure is counted", async || {
        let figures = figures(&crib).await;
        figures.contains("toolcrib_embed_texts_waiting 1\n") && !figures.contains("toolcrib_embed_failures_total 0\n")
    })
    .await;
    let endpoint = down.come_up();
    found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
    eventually("no text waits for its vector", async || figures(&crib).await.contains("toolcrib_embed_texts_waiting 0\n")).await;
    assert!(endpoint.asked().iter().all(|asked| asked.body["dimensions"] == DIMENSION));
}

#[tokio::test(flavor = "multi_thread")]
async fn dimension_is_configured_probed_or_remembered() {
    let down = Down::new();
    let folder = TempDir::with_prefix("toolcrib-it-").unwrap();
    let said = refusal(&folder, down.settings()).await;
    assert!(said.contains("--embed-dimension") && said.contains("unreachable"), "{said}");

    let endpoint = down.come_up();
    let crib = Crib::start_in(folder, Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.settings())).await;
    let before = Known::of(&crib.tenant().await);
    remember(&again(&crib, &before).session().await, STAGING).await;
    all_embedded(&crib, &before.org).await;
    endpoint.answers(Mode::With(503, String::new()));
    let crib = restarted(crib, Some(endpoint.settings())).await;
    let session = again(&crib, &before).session().await;
    assert_eq!(contents(&recall(&session, "staging").await.1), [STAGING]);
    // The dimension of another model is unknown.
    let folder = crib.stop_and_keep().await;
    let said = refusal(&folder, EmbedEndpoint { model: "other".into(), ..endpoint.settings() }).await;
    assert!(said.contains("--embed-dimension") && said.contains("503"), "{said}");
}

/// The error of a server that cannot learn the dimension.
async fn refusal(folder: &TempDir, endpoint: EmbedEndpoint) -> String {
    let mut config = Config::new(folder.path().join("data"));
    config.listen = ([127, 0, 0, 1], 0).into();
    config.embed_endpoint = Some(endpoint);
    start_server(config).await.err().expect("the start fails").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_endpoint_blocks_neither_questions_nor_shutdown() {
    let endpoint = Endpoint::start();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.settings())).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    remember(&session, STAGING).await;
    found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
    endpoint.answers(Mode::Never);
    endpoint.forget();
    for number in 0..20 {
        let (text, found) = recall(&session, &format!("what of staging, {number}")).await;
        assert_eq!(contents(&found), [STAGING]);
        assert!(text.contains("Searched by keywords only"), "{text}");
    }
    // After the first failure, at most a few questions try the endpoint again.
    let asked = endpoint.asked().len();
    assert!((1..=3).contains(&asked), "{asked} requests for 20 questions");
    // A cached question needs no endpoint.
    assert_eq!(contents(&recall(&session, ABOUT_STAGING).await.1), [STAGING]);
    remember(&session, MONEY).await;
    eventually("a batch is under way", async || endpoint.asked().iter().any(|asked| asked.texts() == [MONEY])).await;
    assert_eq!(waiting(&crib, &tenant.org).await, 1);
    let mut given_up = endpoint.given_up();
    let before = *given_up.borrow();
    in_time(crib.stop()).await;
    // The request must be cancelled well before its own timeout.
    let at_once = given_up.wait_for(|count| *count > before);
    let half = std::time::Duration::from_millis(base::limits::EMBED_BATCH_TIMEOUT_MS / 2);
    tokio::time::timeout(half, at_once).await.expect("the request is cancelled").unwrap();
}

/// Sends an invalid answer to a server: the text waits, is found by its words, and gets its vector later.
async fn check_invalid_answer(status: u16, answer: String) {
    let endpoint = Endpoint::start();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.settings())).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    endpoint.answers(Mode::With(status, answer.clone()));
    remember(&session, STAGING).await;
    eventually("the endpoint was tried", async || !figures(&crib).await.contains("toolcrib_embed_failures_total 0\n")).await;
    assert_eq!(waiting(&crib, &tenant.org).await, 1, "{answer}");
    let (text, found) = recall(&session, "staging").await;
    assert_eq!(contents(&found), [STAGING]);
    assert!(text.contains("Searched by keywords only"), "{text}");
    endpoint.answers(Mode::Well);
    found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
    crib.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_endpoint_answers_lose_no_text() {
    let vectors = |vector: &[f64]| (200, json!({"data": [{"index": 0, "embedding": vector}]}).to_string());
    // Each case mostly waits for a retry, so all of them run at once.
    let cases = [
        (200, "<html>It works!</html>".to_owned()),
        (200, json!({"data": []}).to_string()),
        vectors(&[0.5; DIMENSION - 1]),
        vectors(&[0.0; DIMENSION]),
        (400, json!({"error": {"message": "unknown member encoding_format"}}).to_string()),
        (302, String::new()),
        (404, json!({"error": "model not found"}).to_string()),
    ];
    futures_util::future::join_all(cases.map(|(status, answer)| check_invalid_answer(status, answer))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn overloaded_endpoint_gets_every_text_again() {
    let endpoint = Endpoint::start();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.settings())).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    endpoint.answers(Mode::With(429, json!({"error": {"message": "slow down"}}).to_string()));
    for number in 0..20 {
        remember(&session, &format!("note {number} says that {STAGING}")).await;
    }
    eventually("the endpoint was tried", async || !figures(&crib).await.contains("toolcrib_embed_failures_total 0\n")).await;
    assert_eq!(waiting(&crib, &tenant.org).await, 20);
    endpoint.forget();
    endpoint.answers(Mode::Well);
    all_embedded(&crib, &tenant.org).await;
    let mut sizes: Vec<_> = endpoint.asked().iter().map(|asked| asked.texts().len()).collect();
    // One more failed try may come first.
    sizes.dedup();
    assert_eq!(sizes, [16, 4], "each text is sent once, in batches");
}
