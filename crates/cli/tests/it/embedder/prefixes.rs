//! Prefixes of queries and texts, for models that were trained with them.

use serde_json::json;
use server::EmbedEndpoint;

use super::endpoint::{DIMENSION, Endpoint, Mode};
use super::{
    ABOUT_STAGING, Known, MONEY, STAGING, again, all_embedded, all_embedded_by, found_by_meaning, models, remember, restarted,
};
use crate::support::{Crib, Engine, Place, Terminal, both_engines};

const QUERY: &str = "query: ";
const TEXT: &str = "passage: ";

fn prefixed(endpoint: &Endpoint, query: &str, text: &str) -> EmbedEndpoint {
    EmbedEndpoint { query_prefix: query.into(), text_prefix: text.into(), ..endpoint.settings() }
}

/// Everything that was sent to the endpoint, sorted and without repetitions.
fn sent(endpoint: &Endpoint) -> Vec<String> {
    let asked = endpoint.asked();
    let mut sent: Vec<String> = asked.iter().flat_map(|asked| asked.texts().into_iter().map(str::to_owned)).collect();
    sent.sort();
    sent.dedup();
    sent
}

both_engines! {
    async fn queries_and_texts_have_their_own_prefixes(engine: Engine) {
        let endpoint = Endpoint::start();
        let place = endpoint.settings().url.replace("http://", "");
        let crib = Crib::start_with(engine, |config| config.embed_endpoint = Some(prefixed(&endpoint, QUERY, TEXT))).await;
        let before = Known::of(&crib.tenant().await);
        let session = again(&crib, &before).session().await;
        remember(&session, STAGING).await;
        remember(&session, MONEY).await;
        all_embedded(&crib, &before.org).await;
        found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
        let question = format!("{QUERY}{ABOUT_STAGING}");
        let mut expected = vec![format!("{TEXT}{STAGING}"), format!("{TEXT}{MONEY}"), format!("{TEXT}memory"), question];
        expected.sort();
        assert_eq!(sent(&endpoint), expected);
        let stored = [format!("bag-of-words@{place}/{DIMENSION} \"{TEXT}\" {DIMENSION}")];
        assert_eq!(models(&crib, &before.org).await, stored);

        // Another prefix of queries: the stored vectors stay, and the same question is embedded again.
        endpoint.forget();
        let crib = restarted(crib, Some(prefixed(&endpoint, "search: ", TEXT))).await;
        let session = again(&crib, &before).session().await;
        found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
        assert_eq!(sent(&endpoint), [format!("{TEXT}memory"), format!("search: {ABOUT_STAGING}")]);
        assert_eq!(models(&crib, &before.org).await, stored);

        // Another prefix of texts: every text is embedded again.
        endpoint.forget();
        let crib = restarted(crib, Some(prefixed(&endpoint, "search: ", "document: "))).await;
        all_embedded_by(&crib, &before.org, &[format!("bag-of-words@{place}/{DIMENSION} \"document: \" {DIMENSION}")]).await;
        all_embedded(&crib, &before.org).await;
        let mut expected = vec![format!("document: {STAGING}"), format!("document: {MONEY}"), "document: memory".to_owned()];
        expected.sort();
        assert_eq!(sent(&endpoint), expected);
        let session = again(&crib, &before).session().await;
        found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shortened_texts_keep_their_prefix() {
    let endpoint = Endpoint::start();
    endpoint.answers(Mode::WellExcept(400, "unspeakable", 600));
    let settings = prefixed(&endpoint, QUERY, TEXT);
    let crib = Crib::start_with(Engine::Sqlite, |config| config.embed_endpoint = Some(settings)).await;
    let tenant = crib.tenant().await;
    let session = tenant.session().await;
    remember(&session, &format!("{STAGING}. {}", "More about it follows. ".repeat(1_000))).await;
    all_embedded(&crib, &tenant.org).await;
    let texts = sent(&endpoint);
    assert!(texts.iter().all(|text| text.starts_with(TEXT)), "{texts:?}");
    let mut sizes: Vec<_> = texts.iter().map(|text| text.chars().count() - TEXT.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, ["memory".len(), 500, 2_000, 8_000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluation_measures_another_embedder() {
    let (endpoint, place) = (Endpoint::start(), Place::new(Engine::Sqlite));
    let set = place.folder.path().join("set.jsonl");
    let lines = [
        json!({"id": "a", "content": STAGING}),
        json!({"id": "b", "content": MONEY}),
        json!({"query": ABOUT_STAGING, "gold": ["a"]}),
    ];
    std::fs::write(&set, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let terminal = Terminal::at(&place);
    let url = endpoint.settings().url;
    let line = format!("eval recall --set {} --embed-url {url} --embed-model bag-of-words", set.display());
    let prefixes = format!("--embed-query-prefix '{QUERY}' --embed-text-prefix '{TEXT}'");
    let report = terminal.json(&format!("{line} {prefixes}")).await;
    assert_eq!(report["modes"]["vector"]["mean_reciprocal_rank"], 1.0, "{report}");
    let mut expected =
        [format!("{TEXT}{STAGING}"), format!("{TEXT}{MONEY}"), format!("{TEXT}memory"), format!("{QUERY}{ABOUT_STAGING}")];
    expected.sort();
    assert_eq!(sent(&endpoint), expected);

    // A question without a vector would be measured by its keywords.
    endpoint.answers(Mode::WellExcept(503, "query: ", 10_000));
    let failed = terminal.run(&format!("{line} {prefixes}")).await;
    assert!(failed.refused(1).contains("the embedder failed for a question (it answered 503"), "{failed:?}");
    endpoint.answers(Mode::WellExcept(503, "staging", 10_000));
    let failed = terminal.run(&line).await;
    assert!(failed.refused(1).contains("the embedder failed: it answered 503"), "{failed:?}");
    let refused = terminal.run(&format!("eval recall --set {} {prefixes}", set.display())).await;
    assert!(refused.refused(1).contains("--embed-url"), "{refused:?}");
}
