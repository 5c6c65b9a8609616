//! Accepting connections: Nagle off, slow clients cut off, an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use crate::doors::{self, Entrance};
use crate::linger;
use crate::state::Shared;

/// Serves `listener` until `stopping` turns true, then waits for calls under way, at most for the drain limit.
pub(crate) async fn serve(listener: TcpListener, router: Router, state: Shared, mut stopping: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(state.limits.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
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
                let connection = connection(stream, address, &router, &state);
                let watched = graceful.watch(connection);
                let counted = state.metrics.connected();
                spawn(async move {
                    if let Err(error) = watched.await {
                        tracing::debug!(%error, "connection ended");
                    }
                    drop((place, counted));
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
            unread.drain().await;
            response
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(state.limits.client_idle_seconds))
        .serve_connection(TokioIo::new(stream), service)
}

#[expect(clippy::disallowed_methods, reason = "connections are the one kind of task without a name; the drain waits for them")]
fn spawn(connection: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(connection);
}
