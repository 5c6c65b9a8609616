//! An embedder elsewhere: memory means what it says, and goes on by words whatever becomes of it.

mod endpoint;
mod outages;
mod process;

use serde_json::{Value, json};
use server::EmbedEndpoint;

use crate::support::{Crib, Engine, Session, Tenant, both_engines, eventually};
use endpoint::{DIMENSION, Endpoint, Manner, with_dimension};

const STAGING: &str = "The staging database is wiped every night";
const MONEY: &str = "We store money as integer cents";
/// No word of it is in any of them.
const ABOUT_STAGING: &str = "preproduction erased";

async fn remember(session: &Session<'_>, content: &str) {
    let kept = session.call("af_memory_remember", json!({"content": content})).await.result();
    assert_eq!(kept["structuredContent"]["stored"], true, "{content}");
}

/// What a model reads, and the observations.
async fn recall(session: &Session<'_>, query: &str) -> (String, Vec<Value>) {
    let said = session.call("af_memory_recall", json!({"query": query, "workType": "bug_fix"})).await.result();
    let text = said["content"][0]["text"].as_str().unwrap().to_owned();
    (text, said["structuredContent"]["observations"].as_array().unwrap().clone())
}

fn contents(found: &[Value]) -> Vec<&str> {
    found.iter().map(|found| found["content"].as_str().unwrap()).collect()
}

/// Waits until the question is answered by what it means, and by that alone.
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
    crib.rows("SELECT CAST(number AS TEXT) FROM unembedded WHERE org_id = ?1", org).await.len()
}

async fn all_embedded(crib: &Crib, org: &str) {
    eventually("nothing waits", async || waiting(crib, org).await == 0).await;
}

/// The models that vectors were made by, and how many numbers they have.
async fn models(crib: &Crib, org: &str) -> Vec<String> {
    crib.rows("SELECT DISTINCT model || ' ' || CAST(dimension AS TEXT) FROM vectors WHERE org_id = ?1 ORDER BY 1", org).await
}

async fn figures(crib: &Crib) -> String {
    crib.send(crib.http.get(format!("{}/metrics", crib.url))).await.text
}

/// A tenant of an earlier server, at another one on the same rows.
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

/// The next server on the same rows, with another embedder.
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
    async fn a_question_in_other_words_is_found_by_what_the_endpoint_says_it_means(engine: Engine) {
        let endpoint = Endpoint::start();
        let crib = Crib::start_with(engine, |config| config.embed_endpoint = Some(endpoint.named())).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        for note in [STAGING, MONEY, "Use pnpm because the lock file of npm breaks the build machine"] {
            remember(&session, note).await;
        }
        found_by_meaning(&session, ABOUT_STAGING, STAGING).await;
        found_by_meaning(&session, "which fractions of a currency", MONEY).await;
        let (text, _) = recall(&session, ABOUT_STAGING).await;
        assert!(!text.contains("Only words"), "{text}");
        for asked in endpoint.asked() {
            assert_eq!((&asked.body["model"], &asked.body["encoding_format"]), (&json!("bag-of-words"), &json!("float")));
            assert_eq!((asked.body.get("dimensions"), asked.authorization.as_deref()), (None, None));
        }
        let place = endpoint.named().url.replace("http://", "");
        all_embedded(&crib, &tenant.org).await;
        assert_eq!(models(&crib, &tenant.org).await, [format!("bag-of-words@{place}/{DIMENSION} {DIMENSION}")]);
        // The same question again costs no second request.
        endpoint.forget();
        recall(&session, ABOUT_STAGING).await;
        assert!(endpoint.asked().is_empty());
    }

    async fn a_change_of_the_model_embeds_everything_anew_and_mixes_nothing(engine: Engine) {
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

        // Nothing is lost while it is embedded anew, nor while that has to wait.
        endpoint.answers(Manner::With(503, String::new()));
        let crib = restarted(crib, Some(with_dimension(endpoint.named()))).await;
        let session = again(&crib, &before).session().await;
        let (text, found) = recall(&session, "money").await;
        assert_eq!(contents(&found), [MONEY]);
        assert!(found[0]["why"]["vector"] == 0.0 && text.contains("Only words were compared"), "{text}");
        endpoint.answers(Manner::Well);
        found_by_meaning(&session, "fractions of currency", MONEY).await;
        all_embedded(&crib, &before.org).await;
        let place = endpoint.named().url.replace("http://", "");
        assert_eq!(models(&crib, &before.org).await, [format!("bag-of-words@{place}/{DIMENSION} {DIMENSION}")]);
        assert!(endpoint.asked().iter().all(|asked| asked.body["dimensions"] == DIMENSION));

        let crib = restarted(crib, None).await;
        all_embedded_by(&crib, &before.org, &bundled).await;
        let session = again(&crib, &before).session().await;
        let (_, found) = recall(&session, "how are prices represented to avoid rounding errors").await;
        assert_eq!(found[0]["content"], MONEY);
        assert!(found[0]["why"]["vector"].as_f64().unwrap() > 1.0, "{}", found[0]);
    }

    async fn a_text_that_the_endpoint_refuses_holds_up_no_other(engine: Engine) {
        let endpoint = Endpoint::start();
        // Long texts are refused with one status and a word with another: both in ways that real endpoints have.
        for status in [400, 500] {
            endpoint.answers(Manner::Choosily(status, "unspeakable", 600));
            let crib = Crib::start_with(engine, |config| config.embed_endpoint = Some(endpoint.named())).await;
            let before = Known::of(&crib.tenant().await);
            let session = again(&crib, &before).session().await;
            let long = format!("{STAGING}. {}", "More about it follows. ".repeat(1_000));
            for note in [MONEY, "this is unspeakable", &long] {
                remember(&session, note).await;
            }
            all_embedded(&crib, &before.org).await;
            found_by_meaning(&session, "fractions of currency", MONEY).await;
            assert_eq!(contents(&recall(&session, "unspeakable").await.1), ["this is unspeakable"], "by its words");
            let dimensions = "SELECT CAST(dimension AS TEXT) FROM vectors WHERE org_id = ?1 ORDER BY number";
            let (whole, none) = (DIMENSION.to_string(), "0".to_owned());
            assert_eq!(crib.rows(dimensions, &before.org).await, [whole.clone(), none, whole.clone()]);
            let sent = endpoint.asked().iter().flat_map(|asked| asked.texts().iter().map(|text| text.chars().count()).collect::<Vec<_>>()).max();
            assert_eq!(sent, Some(8_000), "of a longer text only so much is sent");

            // It stays aside when the server is started again, and has another chance with another model.
            endpoint.forget();
            let crib = restarted(crib, Some(endpoint.named())).await;
            let session = again(&crib, &before).session().await;
            remember(&session, "something new").await;
            all_embedded(&crib, &before.org).await;
            let tried = |word: &str| endpoint.asked().iter().any(|asked| asked.texts().iter().any(|text| text.contains(word)));
            assert!(tried("something new") && !tried("unspeakable"));
            endpoint.answers(Manner::Well);
            let crib = restarted(crib, Some(EmbedEndpoint { model: "larger".into(), ..endpoint.named() })).await;
            eventually("it is tried again", async || crib.rows(dimensions, &before.org).await.iter().all(|found| *found == whole)).await;
            assert!(tried("unspeakable"));
            crib.stop().await;
            endpoint.forget();
        }
    }
}

async fn all_embedded_by(crib: &Crib, org: &str, expected: &[String]) {
    eventually("everything is embedded by the present model", async || models(crib, org).await == expected).await;
}
