//! Connection limits per address, and disconnection of clients that do not read.

use std::time::Duration;

use serde_json::json;

use super::{Raw, whole};
use crate::support::{Crib, Engine, eventually, request};

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_never_read_block_nobody_and_are_disconnected() {
    let crib = Crib::start_with(Engine::Sqlite, |config| config.limits.client_write_seconds = 2).await;
    let session = crib.tenant().await.session().await;
    let requests = "POST /api/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}".repeat(20_000);
    let mut non_readers = Vec::new();
    for _ in 0..64 {
        let address = crib.url.strip_prefix("http://").unwrap();
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        non_readers.push(stream);
    }
    let pipelining = non_readers.iter().map(|stream| async {
        let mut rest = requests.as_bytes();
        while !rest.is_empty() {
            if stream.writable().await.is_err() {
                return;
            }
            match stream.try_write(rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                // The server closed the connection.
                Err(_) => return,
            }
        }
    });
    let others = async {
        let ping = request(1, "ping", json!({}));
        for _ in 0..20 {
            let reply =
                tokio::time::timeout(Duration::from_secs(20), session.rpc(&ping)).await.expect("other clients are served");
            assert_eq!(reply.result(), json!({}));
        }
    };
    let (_, ()) = tokio::join!(futures_util::future::join_all(pipelining), others);
    // The server closed the connections, or the writes would still wait.
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_per_address_are_limited() {
    let crib = Crib::start_with(Engine::Sqlite, |config| config.limits.connections_per_address_max = 3).await;
    let mut held = Vec::new();
    let refused = loop {
        let mut raw = Raw::open(&crib).await;
        raw.send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        match raw.answer().await {
            (head, _) if head.starts_with("http/1.1 200") => held.push(raw),
            refused => break (raw, refused),
        }
        assert!(held.len() <= 3, "the limit per address does not apply");
    };
    let (mut raw, (head, body)) = refused;
    assert!(head.starts_with("http/1.1 503") && head.contains("\r\nconnection: close\r\n"), "{head}");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&body).unwrap(),
        json!({"error": "Too many connections from one address"})
    );
    assert!(head.contains("\r\nretry-after: "), "{head}");
    assert!(raw.is_closed().await);
    held.pop();
    eventually("a closed connection makes room", async || {
        let mut raw = Raw::open(&crib).await;
        raw.send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        raw.status().await == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trusted_proxy_has_no_connection_limit() {
    let crib = Crib::start_with(Engine::Sqlite, |config| {
        config.limits.connections_per_address_max = 1;
        config.trust_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut raw = Raw::open(&crib).await;
        raw.send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        assert_eq!(raw.status().await, 200);
        held.push(raw);
    }
}

/// Many clients connect at once, while the server accepts no more.
#[tokio::test(flavor = "multi_thread")]
async fn thousand_connections_wait_in_the_accept_queue() {
    let crib = Crib::start_with(Engine::Sqlite, |config| config.limits.connections_max = 1).await;
    let mut first = Raw::open(&crib).await;
    first.send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(first.status().await, 200);
    let mut waiting = Vec::new();
    for _ in 0..1_000 {
        let connect = tokio::time::timeout(Duration::from_secs(20), Raw::open(&crib));
        waiting.push(connect.await.expect("the kernel's queue has room"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_body_closes_the_connection() {
    let crib = Crib::start(Engine::Sqlite).await;
    let session = crib.tenant().await.session().await;
    let announced =
        |path: &str, more: &str| format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n{more}\r\n");
    for (head, status) in [
        (announced("/api/mcp", ""), "401"),
        (announced("/api/orgs", ""), "401"),
        (announced("/api/mcp", "expect: 100-continue\r\n"), "401"),
    ] {
        let mut raw = Raw::open(&crib).await;
        raw.send(head.as_bytes()).await;
        let (answer, _) = raw.answer().await;
        assert!(answer.starts_with(&format!("http/1.1 {status}")) && answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert!(raw.is_closed().await, "{head}");
    }
    // After a complete body, the connection stays open.
    let mut raw = Raw::open(&crib).await;
    for _ in 0..2 {
        raw.send(b"POST /api/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}").await;
        let (answer, _) = raw.answer().await;
        assert!(answer.starts_with("http/1.1 401") && !answer.contains("connection: close"), "{answer}");
    }
    raw.send(&whole(&session, &request(1, "ping", json!({})))).await;
    assert_eq!(raw.status().await, 200);
}
