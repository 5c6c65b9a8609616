//! CPU-bound work takes turns on a few threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::{Engine, Place, Process, both_engines, call, http};

/// Far fewer than one per call, and more than the runtime, the store and the database need together.
const THREADS_MAX: usize = 64;

fn threads_of(process: &Process) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", process.id())).map_or(0, Iterator::count)
}

both_engines! {
    async fn many_recalls_and_writes_share_few_threads(engine: Engine) {
        let place = Place::new(engine);
        let process = place.start().await;
        let api = async |path: &str, body: Value| -> Value {
            let post = http().post(format!("{}{path}", process.url)).bearer_auth(&process.admin_key).json(&body);
            post.send().await.unwrap().json().await.unwrap()
        };
        let project = api("/api/org/default/projects", json!({"name": "busy"})).await["project"]["id"].clone();
        let session = api("/api/org/default/sessions", json!({"projectId": project})).await;
        let key = session["mcpConfig"]["mcpServers"]["toolcrib"]["headers"]["Authorization"].as_str().unwrap().to_owned();
        let door = format!("{}/api/mcp/{}", process.url, session["sessionId"].as_str().unwrap());
        let client = http();
        let ask = async |message: Value| {
            let reply = client.post(&door).header("authorization", &key).body(message.to_string()).send().await.unwrap();
            reply.text().await.unwrap()
        };
        let most = AtomicUsize::new(0);
        let calls = (0..200).map(|number| {
            let (ask, process, most) = (&ask, &process, &most);
            async move {
                let message = match number % 4 {
                    0 => call(number, "af_memory_remember", json!({"content": format!("note {number} about the deploy of service {number}")})),
                    _ => call(number, "af_memory_recall", json!({"query": format!("how is service {number} deployed"), "workType": "feature"})),
                };
                let answer = ask(message).await;
                most.fetch_max(threads_of(process), Ordering::Relaxed);
                assert!(answer.contains("\"result\""), "{answer}");
            }
        });
        futures_util::future::join_all(calls).await;
        let most = most.into_inner();
        assert!(most <= THREADS_MAX, "{most} threads");
    }
}
