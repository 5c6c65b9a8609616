//! Accepts connections, with limits in total and per address, without Nagle's algorithm, with timeouts, and with an orderly shutdown.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::ConnectInfo;
use base::RequestId;
use base::limits::{CONNECTION_BUFFER_BYTES, LISTEN_BACKLOG};
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::counted::Counted;
use crate::doors::{self, Entrance};
use crate::linger;
use crate::patience::Patient;
use crate::state::Shared;

/// The answer to a connection over the limit of its address.
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/json\r\ncontent-length: 50\r\n\r\n{\"error\": \"Too many connections from one address\"}";

/// Listens on `address`, with a large backlog for many clients that connect at the same time.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server can take its port again at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Serves `listener` until `stopping` turns true, then waits for running calls up to the drain limit.
pub(crate) async fn serve(listener: TcpListener, router: Router, state: Shared, mut stopping: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(state.limits.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let addresses = Counted::new(state.limits.connections_per_address_max);
    loop {
        // Beyond the limit, connections wait in the kernel's queue.
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            // Removes finished connections.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let Ok(place) = place else { break };
        match accepted {
            Ok((stream, address)) => {
                // Connections from a trusted proxy belong to many clients, so they are not limited.
                let is_proxy = state.trusted_proxies.iter().any(|proxy| proxy.contains(address.ip()));
                let of_address = addresses.enter_from(address.ip());
                if of_address.is_none() && !is_proxy {
                    turn_away(&stream);
                    state.metrics.turned_away();
                    let reason = "too many connections from one address";
                    state.refused("connection", 503, &RequestId::next(), reason);
                    continue;
                }
                let connection = connection(stream, address, &router, &state);
                let watched = graceful.watch(connection);
                let counted = state.metrics.connected();
                connections.spawn(async move {
                    if let Err(error) = watched.await {
                        tracing::debug!(%error, "connection ended");
                    }
                    drop((place, of_address, counted));
                });
            }
            // Probably out of file descriptors. The next accept may succeed.
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let drain = Duration::from_secs(state.limits.drain_seconds);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("drain time exceeded; cancelling the calls that are still running");
    }
    // Cancelled calls are audited before the store closes.
    connections.shutdown().await;
}

/// Sends the refusal if that is possible without waiting.
fn turn_away(stream: &TcpStream) {
    if let Err(error) = stream.try_write(TOO_MANY_CONNECTIONS) {
        tracing::debug!(%error, "cannot answer a refused connection");
    }
}

fn connection(
    stream: TcpStream,
    address: SocketAddr,
    router: &Router,
    state: &Shared,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + use<> {
    // Otherwise an answer in two writes would wait 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let (router, shared) = (router.clone(), Arc::clone(state));
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let (router, state) = (router.clone(), Arc::clone(&shared));
        async move {
            let (mut request, unread) = linger::watch(request);
            let response = match Entrance::of(request.uri().path()) {
                Some(entrance) => Ok(doors::answer(state, entrance, request).await),
                None => {
                    request.extensions_mut().insert(ConnectInfo(address));
                    router.oneshot(request).await
                }
            };
            // The connection cannot be reused if the body was not read to its end, and the client is told so.
            match (unread.drain().await, response) {
                (false, Ok(mut response)) => {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                    Ok(response)
                }
                (_, response) => response,
            }
        }
    });
    let patience = Duration::from_secs(state.limits.client_write_seconds);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(state.limits.client_idle_seconds))
        .max_buf_size(CONNECTION_BUFFER_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream, patience)), service)
}
