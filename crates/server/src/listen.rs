//! Accepting connections: so many in all and of each address, Nagle off, slow clients cut off, an orderly end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::ConnectInfo;
use base::limits::{CONNECTION_BUFFER_BYTES, LISTEN_BACKLOG};
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use crate::addresses::Addresses;
use crate::doors::{self, Entrance};
use crate::linger;
use crate::patience::Patient;
use crate::state::Shared;

/// What a connection is told that is one too many of its address.
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/json\r\ncontent-length: 48\r\n\r\n{\"error\": \"Too many connections of one address\"}";

/// Listens at `address`, with room for a fleet that connects at once.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that restarts takes its port again at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Serves `listener` until `stopping` turns true, then waits for calls under way, at most for the drain limit.
pub(crate) async fn serve(listener: TcpListener, router: Router, state: Shared, mut stopping: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(state.limits.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let addresses = Addresses::new(state.limits.connections_per_address_max);
    loop {
        // Beyond the limit, connections wait in the kernel's queue.
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let Ok(place) = place else { break };
        match accepted {
            Ok((stream, address)) => {
                // A proxy's connections are those of many clients.
                let is_proxy = state.trusted_proxies.iter().any(|proxy| proxy.contains(address.ip()));
                let of_address = addresses.enter(address.ip());
                if of_address.is_none() && !is_proxy {
                    turn_away(&stream);
                    state.metrics.turned_away();
                    continue;
                }
                let connection = connection(stream, address, &router, &state);
                let watched = graceful.watch(connection);
                let counted = state.metrics.connected();
                spawn(async move {
                    if let Err(error) = watched.await {
                        tracing::debug!(%error, "connection ended");
                    }
                    drop((place, of_address, counted));
                });
            }
            // Out of descriptors, most likely: the next accept may find one.
            Err(error) => {
                tracing::warn!(%error, "cannot accept");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let drain = Duration::from_secs(state.limits.drain_seconds);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("calls were still under way when the drain time was over");
    }
}

/// Says why, if the client can be told without waiting for it.
fn turn_away(stream: &TcpStream) {
    if let Err(error) = stream.try_write(TOO_MANY_CONNECTIONS) {
        tracing::debug!(%error, "a connection was turned away unanswered");
    }
}

fn connection(
    stream: TcpStream,
    address: SocketAddr,
    router: &Router,
    state: &Shared,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + use<> {
    // An answer in two writes would otherwise wait 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot turn Nagle off");
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
            // A body that nobody read to its end leaves the connection useless, and the client is told so.
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

#[expect(clippy::disallowed_methods, reason = "connections are the one kind of task without a name; the drain waits for them")]
fn spawn(connection: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(connection);
}
