//! `toolcrib bench audit`: lists a long trail with every filter, and exports it.
//!
//! The rows are written directly to the database in large transactions, with fake signatures, because reading a page does not check
//! them. The baseline is the first page without a filter.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use base::{Clock, Timestamp};
use store::{Store, StoreConfig, Tx, params};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connection::{Connection, get};
use crate::doors::Bench;
use crate::report::{Aim, Report};
use crate::sql;
use crate::times::Times;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Entries in the audit trail.
    pub entries: u64,
    /// Requests per result.
    pub requests: usize,
}

const CHUNK: u64 = 20_000;
/// The time of the first entry, and the interval between entries: a million in a year.
const START: Timestamp = Timestamp::from_ms(1_750_000_000_000);
const APART_MS: u64 = 31_536;
const ACTORS: u64 = 200;

/// Runs every measurement.
pub async fn audit(options: &AuditOptions) -> Result<Report> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let bench = Bench::start_with(&options.binary, folder.path(), &[]).await?;
    let fill = async |database: &Path, org: &str| fill(database, org, options.entries).await;
    let bench = bench.restarted_after(&options.binary, folder.path(), fill).await?;
    let mut report = Report::default();
    let bare = page(&bench, options.requests, "").await?;
    let details = format!("P50 {:.2} ms, P99 {:.2} ms", bare.p50, bare.p99);
    report.add("first page of 50, no filter", bare.p50, "ms", details, Aim::AtMost(20.0, "≤ 20 ms"));
    let at = |part: u64| START.plus_ms(signed(options.entries * part / 10 * APART_MS)).rfc3339();
    let (tenth, half, later) = (at(1), at(5), at(6));
    let deep = cursor_at(&bench, &half).await?;
    let few = Aim::AtMost(6.0, "≤ 6 ×");
    // The cost is bounded by how many entries one page may scan, not by the length of the trail.
    let bounded = Aim::AtMost(40.0, "≤ 40 ×");
    for (name, filter, aim) in [
        ("an actor", "actorId=ses_7".to_owned(), few),
        ("a frequent type", "eventType=call.completed".to_owned(), few),
        ("a rare type", "eventType=policy.saved".to_owned(), few),
        ("an entity", "entityId=tool.3".to_owned(), few),
        ("a request", format!("requestId=req_{:026}", options.entries / 3), few),
        ("a time range", format!("since={half}&until={later}"), few),
        ("a type long ago", format!("eventType=call.completed&until={tenth}"), few),
        ("a deep cursor", format!("cursor={deep}"), few),
        ("a deep cursor of a type", format!("eventType=call.completed&cursor={deep}"), few),
        ("two filters, many matches", "actorId=ses_7&eventType=call.completed".to_owned(), bounded),
        ("a rare and a frequent filter", "entityId=tool.0&eventType=policy.saved".to_owned(), bounded),
        ("two filters, no matches", "entityId=tool.1&eventType=call.refused".to_owned(), bounded),
        ("an unknown type", "entityId=tool.3&eventType=no.such".to_owned(), few),
    ] {
        let times = page(&bench, options.requests, &filter).await?;
        let details = format!("P50 {:.2} ms, P99 {:.2} ms; {:.2} ms without a filter", times.p50, times.p99, bare.p50);
        report.add(name, times.p50 / bare.p50, "×", details, aim);
    }
    export(&bench, options.entries, &mut report).await?;
    Ok(report)
}

/// Writes the entries while no server runs.
async fn fill(database: &Path, org: &str, entries: u64) -> Result<()> {
    let store = Store::open(&StoreConfig::Sqlite { path: database.to_owned() }, &Clock::system()).await?;
    let end = store.first(sql::TRAIL_END, &params![org], |row| row.get::<i64>("sequence")).await?.unwrap_or(0).unsigned_abs();
    for first in (1..=entries).step_by(usize::try_from(CHUNK)?) {
        let (org, numbers) = (org.to_owned(), first..(first + CHUNK).min(entries + 1));
        let write = move |tx: &mut Tx<'_>| numbers.clone().try_for_each(|number| append(tx, &org, end, number));
        store.write_instance(write).await?;
    }
    let (org, last) = (org.to_owned(), i64::try_from(end + entries)?);
    store.write_instance(move |tx| tx.execute(sql::FOLLOWED, &params![org, last])).await?;
    store.close().await;
    Ok(())
}

