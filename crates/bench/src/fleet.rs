//! `toolcrib bench load`: many clients make a mix of calls, first as fast as they can, then at a fixed rate.
//!
//! At a fixed rate, a call's time starts when it is due, so that a slow server shows up in the results.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::{join, try_join_all};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::connection::{Connection, post};
use crate::doors::{Bench, create_draft, ping, text};
use crate::process::Process;
use crate::report::{Aim, Report};
use crate::times::Times;
use crate::words::Words;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Clients, each with one connection and one call in flight.
    pub clients: usize,
    /// Seconds per phase.
    pub seconds: u64,
    /// Calls per second in the second phase; by default half of what the first phase reached.
    pub rate: Option<f64>,
}

/// Notes and bricks to create before the load.
const NOTES: usize = 2_000;
/// Keys that the clients share, because concurrent calls per key are limited.
const KEYS: usize = 8;
/// The beginning of an error response.
const FAILED: &[u8] = br#"{"jsonrpc":"2.0","id":1,"error""#;
/// How often threads are counted.
const LOOK: Duration = Duration::from_millis(100);

/// Runs both phases.
pub async fn load(options: &LoadOptions) -> Result<Report> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let bench = Bench::start_with(&options.binary, folder.path(), &[]).await?;
    let fleet = Fleet::gather(&bench, options).await?;
    let mut report = Report::default();

    let closed = fleet.run(&bench.process, None).await?;
    let reached = closed.rate();
    let details = format!("{} clients, each with one call in flight, for {} s", options.clients, options.seconds);
    report.add("calls per second", reached, "/s", details, Aim::AtLeast(500.0, "≥ 500/s"));
    closed.tell(&mut report, &["P50, closed loop", "P99, closed loop", "failed calls, closed loop"])?;

    let rate = options.rate.unwrap_or(reached / 2.0);
    let fixed = fleet.run(&bench.process, Some(rate)).await?;
    fixed.tell(&mut report, &["P50, fixed rate", "P99, fixed rate", "failed calls, fixed rate"])?;

    let peak = bench.process.peak_bytes()? as f64 / 1e6;
    let threads = closed.threads.max(fixed.threads);
    let details = format!("peak, with at most {threads} threads");
    report.add("peak memory", peak, "MB", details, Aim::AtMost(400.0, "≤ 400 MB"));
    Ok(report)
}

/// Clients that are ready to make calls.
struct Fleet<'o> {
    options: &'o LoadOptions,
    address: std::net::SocketAddr,
    /// Paths and keys of the sessions.
    sessions: Vec<(String, String)>,
}

/// The results of a phase.
struct FleetFigures {
    times: Vec<Duration>,
    wall: Duration,
    /// Failed calls, and the last error response.
    failed: usize,
    last_failure: Option<String>,
    rate: Option<f64>,
    threads: usize,
}

impl<'o> Fleet<'o> {
    /// Opens sessions with separate keys, and creates data to search.
    async fn gather(bench: &Bench, options: &'o LoadOptions) -> Result<Self> {
        let mut connection = Connection::open(bench.address).await?;
        let org = format!("/api/org/{}", bench.org);
        let project = json!({"name": "fleet", "graph_enabled": true}).to_string();
        let project = connection.json(&post(&format!("{org}/projects"), &bench.key, &project), 201).await?;
        let mut sessions = Vec::new();
        for number in 0..KEYS {
            let body = json!({"name": format!("fleet {number}"), "projects": "all"}).to_string();
            let key = connection.json(&post(&format!("{org}/keys"), &bench.key, &body), 201).await?;
            let key = text(&key, "/key/fullKey")?;
            let body = json!({"projectId": text(&project, "/project/id")?}).to_string();
            let opened = connection.json(&post(&format!("{org}/sessions"), &key, &body), 201).await?;
            let bearer = text(&opened, "/mcpConfig/mcpServers/toolcrib/headers/Authorization")?;
            let session_key = bearer.strip_prefix("Bearer ").context("a bearer key")?.to_owned();
            sessions.push((format!("/api/mcp/{}", text(&opened, "/sessionId")?), session_key));
        }
        let fleet = Self { options, address: bench.address, sessions };
        let writers = (0..KEYS).map(|writer| fleet.seed(writer));
        try_join_all(writers).await?;
        Ok(fleet)
    }

    async fn seed(&self, writer: usize) -> Result<()> {
        let mut connection = Connection::open(self.address).await?;
        let mut words = Words::new(writer as u64);
        for number in 0..NOTES / KEYS {
            let note = words.note(writer * NOTES + number);
            connection.json(&self.request(writer, &call("af_memory_remember", json!({"content": note}))), 200).await?;
            connection.json(&self.request(writer, &create_draft(&format!("brick {writer} {number}"))), 200).await?;
        }
        Ok(())
    }

