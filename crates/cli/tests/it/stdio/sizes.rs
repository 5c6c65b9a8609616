//! Long lines: no size is a cliff below the limit, and one over it costs one answer.

use serde_json::{Value, json};

use super::{Ground, Pipe, gist, ground};
use crate::support::{Engine, Process, request};

/// A ping of exactly so many bytes.
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
async fn lines_up_to_the_body_limit_are_all_alike() {
    let limit = base::limits::Limits::default().body_bytes_max;
    let (_place, _server, terminal) = ground(Engine::Sqlite, Ground::Running).await;
    let mut pipe = Pipe::open(&terminal, "");
    for (id, bytes) in [100, 4_095, 4_097, 8_192, 9_000, 65_535, 65_537, 1_000_000, limit - 1, limit].into_iter().enumerate() {
        pipe.write(ping(id, bytes)).await;
        assert_eq!(gist(&pipe.read().await), pong(id), "{bytes} bytes");
    }
    for bytes in [limit + 1, 3 * limit] {
        pipe.write(ping(77, bytes)).await;
        let refused = pipe.read().await;
        assert_eq!(gist(&refused), json!({"id": 77, "code": -32603}), "it is answered with its own id");
        assert_eq!(refused["error"]["data"]["kind"], "too_large", "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(&limit.to_string()), "{refused}");
    }
    // Many clients write the id after the params; what has no id that can be read gets an answer without one.
    let pad = "x".repeat(limit);
    pipe.write(format!(r#"{{"method":"ping","params":{{"id":1,"pad":"{pad}"}},"jsonrpc":"2.0","id":"last"}}"#)).await;
    assert_eq!(gist(&pipe.read().await), json!({"id": "last", "code": -32603}));
    for line in
        [format!("nonsense {pad}"), format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"pad":"{pad}"}}}}"#)]
    {
        pipe.write(line).await;
        assert_eq!(gist(&pipe.read().await), json!({"id": null, "code": -32700}));
    }
    pipe.write(ping(78, 9_000)).await;
    assert_eq!(gist(&pipe.read().await), pong(78));
    pipe.close().await.well();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_folders_settings_hold_for_an_embedded_server() {
    const LIMIT: usize = 10_000;
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
    std::fs::create_dir(place.data()).unwrap();
    std::fs::write(place.data().join("toolcrib.toml"), format!("[limits]\nbody_bytes_max = {LIMIT}\n")).unwrap();
    let mut pipe = Pipe::open(&terminal, "");
    pipe.write(ping(1, LIMIT)).await;
    assert_eq!(gist(&pipe.read().await), pong(1));
    pipe.write(ping(2, LIMIT + 1)).await;
    assert_eq!(gist(&pipe.read().await), json!({"id": 2, "code": -32603}));
    // A line may end in two bytes that do not count.
    pipe.write(format!("{}\r", ping(3, LIMIT))).await;
    assert_eq!(gist(&pipe.read().await), pong(3));
    pipe.close().await.well();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_smaller_limit_says_so_to_the_request() {
    let (place, _none, terminal) = ground(Engine::Sqlite, Ground::Embedded).await;
    let mut serve = place.serve();
    serve.args(["--limits-body-bytes-max", "10000"]);
    let _server = Process::start(serve, &place.data()).await;
    let mut pipe = Pipe::open(&terminal, "");
    pipe.write(ping(1, 10_000)).await;
    assert_eq!(gist(&pipe.read().await), pong(1));
    for (id, bytes) in [(2, 10_001), (3, 5_000_000)] {
        pipe.write(ping(id, bytes)).await;
        let refused = pipe.read().await;
        assert_eq!(gist(&refused), json!({"id": id, "code": -32603}), "{bytes}");
        assert_eq!(refused["error"]["data"]["kind"], "too_large", "{refused}");
    }
    pipe.write(ping(4, 100)).await;
    assert_eq!(gist(&pipe.read().await), pong(4));
    pipe.close().await.well();
}
