//! Long lines: every line up to the limit works, and a longer one gets an error.

use serde_json::{Value, json};

use super::{Backend, Pipe, set_up, summary};
use crate::support::{Engine, Process, request};

/// A ping of exactly `bytes` bytes.
fn ping(id: usize, bytes: usize) -> String {
    let empty = request(id, "ping", json!({"pad": ""})).to_string();
    let padded = request(id, "ping", json!({"pad": "x".repeat(bytes - empty.len())})).to_string();
    assert_eq!(padded.len(), bytes);
    padded
}

fn pong(id: usize) -> Value {
    json!({"id": id, "ok": true})
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_up_to_the_body_limit_are_answered() {
    let limit = base::limits::Limits::default().body_bytes_max;
    let (_place, _server, terminal) = set_up(Engine::Sqlite, Backend::Running).await;
    let mut pipe = Pipe::open(&terminal, "");
    for (id, bytes) in [100, 4_095, 4_097, 8_192, 9_000, 65_535, 65_537, 1_000_000, limit - 1, limit].into_iter().enumerate() {
        pipe.write(ping(id, bytes)).await;
        assert_eq!(summary(&pipe.read().await), pong(id), "{bytes} bytes");
    }
    for bytes in [limit + 1, 3 * limit] {
        pipe.write(ping(77, bytes)).await;
        let refused = pipe.read().await;
        assert_eq!(summary(&refused), json!({"id": 77, "code": -32000}), "the error carries the request's id");
        assert_eq!(refused["error"]["data"]["kind"], "too_large", "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(&limit.to_string()), "{refused}");
    }
    // Many clients write the id after the params. A line without a readable id gets an answer without one.
    let pad = "x".repeat(limit);
    pipe.write(format!(r#"{{"method":"ping","params":{{"id":1,"pad":"{pad}"}},"jsonrpc":"2.0","id":"last"}}"#)).await;
    assert_eq!(summary(&pipe.read().await), json!({"id": "last", "code": -32000}));
    for line in
        [format!("nonsense {pad}"), format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"pad":"{pad}"}}}}"#)]
    {
        pipe.write(line).await;
        assert_eq!(summary(&pipe.read().await), json!({"id": null, "code": -32700}));
    }
    pipe.write(ping(78, 9_000)).await;
    assert_eq!(summary(&pipe.read().await), pong(78));
    pipe.close().await.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_server_reads_the_data_folders_settings() {
    const LIMIT: usize = 10_000;
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    std::fs::create_dir(place.data()).unwrap();
    std::fs::write(place.data().join("toolcrib.toml"), format!("[limits]\nbody_bytes_max = {LIMIT}\n")).unwrap();
    let mut pipe = Pipe::open(&terminal, "");
    pipe.write(ping(1, LIMIT)).await;
    assert_eq!(summary(&pipe.read().await), pong(1));
    pipe.write(ping(2, LIMIT + 1)).await;
    assert_eq!(summary(&pipe.read().await), json!({"id": 2, "code": -32000}));
    // A line may end with CR LF, which does not count.
    pipe.write(format!("{}\r", ping(3, LIMIT))).await;
    assert_eq!(summary(&pipe.read().await), pong(3));
    pipe.close().await.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn smaller_server_limit_is_reported_to_the_request() {
    let (place, _none, terminal) = set_up(Engine::Sqlite, Backend::Embedded).await;
    let mut serve = place.serve();
    serve.args(["--limits-body-bytes-max", "10000"]);
    let _server = Process::start(serve, &place.data()).await;
    let mut pipe = Pipe::open(&terminal, "");
    pipe.write(ping(1, 10_000)).await;
    assert_eq!(summary(&pipe.read().await), pong(1));
    for (id, bytes) in [(2, 10_001), (3, 5_000_000)] {
        pipe.write(ping(id, bytes)).await;
        let refused = pipe.read().await;
        assert_eq!(summary(&refused), json!({"id": id, "code": -32000}), "{bytes}");
        assert_eq!(refused["error"]["data"]["kind"], "too_large", "{refused}");
    }
    pipe.write(ping(4, 100)).await;
    assert_eq!(summary(&pipe.read().await), pong(4));
    pipe.close().await.assert_clean();
}
