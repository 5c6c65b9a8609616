//! Legacy batches.

use serde_json::json;

use crate::support::{Crib, Engine, both_engines, call, request};

both_engines! {
    async fn batch_answers_are_an_array_without_notifications(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let batch = json!([
            request(1, "ping", json!({})),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call("two", "bricks.list", json!({})),
            {"foo": "boo"},
            request(4, "no/such", json!({})),
            7,
        ]);
        let answers = session.rpc(&batch).await.expect(200);
        let brief: Vec<_> = answers
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64()))
            .collect();
        assert_eq!(
            brief,
            [(json!(1), None), (json!("two"), None), (json!(null), Some(-32600)), (json!(4), Some(-32601)), (json!(null), Some(-32600))]
        );
    }

    async fn invalid_batches_are_refused(engine: Engine) {
        let crib = Crib::start_with(engine, |config| config.limits.batch_messages_max = 3).await;
        let session = crib.tenant().await.session().await;
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let ping = request(1, "ping", json!({}));
        let quiet = session.rpc(&json!([note, note])).await;
        assert_eq!((quiet.status, quiet.text.as_str()), (202, ""));
        for bad in [json!([]), json!([ping, ping, ping, ping])] {
            let error = session.rpc(&bad).await.expect(200);
            assert!(error.is_object(), "one error, not an array: {error}");
            assert_eq!((error["id"].clone(), error["error"]["code"].as_i64()), (json!(null), Some(-32600)));
        }
        let handshake = session.rpc(&json!([request(1, "initialize", json!({})), ping])).await.expect(200);
        assert_eq!(handshake[0]["error"]["code"], -32600);
        assert_eq!(handshake[1]["result"], json!({}));
    }

    async fn batch_of_100_000_elements_gets_one_error(engine: Engine) {
        let crib = Crib::start(engine).await;
        let session = crib.tenant().await.session().await;
        let element = r#"{"jsonrpc":"2.0","id":1,"method":"ping"},"#;
        let body = format!("[{}{}]", element.repeat(99_999), element.trim_end_matches(','));
        let error = session.raw(body).await.expect(200);
        assert_eq!(error["error"]["code"], -32600);
    }
}
