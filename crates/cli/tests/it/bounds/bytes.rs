//! Bytes of bodies and answers in memory, and the place that a request holds until its answer is read.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};

use super::{Raw, whole};
use crate::support::{Crib, Engine, Session, both_engines, call, eventually, in_time, request};

const PIECE: usize = 200_000;

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

/// Opens `count` requests whose bodies stop short, and waits until `refused` of them are answered. Says with which statuses.
async fn half_sent(crib: &Crib, session: &Session<'_>, count: usize, refused: usize) -> Vec<u16> {
    let piece = vec![b' '; PIECE];
    let requests: FuturesUnordered<_> = (0..count)
        .map(|_| async {
            let mut raw = Raw::open(crib).await;
            raw.head(session, PIECE + 100).await;
            raw.send(&piece).await;
            raw.status().await
        })
        .collect();
    in_time(requests.take(refused).collect()).await
}

both_engines! {
    async fn bodies_that_stop_short_hold_only_so_much_memory(engine: Engine) {
        for (spent, status) in [("caller", 429), ("org", 429), ("process", 503)] {
            let crib = Crib::start_with(engine, |config| match spent {
                "caller" => config.limits.caller_bytes_at_once = 4 * PIECE,
                "org" => config.limits.org_bytes_at_once = 4 * PIECE,
                _ => config.limits.bytes_at_once = 4 * PIECE,
            })
            .await;
            let tenant = crib.tenant().await;
            let (session, other) = (tenant.session().await, crib.tenant().await.session().await);
            // Four fit, and four do not.
            assert_eq!(half_sent(&crib, &session, 8, 4).await, [status; 4], "{spent}");
            assert_eq!(other.rpc(&request(1, "ping", json!({}))).await.status, 200, "{spent}: a small request passes");
            eventually("what is dropped is free again", async || {
                let body = format!("{}{}", " ".repeat(PIECE), request(1, "ping", json!({})));
                session.raw(body).await.status == 200
            })
            .await;
        }
    }

    async fn a_batch_is_answered_with_only_so_many_bytes(engine: Engine) {
        const MOST: usize = 1_000_000;
        let crib = Crib::start_with(engine, |config| config.limits.result_bytes_max = MOST).await;
        let session = with_a_long_note(&crib).await;
        let batch: Vec<_> = (0..40).map(recall).collect();
        let reply = session.rpc(&json!(batch)).await;
        let answers = reply.expect(200);
        let kinds: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["error"]["data"]["kind"].as_str()).collect();
        assert_eq!(kinds.len(), 40, "each request has its answer");
        assert!(kinds[0].is_none() && kinds.contains(&Some("too_large")), "{kinds:?}");
        assert!(reply.text.len() < MOST + 40 * 2_000, "{}", reply.text.len());
    }

    async fn lists_count_in_a_batch_too(engine: Engine) {
        const MOST: usize = 100_000;
        let crib = Crib::start_with(engine, |config| config.limits.result_bytes_max = MOST).await;
        let session = crib.tenant().await.session().await;
        let batch: Vec<_> = (0..200).map(|id| request(id, "tools/list", json!({}))).collect();
        let reply = session.rpc(&json!(batch)).await;
        assert!(reply.text.len() < 2 * MOST, "{}", reply.text.len());
        assert_eq!(reply.json().as_array().unwrap().last().unwrap()["error"]["data"]["kind"], "too_large");
    }

    async fn answers_that_nobody_reads_hold_their_place(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.caller_calls_at_once = 2;
            // More than sockets buffer, so that what is not read stays with the server.
            config.limits.result_bytes_max = 64 * 1024 * 1024;
            config.limits.caller_bytes_at_once = 128 * 1024 * 1024;
        })
        .await;
        let session = with_a_long_note(&crib).await;
        let batch: Vec<_> = (0..100).map(recall).collect();
        let mut hoarders = Vec::new();
        for _ in 0..2 {
            let mut hoarder = Raw::open_narrow(&crib).await;
            hoarder.send(&whole(&session, &json!(batch))).await;
            hoarders.push(hoarder);
        }
        let ping = request(1, "ping", json!({}));
        eventually("both places are held", async || session.rpc(&ping).await.status == 429).await;
        // Long enough for the answers to be made: they are held because they are not read.
        let answered = eventually_made(&mut hoarders[0]).await;
        assert_eq!(answered, 200);
        eventually("the answer that was read is free again", async || session.rpc(&ping).await.status == 200).await;
        drop(hoarders);
        eventually("and so is the one that was dropped", async || {
            let both = tokio::join!(session.rpc(&ping), session.rpc(&ping));
            both.0.status == 200 && both.1.status == 200
        })
        .await;
    }

    async fn a_rate_and_a_place_are_taken_before_the_body_is_read(engine: Engine) {
        let crib = Crib::start_with(engine, |config| {
            config.limits.key_calls_per_minute = 1;
            config.limits.key_calls_burst = 5;
        })
        .await;
        let session = crib.tenant().await.session().await;
        while session.rpc(&request(1, "ping", json!({}))).await.status == 200 {}
        let mut raw = Raw::open(&crib).await;
        raw.head(&session, 10_000_000).await;
        // Refused although nothing of the body was sent; and because it was not, the connection is of no further use.
        let (head, body) = raw.answer().await;
        assert!(head.starts_with("http/1.1 429") && head.contains("\r\nconnection: close\r\n"), "{head}");
        assert_eq!(body, r#"{"error":"Too many requests"}"#);
        assert!(raw.is_closed().await);
    }

    async fn json_with_very_many_values_is_refused_unparsed(engine: Engine) {
        let crib = Crib::start(engine).await;
        let tenant = crib.tenant().await;
        let session = tenant.session().await;
        let many = "0,".repeat(base::limits::JSON_VALUES_MAX);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":[{many}0]}}}}"#);
        assert_eq!(session.raw(body).await.error_code(), -32600);
        let refused = tenant.post("sessions", json!({"projectId": tenant.project, "tools": vec![""; base::limits::JSON_VALUES_MAX]})).await;
        assert_eq!(refused.expect(400)["error"], "the body has too many JSON values: send less at once");
    }

    async fn a_byte_order_mark_is_no_part_of_the_message(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let marked = format!("\u{feff}{}", request(1, "ping", json!({})));
        assert_eq!(session.raw(marked).await.result(), json!({}));
        assert_eq!(session.raw("\u{feff}".to_owned()).await.error_code(), -32700);
    }

    async fn management_bodies_and_answers_are_bounded_too(engine: Engine) {
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

/// The status of an answer that may still be in the making.
async fn eventually_made(raw: &mut Raw) -> u16 {
    tokio::time::timeout(std::time::Duration::from_secs(60), raw.status()).await.expect("an answer")
}
