//! Closed-loop load: several connections, each sending the next request as soon as the last one is answered.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures_util::future::try_join_all;

use crate::connection::Connection;
use crate::process::Process;

/// The result of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) server_cpu: Duration,
    pub(crate) wall: Duration,
}

impl Load {
    /// CPU time of the server per request, in microseconds.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.server_cpu.as_secs_f64() * 1e6 / self.requests.max(1) as f64
    }

    /// Requests per second.
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 / self.wall.as_secs_f64().max(1e-9)
    }
}

/// Sends `request` on each of `connections` in a loop for `time`.
pub(crate) async fn load(
    process: &Process,
    address: SocketAddr,
    connections: usize,
    time: Duration,
    request: &[u8],
) -> Result<Load> {
    load_with(process, address, connections, time, &|_| Cow::Borrowed(request)).await
}

/// The same, with a unique request for each number.
pub(crate) async fn load_with<'r>(
    process: &Process,
    address: SocketAddr,
    connections: usize,
    time: Duration,
    request: &dyn Fn(u64) -> Cow<'r, [u8]>,
) -> Result<Load> {
    let numbers = &AtomicU64::new(0);
    let next = &|| request(numbers.fetch_add(1, Ordering::Relaxed));
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut connection = Connection::open(address).await?;
        // Warm up with one request, so that connection setup is not measured.
        connection.exchange(&next()).await?;
        open.push(connection);
    }
    let (began, cpu_before) = (Instant::now(), process.cpu()?);
    let workers = open.into_iter().map(|mut connection| async move {
        let mut requests = 0_u64;
        while began.elapsed() < time {
            let answer = connection.exchange(&next()).await?;
            if answer.status != 200 {
                bail!("got {}: {}", answer.status, String::from_utf8_lossy(answer.body));
            }
            requests += 1;
        }
        Ok(requests)
    });
    let requests = try_join_all(workers).await?.iter().sum();
    let wall = began.elapsed();
    // Include the work that the server does after its responses.
    let server_cpu = process.cpu_at_rest().await?.saturating_sub(cpu_before);
    Ok(Load { requests, server_cpu, wall })
}