    fn request(&self, client: usize, message: &Value) -> Vec<u8> {
        let (door, key) = self.sessions.get(client % KEYS).map_or(("", ""), |(door, key)| (door, key));
        post(door, key, &message.to_string())
    }

    /// Runs all clients for one phase, at `rate` calls per second in total, or each as fast as it can.
    async fn run(&self, process: &Process, rate: Option<f64>) -> Result<FleetFigures> {
        let mut open = Vec::with_capacity(self.options.clients);
        for _ in 0..self.options.clients {
            open.push(Connection::open(self.address).await?);
        }
        let (began, time) = (Instant::now(), Duration::from_secs(self.options.seconds));
        let pause = rate.map(|rate| Duration::from_secs_f64(self.options.clients as f64 / rate));
        let clients = open.into_iter().enumerate().map(|(number, connection)| {
            // Spread the first calls over the pause, so that calls are evenly distributed.
            let first = pause.map(|pause| pause.mul_f64(number as f64 / self.options.clients as f64));
            self.client(number, connection, began, time, pause.zip(first))
        });
        let (done, running) = watch::channel(());
        let clients = async {
            let outcomes = try_join_all(clients).await;
            drop(done);
            outcomes
        };
        let (outcomes, threads) = join(clients, most_threads(process, running)).await;
        let mut outcome = FleetFigures { times: Vec::new(), wall: began.elapsed(), failed: 0, last_failure: None, rate, threads };
        for (times, failed, last_failure) in outcomes? {
            outcome.times.extend(times);
            outcome.failed += failed;
            outcome.last_failure = last_failure.or(outcome.last_failure);
        }
        Ok(outcome)
    }

    async fn client(
        &self,
        number: usize,
        mut connection: Connection,
        began: Instant,
        time: Duration,
        schedule: Option<(Duration, Duration)>,
    ) -> Result<(Vec<Duration>, usize, Option<String>)> {
        let mut words = Words::new(number as u64);
        let (mut times, mut failed, mut last_failure) = (Vec::new(), 0, None);
        let mut due = schedule.map_or(began, |(_, first)| began + first);
        for turn in 0.. {
            if schedule.is_some() {
                tokio::time::sleep_until(due.into()).await;
            }
            if began.elapsed() >= time {
                break;
            }
            let sent = if schedule.is_some() { due } else { Instant::now() };
            let request = self.request(number, &mixed(number + turn, number * 1_000_000 + turn, &mut words));
            let answer = connection.exchange(&request).await?;
            times.push(sent.elapsed());
            if answer.status != 200 || answer.body.starts_with(FAILED) {
                failed += 1;
                last_failure = Some(format!("{} {}", answer.status, String::from_utf8_lossy(answer.body)));
            }
            due += schedule.map_or(Duration::ZERO, |(pause, _)| pause);
        }
        Ok((times, failed, last_failure))
    }
}

/// One of ten calls: eight reads, including memory and graph, and two writes.
fn mixed(kind: usize, unique: usize, words: &mut Words) -> Value {
    match kind % 10 {
        0 => ping(),
        1 => json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        2 | 3 => call("bricks.list", json!({"limit": 20})),
        4 => call("kits.list", json!({})),
        5 | 6 => call("af_memory_recall", json!({"query": Words::question(unique), "workType": "feature"})),
        7 => call("graph_query", json!({"query": Words::question(unique)})),
        8 => call("af_memory_remember", json!({"content": words.note(unique)})),
        _ => create_draft(&format!("draft {unique}")),
    }
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The peak number of threads until `running` ends.
async fn most_threads(process: &Process, mut running: watch::Receiver<()>) -> usize {
    let mut most = 0;
    loop {
        most = most.max(process.threads());
        // The sender is dropped when the clients are done.
        if matches!(tokio::time::timeout(LOOK, running.changed()).await, Ok(Err(_))) {
            return most;
        }
    }
}

impl FleetFigures {
    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.wall.as_secs_f64().max(1e-9)
    }

    /// Adds the median, the 99th percentile, and the failed calls.
    fn tell(&self, report: &mut Report, names: &[&'static str; 3]) -> Result<()> {
        let times = Times::of(self.times.iter().copied())?;
        let wanted = self.rate.map_or_else(String::new, |rate| format!(" of a target of {rate:.0}/s"));
        let details = format!("{} calls, {:.0}/s{wanted}", self.times.len(), self.rate());
        report.add(names[0], times.p50, "ms", details.clone(), Aim::AtMost(2_000.0, "≤ 2 s"));
        report.add(names[1], times.p99, "ms", details, Aim::AtMost(10_000.0, "≤ 10 s"));
        let last = self.last_failure.as_deref().unwrap_or("none");
        let details = last.chars().take(200).collect();
        report.add(names[2], self.failed as f64, "", details, Aim::AtMost(0.0, "0"));
        Ok(())
    }
}
