//! Memory under stress: ten thousand notes, concurrent forgetting, and every script.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::{contents, recall, remember};
use crate::support::{Crib, Engine, Session, both_engines, call};

/// The size of the one batch of calls and of each import.
const BATCH: usize = 1_000;
const ALL: usize = 10_000;

fn note(number: usize) -> String {
    format!("the module m{number} logs its state {number} times before it gives up and stops")
}

both_engines! {
    async fn ten_thousand_notes_are_all_stored(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let memory = |rest: &str| format!("projects/{}/memory{rest}", tenant.project);
        let session = tenant.session_with(json!({"agentLabel": "busy"})).await;
        let numbers: Vec<usize> = (0..ALL).collect();
        let (door, import) = numbers.split_at(BATCH);
        let calls: Vec<Value> =
            door.iter().map(|number| call(*number, "af_memory_remember", json!({"content": note(*number)}))).collect();
        let answers = session.rpc(&json!(calls)).await.expect(200);
        let stored = |answer: &&Value| answer["result"]["structuredContent"]["stored"] == true;
        assert_eq!(answers.as_array().unwrap().iter().filter(stored).count(), BATCH);
        for batch in import.chunks(BATCH) {
            let lines: Vec<Value> =
                batch.iter().map(|number| json!({"content": note(*number), "agentId": "label:busy"})).collect();
            let done = tenant.post(&memory("/import"), json!({"observations": lines})).await.expect(200);
            assert_eq!(done, json!({"imported": BATCH, "duplicates": 0}));
        }

        let mut found = BTreeSet::new();
        let mut cursor = String::new();
        loop {
            let page = tenant.get(&memory(&format!("?limit=200{cursor}"))).await.expect(200);
            found.extend(page["observations"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap().to_owned()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(found, numbers.iter().map(|number| note(*number)).collect());
        let reader = tenant.session().await;
        for number in numbers.iter().step_by(ALL / 20).chain([&(ALL - 1)]) {
            let recalled = recall(&reader, &format!("what does m{number} do"), "bug_fix").await;
            assert!(contents(&recalled).contains(&note(*number).as_str()), "{number}: {recalled}");
        }
        let report = tenant.get(&memory("/report")).await.expect(200);
        assert_eq!((&report["total"], &report["examined"]), (&json!(ALL), &json!(ALL)));
        crib.stop().await;
    }

    async fn forgotten_note_is_in_no_later_answer(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let writer = tenant.session().await;
        let mut notes = Vec::new();
        for number in 0..60 {
            let content = format!("zeppelin {number}");
            let id = remember(&writer, &content).await["id"].as_str().unwrap().to_owned();
            notes.push((id, content));
        }
        let (forgotten, over) = (RefCell::new(BTreeSet::new()), Cell::new(0));
        // Forgetting starts after every reader has an answer, so reads and deletions overlap.
        let everyone = Barrier::new(5);
        let forget = async |some: &[(String, String)]| {
            everyone.wait().await;
            for (id, content) in some {
                let path = format!("projects/{}/memory/{id}", tenant.project);
                assert_eq!(tenant.api(Method::DELETE, &path, None).await.expect(200), json!({"forgotten": 1}));
                forgotten.borrow_mut().insert(content.clone());
            }
            over.set(over.get() + 1);
        };
        let ask_once = async |session: &Session<'_>| {
            let before = forgotten.borrow().clone();
            let recalled = recall(session, "zeppelin", "bug_fix").await;
            let found: Vec<&str> = contents(&recalled).into_iter().filter(|content| before.contains(*content)).collect();
            assert!(found.is_empty(), "{found:?} were forgotten before the question");
        };
        let ask = async || {
            let (session, mut answers) = (tenant.session().await, 1);
            ask_once(&session).await;
            everyone.wait().await;
            while over.get() < 2 {
                ask_once(&session).await;
                answers += 1;
            }
            answers
        };
        let (first, second) = notes.split_at(30);
        let ((), (), one, two, three) = tokio::join!(forget(first), forget(second), ask(), ask(), ask());
        assert!([one, two, three].iter().all(|answers| *answers > 1), "{one}, {two} and {three} answers");
        assert_eq!(recall(&writer, "zeppelin", "bug_fix").await["observations"], json!([]));
    }

    async fn notes_in_every_script_are_found(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let single = "aZ7éßжΩשעقसகతಕമเລကခកབའმԱአᏣᐃひカ漢한ㄅꦲᠠߊⵣⲀ𐌰𐤀𒀀𓀀𝔸🦀";
        let emoji = ["👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "1️⃣", "❤️‍🔥", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"];
        let words = ["naïve café", "שלום עולם", "مرحبا بالعالم", "สวัสดีชาวโลก", "नमस्ते दुनिया", "안녕하세요 세계", "你好世界", "Ελληνικά γράμματα"];
        let singles: Vec<String> = single.chars().map(|c| c.to_string()).collect();
        let texts: Vec<&str> = singles.iter().map(String::as_str).chain(emoji).chain(words).collect();
        for text in &texts {
            let kept = remember(&session, text).await;
            assert_eq!(kept["stored"], true, "{text}");
        }
        let reader = crib.tenant().await.session().await;
        assert_eq!(recall(&reader, single, "bug_fix").await["observations"], json!([]), "another org finds nothing");
        for text in &texts {
            let recalled = recall(&session, text, "bug_fix").await;
            assert!(contents(&recalled).contains(text), "{text}: {:?}", contents(&recalled));
        }
        // The longest allowed question, with all of the texts.
        let long: String = texts.join(" ").chars().cycle().take(50_000).collect();
        assert!(!contents(&recall(&session, &long, "bug_fix").await).is_empty());
        let longer = json!({"query": format!("{long}x"), "workType": "chore"});
        assert_eq!(session.call("af_memory_recall", longer).await.error_code(), -32602);
    }
}
