//! Bytes of bodies and answers in memory, and the place that a request holds until the client reads its answer.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};

use super::{Raw, whole};
use crate::support::{Crib, Engine, Session, both_engines, call, eventually, in_time, modern, request};

const PIECE: usize = 200_000;
/// The announced length of a body of which only a piece is sent.
const BODY: usize = PIECE + 100;

/// A session whose memory holds one long note, so that each recall has a large answer.
async fn with_a_long_note<'c>(crib: &'c Crib) -> Session<'c> {
    let session = crib.tenant().await.session().await;
    let long = format!("the release checklist {}", "and another step ".repeat(5_800));
    session.call("af_memory_remember", json!({"content": long})).await.result();
    session
}

fn recall(id: usize) -> Value {
    call(id, "af_memory_recall", json!({"query": "release checklist", "workType": "bug_fix"}))
}

/// Opens `count` requests with incomplete bodies and waits until `refused` of them are answered. Returns the statuses.
async fn half_sent(crib: &Crib, session: &Session<'_>, count: usize, refused: usize) -> Vec<u16> {
    let piece = vec![b' '; PIECE];
    let requests: FuturesUnordered<_> = (0..count)
        .map(|_| async {
            let mut raw = Raw::open(crib).await;
            raw.head(session, BODY).await;
            raw.send(&piece).await;
            raw.status().await
        })
        .collect();
    in_time(requests.take(refused).collect()).await
}

