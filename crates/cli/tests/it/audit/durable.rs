//! After a crash, every acknowledged call has one entry, and every entry has an outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc;

use crate::durability::{Client, rounds};
use crate::support::{Engine, Place, both_engines};

const CALLERS: usize = 50;

/// Starts callers that read and write until the server stops. The channel yields the id of each acknowledged request.
fn callers(client: &Arc<Client>) -> mpsc::UnboundedReceiver<String> {
    let (acknowledged, received) = mpsc::unbounded_channel();
    for number in 0..CALLERS {
        let (client, acknowledged) = (Arc::clone(client), acknowledged.clone());
        #[expect(clippy::disallowed_methods, reason = "it ends when the server is killed")]
        tokio::spawn(async move {
            let brick = json!({"name": "n", "type": "boolean", "evaluation_prompt": "p"});
            let (tool, arguments) =
                if number % 3 == 0 { ("bricks.create_draft", brick) } else { ("bricks.list", json!({"limit": 1})) };
            while let Ok(request) = client.acknowledged(tool, arguments.clone()).await {
                if acknowledged.send(request).is_err() {
                    return;
                }
            }
        });
    }
    received
}

both_engines! {
    async fn kill_nine_loses_no_entry_of_an_acknowledged_call(engine: Engine) {
        let place = Place::new(engine);
        for round in 0..rounds(10) {
            let process = place.start().await;
            let client = Arc::new(Client::new(&process, &format!("round {round}")).await);
            let mut received = callers(&client);
            let mut acknowledged = BTreeSet::new();
            // Each round kills the server a little later.
            while acknowledged.len() < 150 + 41 * (round as usize % 8) {
                acknowledged.insert(received.recv().await.unwrap());
            }
            process.kill_nine().await;
            while let Some(request) = received.recv().await {
                acknowledged.insert(request);
            }
            let process = place.start().await;
            let client = Arc::into_inner(client).expect("all callers have stopped").on(&process);
            let export = client.export().await;
            export.verified();
            let mut recorded: BTreeMap<String, u32> = BTreeMap::new();
            for entry in export.entries().iter().filter(|entry| entry["entityType"] == "tool") {
                assert!(entry["payload"]["outcome"].is_string(), "{entry}");
                *recorded.entry(entry["requestId"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            let lost: Vec<_> = acknowledged.iter().filter(|request| !recorded.contains_key(*request)).collect();
            assert!(lost.is_empty(), "round {round}: {} of {} have no entry", lost.len(), acknowledged.len());
            assert!(recorded.values().all(|count| *count == 1), "a call has more than one entry");
            process.kill_nine().await;
        }
    }
}
