//! The yardstick: a bare axum handler that reads the body and answers with given bytes. It checks nothing.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use axum::Router;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;

/// Serves the bytes of `answer` at every POST until it is killed.
pub async fn echo(listen: SocketAddr, answer: &Path) -> Result<()> {
    let answer = Bytes::from(std::fs::read(answer)?);
    let handler = move |body: Bytes| {
        let answer = answer.clone();
        async move {
            drop(body);
            ([("content-type", "application/json")], answer)
        }
    };
    let router = Router::new().route("/{*path}", post(handler));
    let listener = tokio::net::TcpListener::bind(listen).await?.tap_io(|stream| {
        // As our own doors do; without it an answer may wait 40 ms.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}
