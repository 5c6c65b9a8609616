//! A session sends back what recall gave it, in every form in which it got it. None of it is stored, unless it adds something.

use serde_json::{Value, json};

use super::{contents, remember};
use crate::support::{Crib, Engine, Session, both_engines};

const NOTES: [&str; 3] = [
    "The zeppelin importer reads the price list every morning and skips what is unchanged",
    "Zeppelin tokens expire after fifteen minutes. There is no refresh.",
    "Steps of a zeppelin release:\n- drain the queue\n- run the migrations",
];

/// The notes are stored by others, and the session recalls them. Returns the text and the payload of the answer.
async fn recalled(session: &Session<'_>) -> (String, Value) {
    let asked = json!({"query": "zeppelin", "workType": "bug_fix"});
    let answer = session.call("af_memory_recall", asked).await.result();
    (answer["content"][0]["text"].as_str().unwrap().to_owned(), answer["structuredContent"].clone())
}

async fn assert_known(session: &Session<'_>, sent: &str) {
    let kept = remember(session, sent).await;
    assert_eq!((&kept["stored"], &kept["duplicate"]), (&json!(false), &json!(true)), "{sent}");
    assert!(kept["id"].as_str().unwrap().starts_with("obs_"), "{kept}");
}

/// Every form in which an answer can come back.
fn forms(text: &str, payload: &Value) -> Vec<String> {
    let observations = payload["observations"].as_array().unwrap();
    let [one, two, three] = NOTES;
    let lines: Vec<&str> = text.lines().collect();
    let middle = lines[2..lines.len() - 2].join("\n");
    vec![
        text.to_owned(),
        text.replace('\n', "\r\n"),
        middle,
        text[30..text.len() - 20].to_owned(),
        format!("Recalled:\n{text}"),
        format!("{three}\n\n{one}"),
        format!("Notes:\n- {two}\n- {one}"),
        format!("1. {one}\n2. {two}"),
        format!("{one}, {two}"),
        payload.to_string(),
        serde_json::to_string_pretty(payload).unwrap(),
        serde_json::to_string(&observations[..2]).unwrap(),
        observations[1].to_string(),
        format!("```json\n{:#}\n```", payload["observations"]),
    ]
}

both_engines! {
    async fn recalled_answers_are_not_stored_again(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let writer = tenant.session_with(json!({"agentLabel": "writer"})).await;
        for note in NOTES {
            remember(&writer, note).await;
        }
        let parrot = tenant.session_with(json!({"agentLabel": "parrot"})).await;
        let (text, payload) = recalled(&parrot).await;
        assert_eq!(contents(&payload).len(), NOTES.len(), "{text}");
        let forms = forms(&text, &payload);
        for sent in &forms {
            assert_known(&parrot, sent).await;
        }
        let (_, after) = recalled(&parrot).await;
        assert_eq!(contents(&after).len(), NOTES.len(), "nothing was added: {after}");
        assert!(after["observations"].as_array().unwrap().iter().all(|found| found["corroborations"] == 0), "{after}");

        // What adds something is stored.
        let [one, two, _] = NOTES;
        for new in [
            format!("{text}\nThe first one is wrong since May."),
            text.replace("fifteen", "sixty"),
            format!("{one}, because {two}"),
            format!("Outdated: {one}\n{two}"),
            one.replace("skips", "reports"),
            "The zeppelin importer needs a refresh after fifteen minutes".to_owned(),
            payload.to_string().replace("fifteen", "sixty"),
        ] {
            assert_eq!(remember(&parrot, &new).await["stored"], true, "{new}");
        }
        // Another session did not get them.
        let honest = tenant.session_with(json!({"agentLabel": "honest"})).await;
        assert_eq!(remember(&honest, &forms[5]).await["stored"], true);
    }

    async fn recalled_facts_are_not_stored_again(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let project = tenant.post("projects", json!({"name": "graph", "graph_enabled": true})).await.expect(201)["project"]["id"].clone();
        let writer = tenant.session_with(json!({"projectId": project, "agentLabel": "writer"})).await;
        for note in NOTES {
            remember(&writer, note).await;
        }
        let triplets = json!([{"source": {"name": "zeppelin"}, "relationship": "depends_on", "target": {"name": "redis"}, "description": "for its queue"}]);
        writer.call("graph_ingest", json!({ "triplets": triplets })).await.result();
        let parrot = tenant.session_with(json!({"projectId": project})).await;
        let (text, payload) = recalled(&parrot).await;
        assert!(text.contains("zeppelin depends on redis") && payload["triplets"].as_array().unwrap().len() == 1, "{text}");
        for sent in [&text, &payload.to_string()] {
            assert_known(&parrot, sent).await;
        }
        assert_eq!(remember(&parrot, &text.replace("redis", "valkey")).await["stored"], true);
    }

    async fn agents_with_a_token_cannot_store_what_they_recalled(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let writer = tenant.session().await;
        for note in NOTES {
            remember(&writer, note).await;
        }
        let mut agent = tenant.agent(&["*"], &["af_memory_recall", "af_memory_remember"]).await;
        let answer = agent.call("af_memory_recall", json!({"query": "zeppelin", "workType": "bug_fix"})).await.result();
        let text = answer["content"][0]["text"].as_str().unwrap();
        for sent in forms(text, &answer["structuredContent"]) {
            let kept = agent.call("af_memory_remember", json!({ "content": sent })).await.result();
            assert_eq!(kept["structuredContent"]["stored"], false, "{sent}");
        }
        let corrected = json!({"content": text.replace("fifteen", "sixty")});
        assert_eq!(agent.call("af_memory_remember", corrected).await.result()["structuredContent"]["stored"], true);
        // Another token of the same agent is another session.
        agent.token = agent.authenticate().await.expect(200)["access_token"].as_str().unwrap().to_owned();
        let sent = json!({"content": format!("{}\n{}", NOTES[1], NOTES[0])});
        assert_eq!(agent.call("af_memory_remember", sent).await.result()["structuredContent"]["stored"], true);
    }
}
