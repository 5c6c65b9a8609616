//! An endpoint that is down, slow, or talks nonsense.

use serde_json::json;
use server::{Config, EmbedEndpoint};
use tempfile::TempDir;

use super::endpoint::{DIMENSION, Down, Endpoint, Manner, with_dimension};
use super::{
    ABOUT_STAGING, Known, MONEY, STAGING, again, all_embedded, contents, figures, found_by_meaning, recall, remember, restarted,
    waiting,
};
use crate::support::{Crib, Engine, eventually, in_time, start_server};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_without_its_embedder_and_finds_it_later() {
    let down = Down::new();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(with_dimension(down.named()))).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    remember(&session, STAGING).await;
    let (text, found) = recall(&session, "staging").await;
    assert_eq!(contents(&found), [STAGING]);
    assert!(text.contains("Only words were compared"), "{text}");
    let (text, found) = recall(&session, ABOUT_STAGING).await;
    assert!(found.is_empty() && text.contains("try other words, or ask again later"), "{text}");
    assert_eq!(crib.send(crib.http.get(format!("{}/readyz", crib.url))).await.status, 200);
    eventually("it is counted", async || {
        let figures = figures(&crib).await;
        figures.contains("toolcrib_embed_texts_waiting 1\n") && !figures.contains("toolcrib_embed_failures_total 0\n")
    })
    .await;
    let endpoint = down.come_up();
    found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
    eventually("nothing waits", async || figures(&crib).await.contains("toolcrib_embed_texts_waiting 0\n")).await;
    assert!(endpoint.asked().iter().all(|asked| asked.body["dimensions"] == DIMENSION));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dimension_is_said_asked_or_remembered() {
    let down = Down::new();
    let folder = TempDir::with_prefix("toolcrib-it-").unwrap();
    let said = refusal(&folder, down.named()).await;
    assert!(said.contains("--embed-dimension") && said.contains("cannot be reached"), "{said}");

    let endpoint = down.come_up();
    let crib = Crib::start_in(folder, Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.named())).await;
    let before = Known::of(&crib.tenant().await);
    remember(&again(&crib, &before).session().await, STAGING).await;
    all_embedded(&crib, &before.org).await;
    endpoint.answers(Manner::With(503, String::new()));
    let crib = restarted(crib, Some(endpoint.named())).await;
    let session = again(&crib, &before).session().await;
    assert_eq!(contents(&recall(&session, "staging").await.1), [STAGING]);
    // Another model's dimension is another matter.
    let folder = crib.stop_and_keep().await;
    let said = refusal(&folder, EmbedEndpoint { model: "other".into(), ..endpoint.named() }).await;
    assert!(said.contains("--embed-dimension") && said.contains("503"), "{said}");
}

/// What a server says that does not start because nobody knows the dimension.
async fn refusal(folder: &TempDir, endpoint: EmbedEndpoint) -> String {
    let mut config = Config::new(folder.path().join("data"));
    config.listen = ([127, 0, 0, 1], 0).into();
    config.embed_endpoint = Some(endpoint);
    start_server(config).await.err().expect("nobody knows the dimension").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_never_answers_holds_up_neither_questions_nor_the_stop() {
    let endpoint = Endpoint::start();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.named())).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    remember(&session, STAGING).await;
    found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
    endpoint.answers(Manner::Never);
    endpoint.forget();
    for number in 0..20 {
        let (text, found) = recall(&session, &format!("what of staging, {number}")).await;
        assert_eq!(contents(&found), [STAGING]);
        assert!(text.contains("Only words were compared"), "{text}");
    }
    // The first question found out, and at most a few later ones had another look.
    let asked = endpoint.asked().len();
    assert!((1..=3).contains(&asked), "{asked} requests for 20 questions");
    // What is known by heart needs nobody.
    assert_eq!(contents(&recall(&session, ABOUT_STAGING).await.1), [STAGING]);
    remember(&session, MONEY).await;
    eventually("a batch is under way", async || endpoint.asked().iter().any(|asked| asked.texts() == [MONEY])).await;
    assert_eq!(waiting(&crib, &tenant.org).await, 1);
    let mut given_up = endpoint.given_up();
    let before = *given_up.borrow();
    in_time(crib.stop()).await;
    // Long before its own time is over: the process would not end sooner.
    let at_once = given_up.wait_for(|count| *count > before);
    let half = std::time::Duration::from_millis(base::limits::EMBED_BATCH_TIMEOUT_MS / 2);
    tokio::time::timeout(half, at_once).await.expect("the request is given up").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_no_vector_and_loses_no_text() {
    let endpoint = Endpoint::start();
    let vectors = |vector: &[f64]| (200, json!({"data": [{"index": 0, "embedding": vector}]}).to_string());
    for (status, nonsense) in [
        (200, "<html>It works!</html>".to_owned()),
        (200, json!({"data": []}).to_string()),
        vectors(&[0.5; DIMENSION - 1]),
        vectors(&[0.0; DIMENSION]),
        (400, json!({"error": {"message": "unknown member encoding_format"}}).to_string()),
        (302, String::new()),
        (404, json!({"error": "model not found"}).to_string()),
    ] {
        endpoint.answers(Manner::Well);
        let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.named())).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        endpoint.answers(Manner::With(status, nonsense.clone()));
        remember(&session, STAGING).await;
        eventually("it was tried", async || !figures(&crib).await.contains("toolcrib_embed_failures_total 0\n")).await;
        assert_eq!(waiting(&crib, &tenant.org).await, 1, "{nonsense}");
        let (text, found) = recall(&session, "staging").await;
        assert_eq!(contents(&found), [STAGING]);
        assert!(text.contains("Only words were compared"), "{text}");
        endpoint.answers(Manner::Well);
        found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
        crib.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_has_too_much_to_do_is_asked_again_for_everything() {
    let endpoint = Endpoint::start();
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(endpoint.named())).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    endpoint.answers(Manner::With(429, json!({"error": {"message": "slow down"}}).to_string()));
    for number in 0..20 {
        remember(&session, &format!("note {number} says that {STAGING}")).await;
    }
    eventually("it was tried", async || !figures(&crib).await.contains("toolcrib_embed_failures_total 0\n")).await;
    assert_eq!(waiting(&crib, &tenant.org).await, 20);
    endpoint.forget();
    endpoint.answers(Manner::Well);
    all_embedded(&crib, &tenant.org).await;
    let mut sizes: Vec<_> = endpoint.asked().iter().map(|asked| asked.texts().len()).collect();
    // A last try may have come in between.
    sizes.dedup();
    assert_eq!(sizes, [16, 4], "in batches, each text once");
}
