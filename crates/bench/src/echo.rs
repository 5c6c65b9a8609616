//! The baseline: a bare axum handler that reads the body and returns fixed bytes without any checks.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use axum::Router;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;

/// Answers every POST with the contents of `answer`, until the process is killed.
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
        // The real server does the same. Without it, a response may be delayed by 40 ms.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}
