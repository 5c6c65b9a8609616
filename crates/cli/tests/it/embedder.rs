//! A remote embedder: memory searches by meaning, and falls back to words during an outage.

mod endpoint;
mod outages;
mod prefixes;
mod process;

use serde_json::{Value, json};
use server::EmbedEndpoint;

use crate::support::{Crib, Engine, Session, Tenant, both_engines, eventually};
use endpoint::{DIMENSION, Endpoint, Mode, with_dimension};

const STAGING: &str = "The staging database is wiped every night";
const MONEY: &str = "We store money as integer cents";
/// A question that shares no word with the notes.
const ABOUT_STAGING: &str = "preproduction erased";

async fn remember(session: &Session<'_>, content: &str) {
    let kept = session.call("af_memory_remember", json!({"content": content})).await.result();
    assert_eq!(kept["structuredContent"]["stored"], true, "{content}");
}

/// The text and the observations of a recall.
async fn recall(session: &Session<'_>, query: &str) -> (String, Vec<Value>) {
    let said = session.call("af_memory_recall", json!({"query": query, "workType": "bug_fix"})).await.result();
    let text = said["content"][0]["text"].as_str().unwrap().to_owned();
    (text, said["structuredContent"]["observations"].as_array().unwrap().clone())
}

fn contents(found: &[Value]) -> Vec<&str> {
    found.iter().map(|found| found["content"].as_str().unwrap()).collect()
}

/// Waits until the question finds `content` by vector alone.
async fn found_by_meaning(session: &Session<'_>, query: &str, content: &str) {
    eventually(query, async || {
        let (_, found) = recall(session, query).await;
        found.first().is_some_and(|found| {
            found["content"] == content && found["why"]["vector"].as_f64().unwrap() > 1.0 && found["why"]["keyword"] == 0.0
        })
    })
    .await;
}

async fn waiting(crib: &Crib, org: &str) -> usize {
    crib.rows("SELECT CAST(number AS TEXT) AS value FROM unembedded WHERE org_id = ?1", org).await.len()
}

async fn all_embedded(crib: &Crib, org: &str) {
    eventually("no text waits for its vector", async || waiting(crib, org).await == 0).await;
}

/// The models of the stored vectors, with their dimensions.
async fn models(crib: &Crib, org: &str) -> Vec<String> {
    crib.rows("SELECT DISTINCT model || ' ' || CAST(dimension AS TEXT) AS value FROM vectors WHERE org_id = ?1 ORDER BY 1", org)
        .await
}

async fn figures(crib: &Crib) -> String {
    crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text
}

/// A tenant of an earlier server, on another server with the same rows.
fn again<'c>(crib: &'c Crib, before: &Known) -> Tenant<'c> {
    Tenant { crib, org: before.org.clone(), key: before.key.clone(), project: before.project.clone() }
}

struct Known {
    org: String,
    key: String,
    project: String,
}

impl Known {
    fn of(tenant: &Tenant<'_>) -> Self {
        Self { org: tenant.org.clone(), key: tenant.key.clone(), project: tenant.project.clone() }
    }
}

/// Restarts the server on the same rows with another embedder.
async fn restarted(crib: Crib, embedder: Option<EmbedEndpoint>) -> Crib {
    let database = crib.database_url();
    let folder = crib.stop_and_keep().await;
    Crib::start_in(folder, Engine::Sqlite, |config| {
        config.database_url = database;
        config.embed_endpoint = embedder;
    })
    .await
}