both_engines! {
    async fn incomplete_bodies_hold_bounded_memory(engine: Engine) {
        for (spent, status) in [("caller", 429), ("org", 429), ("process", 503)] {
            let crib = Crib::start_with(engine, |config| match spent {
                "caller" => config.limits.caller_bytes_at_once = 4 * BODY,
                "org" => config.limits.org_bytes_at_once = 4 * BODY,
                _ => config.limits.bytes_at_once = 4 * BODY,
            })
            .await;
            let tenant = crib.tenant().await;
            let (session, other) = (tenant.session().await, crib.tenant().await.session().await);
            // Four bodies fit, four do not.
            assert_eq!(half_sent(&crib, &session, 8, 4).await, [status; 4], "{spent}");
            assert_eq!(other.rpc(&request(1, "ping", json!({}))).await.status, 200, "{spent}: a small request passes");
            eventually("dropped requests free their bytes", async || {
                let body = format!("{}{}", " ".repeat(PIECE), request(1, "ping", json!({})));
                session.raw(body).await.status == 200
            })
            .await;
        }
    }

    async fn large_bodies_that_arrive_together_do_not_block_each_other(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.caller_bytes_at_once = 4 * BODY).await;
        let session = crib.tenant().await.session().await;
        let ping = request(1, "ping", json!({})).to_string();
        let body = format!("{}{ping}", " ".repeat(BODY - ping.len()));
        let (mut slow, half) = (Vec::new(), body.len() / 2);
        for _ in 0..8 {
            let mut raw = Raw::open(&crib).await;
            raw.head(&session, body.len()).await;
            raw.send(&body.as_bytes()[..half]).await;
            slow.push(raw);
        }
        // The announced length is reserved at once: four bodies are refused, and the other four have their bytes.
        let answers: FuturesUnordered<_> =
            slow.iter_mut().enumerate().map(|(place, raw)| async move { (place, raw.status().await) }).collect();
        let refused: Vec<_> = in_time(answers.take(4).collect()).await;
        assert!(refused.iter().all(|(_, status)| *status == 429), "{refused:?}");
        for (place, mut raw) in slow.into_iter().enumerate() {
            if refused.iter().all(|(other, _)| *other != place) {
                raw.send(&body.as_bytes()[half..]).await;
                assert_eq!(raw.status().await, 200);
            }
        }
    }

    async fn management_searches_count_against_the_byte_budget(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.caller_bytes_at_once = 60_000).await;
        let tenant = crib.tenant().await;
        let long = format!("the release checklist {}", "and another step ".repeat(5_800));
        let memory = format!("projects/{}/memory", tenant.project);
        let session = tenant.session().await;
        for part in long.as_bytes().chunks(30_000) {
            let content = String::from_utf8_lossy(part).into_owned();
            session.call("af_memory_remember", json!({"content": content})).await.result();
        }
        let search = async |limit: u32| tenant.post(&format!("{memory}/search"), json!({"query": "another step", "limit": limit})).await;
        assert_eq!(search(1).await.status, 200);
        let refused = search(4).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{}", refused.text);
        assert_eq!(tenant.get(&format!("{memory}?limit=1")).await.status, 200);
        assert_eq!(tenant.get(&format!("{memory}?limit=4")).await.status, 429);
    }

    async fn subscription_with_a_large_body_is_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let listen = modern("s", "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}, "padding": "x".repeat(300_000)}));
        let stream = session.builder().header("accept", "application/json, text/event-stream");
        let stream = stream.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "subscriptions/listen");
        let refused = crib.send(stream.body(listen.to_string())).await;
        assert_eq!(refused.error()["data"]["kind"], "too_large", "{}", refused.text);
    }

    async fn batch_answer_size_is_bounded(engine: Engine) {
        const MOST: usize = 1_000_000;
        let crib = Crib::start_with(engine, |config| config.limits.result_bytes_max = MOST).await;
        let session = with_a_long_note(&crib).await;
        let batch: Vec<_> = (0..40).map(recall).collect();
        let reply = session.rpc(&json!(batch)).await;
        let answers = reply.expect(200);
        let kinds: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["error"]["data"]["kind"].as_str()).collect();
        assert_eq!(kinds.len(), 40, "each request has its answer");
        assert!(kinds[0].is_none() && kinds.contains(&Some("too_large")), "{kinds:?}");
        assert!(reply.text.len() <= MOST, "{}", reply.text.len());
    }

    async fn errors_count_against_the_batch_answer_size(engine: Engine) {
        const MOST: usize = 200_000;
        let crib = Crib::start_with(engine, |config| {
            config.limits.result_bytes_max = MOST;
            (config.limits.key_calls_burst, config.limits.org_calls_burst) = (10_000, 10_000);
        })
        .await;
        let session = with_a_long_note(&crib).await;
        let batch: Vec<_> = (0..400).map(recall).collect();
        let reply = session.rpc(&json!(batch)).await;
        assert_eq!(reply.expect(200).as_array().unwrap().len(), 400, "each request has its answer");
        assert!(reply.text.len() <= MOST, "{}", reply.text.len());
        // Even the shortest answers do not fit.
        let many: Vec<_> = (0..1_000).map(|id| request(id, "ping", json!({}))).collect();
        let refused = session.rpc(&json!(many)).await.expect(200);
        assert_eq!((&refused["id"], &refused["error"]["data"]["kind"]), (&json!(null), &json!("too_large")), "{refused}");
    }

    async fn change_whose_result_might_not_fit_is_not_made(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.result_bytes_max = 30_000).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let remember = |id: usize| call(id, "af_memory_remember", json!({"content": format!("note {id}")}));
        for (calls, stored) in [(80, 0), (20, 20)] {
            let reply = session.rpc(&json!((0..calls).map(remember).collect::<Vec<_>>())).await;
            let answers = reply.expect(200);
            let told = |answer: &&Value| answer["result"]["structuredContent"]["stored"] == true;
            assert_eq!(answers.as_array().unwrap().iter().filter(told).count(), stored, "{answers}");
            assert_eq!(answers.as_array().unwrap().len(), calls);
            let rows = crib.rows("SELECT id AS value FROM observations WHERE org_id = ?1", &tenant.org).await;
            assert_eq!(rows.len(), stored, "a change is made only if its result is sent");
        }
    }

    async fn tool_lists_count_against_the_batch_answer_size(engine: Engine) {
        const MOST: usize = 100_000;
        let crib = Crib::start_with(engine, |config| config.limits.result_bytes_max = MOST).await;
        let session = crib.tenant().await.session().await;
        let batch: Vec<_> = (0..200).map(|id| request(id, "tools/list", json!({}))).collect();
        let reply = session.rpc(&json!(batch)).await;
        assert!(reply.text.len() <= MOST, "{}", reply.text.len());
        assert_eq!(reply.json().as_array().unwrap().last().unwrap()["error"]["data"]["kind"], "too_large");
    }

    async fn unread_answers_hold_their_place(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.caller_calls_at_once = 2;
            // The answers are larger than socket buffers, so unread bytes stay in the server.
            config.limits.result_bytes_max = 64 * 1024 * 1024;
            config.limits.caller_bytes_at_once = 128 * 1024 * 1024;
        })
        .await;
        let session = with_a_long_note(&crib).await;
        let batch: Vec<_> = (0..100).map(recall).collect();
        let mut non_readers = Vec::new();
        for _ in 0..2 {
            let mut non_reader = Raw::open_narrow(&crib).await;
            non_reader.send(&whole(&session, &json!(batch))).await;
            non_readers.push(non_reader);
        }
        let ping = request(1, "ping", json!({}));
        eventually("both places are held", async || session.rpc(&ping).await.status == 429).await;
        // Reading one answer to its end frees its place.
        let answered = wait_for_status(&mut non_readers[0]).await;
        assert_eq!(answered, 200);
        eventually("the answer that was read frees its place", async || session.rpc(&ping).await.status == 200).await;
        drop(non_readers);
        eventually("the dropped connection frees its place", async || {
            let both = tokio::join!(session.rpc(&ping), session.rpc(&ping));
            both.0.status == 200 && both.1.status == 200
        })
        .await;
    }

    async fn rate_limit_applies_before_the_body_is_read(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.key_calls_per_minute = 1;
            config.limits.key_calls_burst = 5;
        })
        .await;
        let session = crib.tenant().await.session().await;
        let mut calls = 0;
        while session.rpc(&request(1, "ping", json!({}))).await.status == 200 {
            calls += 1;
            assert!(calls < 10_000, "the rate has no limit");
        }
        let mut raw = Raw::open(&crib).await;
        raw.head(&session, 10_000_000).await;
        // The refusal comes before the body. The unread body makes the connection unusable, so it closes.
        let (head, body) = raw.answer().await;
        assert!(head.starts_with("http/1.1 429") && head.contains("\r\nconnection: close\r\n"), "{head}");
        assert_eq!(body, r#"{"error":"Too many requests"}"#);
        assert!(raw.is_closed().await);
    }

    async fn json_with_too_many_values_is_refused(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let many = "0,".repeat(base::limits::JSON_VALUES_MAX);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":[{many}0]}}}}"#);
        assert_eq!(session.raw(body).await.error_code(), -32600);
        let refused = tenant.post("sessions", json!({"projectId": tenant.project, "tools": vec![""; base::limits::JSON_VALUES_MAX]})).await;
        assert_eq!(refused.expect(400)["error"], "too many JSON values in the body; split it into several requests");
    }

    async fn byte_order_mark_is_ignored(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let marked = format!("\u{feff}{}", request(1, "ping", json!({})));
        assert_eq!(session.raw(marked).await.result(), json!({}));
        assert_eq!(session.raw("\u{feff}".to_owned()).await.error_code(), -32700);
    }

    async fn management_bodies_and_answers_are_bounded(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.caller_bytes_at_once = 50_000).await;
        let tenant = crib.tenant().await;
        let refused = tenant.post("projects", json!({"name": "x".repeat(60_000)})).await;
        assert_eq!(refused.status, 429, "{}", refused.text);
        assert!(refused.header("retry-after").is_some());
        let session = tenant.session().await;
        for number in 0..4 {
            let note = format!("{number} {}", "words ".repeat(4_000));
            session.call("af_memory_remember", json!({"content": note})).await.result();
        }
        let listed = tenant.get(&format!("projects/{}/memory?limit=4", tenant.project)).await;
        assert_eq!(listed.status, 429, "{}", listed.text.len());
        tenant.get(&format!("projects/{}/memory?limit=1", tenant.project)).await.expect(200);
    }
}

/// Waits for the status of an answer that the server may still be computing.
async fn wait_for_status(raw: &mut Raw) -> u16 {
    tokio::time::timeout(std::time::Duration::from_secs(60), raw.status()).await.expect("an answer")
}