fn append(tx: &mut Tx<'_>, org: &str, end: u64, number: u64) -> base::Result<()> {
    let kind = match number % 1_000 {
        0 => "policy.saved",
        part if part < 100 && part % 2 == 0 => "call.refused",
        _ => "call.completed",
    };
    // Refused calls have even numbers, and so have their tools, so that some filter pairs never match.
    let (actor, tool) = (number % ACTORS, number % 2 + 2 * (number / ACTORS % 2));
    let (actor, tool) = (format!("ses_{actor}"), format!("tool.{tool}"));
    let (id, request) = (format!("evt_{number:026}"), format!("req_{number:026}"));
    let (at, sequence) = (START.plus_ms(signed(number * APART_MS)), signed(end + number));
    let (payload, hash) = (payload(number), "0".repeat(64));
    let params = params![org, sequence, id, at, kind, actor, tool, request, payload, hash, hash, hash];
    tx.execute(sql::FILL_TRAIL, &params).map(drop)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A payload as long as that of a real call.
fn payload(number: u64) -> String {
    format!(
        r#"{{"argumentsDigest":"hmac-sha256:{number:064x}","decision":{{"allowed":true,"policies":["starter#own-tools"],"policySet":"{number:064x}","reason":"permitted"}},"door":"session","durationMs":0.25,"outcome":"completed","startedAt":"2026-11-16T00:00:00.000Z"}}"#
    )
}

/// Times repeated requests for a page of fifty on one connection.
async fn page(bench: &Bench, requests: usize, filter: &str) -> Result<Times> {
    let request = get(&format!("/api/audit?limit=50&{filter}"), &bench.key);
    let mut connection = Connection::open(bench.address).await?;
    let mut times = Vec::with_capacity(requests);
    for _ in 0..requests {
        let began = Instant::now();
        let status = connection.exchange(&request).await?.status;
        times.push(began.elapsed());
        ensure!(status == 200, "{filter} returned {status}");
    }
    Times::of(times)
}

/// A cursor in the middle of the trail.
async fn cursor_at(bench: &Bench, until: &str) -> Result<String> {
    let request = get(&format!("/api/audit?limit=1&until={until}"), &bench.key);
    let page = Connection::open(bench.address).await?.json(&request, 200).await?;
    page.get("nextCursor").and_then(|cursor| cursor.as_str()).map(str::to_owned).context("a further page")
}

/// Exports the whole trail and measures the server's peak memory.
async fn export(bench: &Bench, entries: u64, report: &mut Report) -> Result<()> {
    let before = bench.process.peak_bytes()?;
    let mut stream = TcpStream::connect(bench.address).await?;
    let request = get("/api/audit/export", &bench.key);
    let began = Instant::now();
    stream.write_all(&request).await?;
    let (mut bytes, mut buffer) = (0, vec![0; 1 << 18]);
    // The last chunk of a chunked response is empty.
    let mut tail = Vec::new();
    while !tail.ends_with(b"0\r\n\r\n") {
        let read = stream.read(&mut buffer).await?;
        ensure!(read > 0, "export interrupted after {bytes} bytes");
        bytes += read;
        tail.extend_from_slice(buffer.get(read.saturating_sub(5)..read).unwrap_or_default());
        tail.drain(..tail.len().saturating_sub(5));
    }
    let seconds = began.elapsed().as_secs_f64();
    let grown = (bench.process.peak_bytes()?.saturating_sub(before)) as f64 / 1e6;
    let details = format!("{:.0} MB in {seconds:.1} s, {:.0} entries per second", bytes as f64 / 1e6, entries as f64 / seconds);
    report.add("memory added by an export", grown, "MB", details, Aim::AtMost(64.0, "≤ 64 MB"));
    Ok(())
}