both_engines! {
    async fn question_in_other_words_is_found_by_the_endpoints_vectors(engine: Engine) {
        let endpoint = Endpoint::start();
        let crib = Crib::start_with(engine, |config| config.embed_endpoint = Some(endpoint.settings())).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        for note in [STAGING, MONEY, "Use pnpm because the lock file of npm breaks the build machine"] {
            remember(&session, note).await;
        }
        found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
        found_by_meaning(&session, "which fractions of a currency", MONEY).await;
        let (text, _) = recall(&session, ABOUT_STAGING).await;
        assert!(!text.contains("keywords only"), "{text}");
        for asked in endpoint.asked() {
            assert_eq!((&asked.body["model"], &asked.body["encoding_format"]), (&json!("bag-of-words"), &json!("float")));
            assert_eq!((asked.body.get("dimensions"), asked.authorization.as_deref()), (None, None));
        }
        let place = endpoint.settings().url.replace("http://", "");
        all_embedded(&crib, &tenant.org).await;
        assert_eq!(models(&crib, &tenant.org).await, [format!("bag-of-words@{place}/{DIMENSION} {DIMENSION}")]);
        // Repeating the question sends no second request.
        endpoint.forget();
        recall(&session, ABOUT_STAGING).await;
        assert!(endpoint.asked().is_empty());
    }

    async fn model_change_embeds_everything_again(engine: Engine) {
        let endpoint = Endpoint::start();
        let crib = Crib::start(engine).await;
        let before = Known::of(&crib.tenant().await);
        let session = again(&crib, &before).session().await;
        for number in 0..20 {
            remember(&session, &format!("{STAGING}, says note {number}")).await;
        }
        remember(&session, MONEY).await;
        all_embedded(&crib, &before.org).await;
        let bundled = models(&crib, &before.org).await;
        assert!(bundled.len() == 1 && bundled[0].ends_with(" 384"), "{bundled:?}");

        // Search by words still works while the texts wait for their new vectors.
        endpoint.answers(Mode::With(503, String::new()));
        let crib = restarted(crib, Some(with_dimension(endpoint.settings()))).await;
        let session = again(&crib, &before).session().await;
        let (text, found) = recall(&session, "money").await;
        assert_eq!(contents(&found), [MONEY]);
        assert!(found[0]["why"]["vector"] == 0.0 && text.contains("Searched by keywords only"), "{text}");
        endpoint.answers(Mode::Well);
        found_by_meaning(&session, "fractions of currency", MONEY).await;
        all_embedded(&crib, &before.org).await;
        let place = endpoint.settings().url.replace("http://", "");
        assert_eq!(models(&crib, &before.org).await, [format!("bag-of-words@{place}/{DIMENSION} {DIMENSION}")]);
        assert!(endpoint.asked().iter().all(|asked| asked.body["dimensions"] == DIMENSION));

        let crib = restarted(crib, None).await;
        all_embedded_by(&crib, &before.org, &bundled).await;
        let session = again(&crib, &before).session().await;
        let (_, found) = recall(&session, "how are prices represented to avoid rounding errors").await;
        assert_eq!(found[0]["content"], MONEY);
        assert!(found[0]["why"]["vector"].as_f64().unwrap() > 1.0, "{}", found[0]);
    }

    async fn refused_text_does_not_block_other_texts(engine: Engine) {
        let endpoint = Endpoint::start();
        // Real endpoints refuse a text with either status.
        for status in [400, 500] {
            endpoint.answers(Mode::WellExcept(status, "unspeakable", 600));
            let crib = Crib::start_with(engine, |config| config.embed_endpoint = Some(endpoint.settings())).await;
            let before = Known::of(&crib.tenant().await);
            let session = again(&crib, &before).session().await;
            let long = format!("{STAGING}. {}", "More about it follows. ".repeat(1_000));
            for note in [MONEY, "this is unspeakable", &long] {
                remember(&session, note).await;
            }
            all_embedded(&crib, &before.org).await;
            found_by_meaning(&session, "fractions of currency", MONEY).await;
            assert_eq!(contents(&recall(&session, "unspeakable").await.1), ["this is unspeakable"], "it is found by its words");
            let dimensions = "SELECT CAST(dimension AS TEXT) AS value FROM vectors WHERE org_id = ?1 ORDER BY number";
            let (whole, none) = (DIMENSION.to_string(), "0".to_owned());
            assert_eq!(crib.rows(dimensions, &before.org).await, [whole.clone(), none, whole.clone()]);
            let sent = endpoint.asked().iter().flat_map(|asked| asked.texts().iter().map(|text| text.chars().count()).collect::<Vec<_>>()).max();
            assert_eq!(sent, Some(8_000), "only the start of a long text is sent");

            // After a restart, the refused text is not tried again. Another model tries it again.
            endpoint.forget();
            let crib = restarted(crib, Some(endpoint.settings())).await;
            let session = again(&crib, &before).session().await;
            remember(&session, "something new").await;
            all_embedded(&crib, &before.org).await;
            let tried = |word: &str| endpoint.asked().iter().any(|asked| asked.texts().iter().any(|text| text.contains(word)));
            assert!(tried("something new") && !tried("unspeakable"));
            endpoint.answers(Mode::Well);
            let crib = restarted(crib, Some(EmbedEndpoint { model: "larger".into(), ..endpoint.settings() })).await;
            let is_embedded = async || crib.rows(dimensions, &before.org).await.iter().all(|found| *found == whole);
            eventually("the text is tried again", is_embedded).await;
            assert!(tried("unspeakable"));
            crib.stop().await;
            endpoint.forget();
        }
    }
}

async fn all_embedded_by(crib: &Crib, org: &str, expected: &[String]) {
    eventually("everything is embedded by the present model", async || models(crib, org).await == expected).await;
}
