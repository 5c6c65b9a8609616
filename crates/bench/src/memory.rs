//! `toolcrib bench memory`: many callers write, one searches, and another memory server does the same for comparison.
//!
//! The other server is not bundled. `--peer` says how to start it (`npx --yes @modelcontextprotocol/server-memory`). It gets the
//! same entries and the same queries on the same machine, over its own transport.

mod background;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::{Connection, get, post};
use crate::doors::{Bench, text};
use crate::peer::Peer;
use crate::report::{Aim, Report};
use crate::times::Times;
use crate::words::Words;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Observations to search.
    pub observations: usize,
    /// Queries per result.
    pub questions: usize,
    /// Additional idle projects.
    pub projects: usize,
    /// The command that starts another memory server on stdio.
    pub peer: Option<String>,
}

const CALLERS: usize = 32;
/// Queries to the other server, which is slow.
const PEER_QUESTIONS: usize = 50;
/// How long to wait until all texts are embedded.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(600);

/// Runs every measurement.
pub async fn memory(options: &MemoryOptions) -> Result<Report> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let mut report = Report::default();
    let bench = Bench::start_with(&options.binary, folder.path(), &[]).await?;
    let mut words = Words::new(7);
    let notes: Vec<String> = (0..options.observations).map(|number| words.note(number)).collect();
    let questions: Vec<String> = (0..options.questions).map(Words::question).collect();

    remember_all(&bench, &notes, &mut report).await?;
    let began = Instant::now();
    caught_up(&bench).await?;
    let behind = format!("{:.1} s after the last write", began.elapsed().as_secs_f64());

    let recalled = ask_all(&bench, &questions).await?;
    let details = format!("{} observations, every query new; all embedded {behind}", notes.len());
    report.add("recall over HTTP, P50", recalled.p50, "ms", details, Aim::AtMost(5.0, "≤ 5 ms"));
    report.add("recall over HTTP, P99", recalled.p99, "ms", "the same queries".to_owned(), Aim::AtMost(15.0, "≤ 15 ms"));
    let again = ask_all(&bench, &questions).await?;
    let details = format!("{:.1} ms at P99", again.p99);
    report.add("repeated query, P50", again.p50, "ms", details, Aim::AtMost(1.5, "≤ 1.5 ms"));
    if let Some(command) = &options.peer {
        let theirs = ask_peer(command, folder.path(), &notes, &questions).await?;
        let details = format!("{:.1} ms at P50 and {:.1} ms at P99 by `{command}`", theirs.p50, theirs.p99);
        report.add("speedup over another server", theirs.p50 / recalled.p50, "×", details, Aim::AtLeast(5.0, "≥ 5 ×"));
    }
    let found = by_meaning(&bench, &mut words).await?;
    let details = format!("{:.1} ms at P99, from the write to the first vector match", found.p99);
    report.add("write to vector match, P50", found.p50, "ms", details, Aim::AtMost(100.0, "≤ 100 ms"));
    background::measure(&bench, &mut words, options.questions, recalled.p50, &mut report).await?;
    idle_projects(options, bench, folder.path(), &mut report).await?;
    Ok(report)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn recall(query: &str) -> Value {
    call("af_memory_recall", json!({"query": query, "workType": "bug_fix"}))
}

/// Writes all notes from several callers, each with one call in flight.
async fn remember_all(bench: &Bench, notes: &[String], report: &mut Report) -> Result<()> {
    let began = Instant::now();
    let callers = notes.chunks(notes.len().div_ceil(CALLERS).max(1)).map(|part| async move {
        let mut connection = Connection::open(bench.address).await?;
        for note in part {
            let request = bench.request(&call("af_memory_remember", json!({"content": note})));
            let kept = connection.json(&request, 200).await?;
            ensure!(kept.pointer("/result/structuredContent/stored") == Some(&json!(true)), "not stored: {kept}");
        }
        anyhow::Ok(())
    });
    try_join_all(callers).await?;
    let rate = notes.len() as f64 / began.elapsed().as_secs_f64();
    let details = format!("by {CALLERS} callers, each synced to disk before its response, while embedding runs");
    report.add("durable writes per second", rate, "/s", details, Aim::AtLeast(1_000.0, "≥ 1,000/s"));
    Ok(())
}

/// The number of texts that wait for a vector, according to the server's metrics.
async fn waiting(connection: &mut Connection) -> Result<f64> {
    let answer = connection.exchange(&get("/metrics", "")).await?;
    let figures = String::from_utf8_lossy(answer.body).into_owned();
    let waiting = figures.lines().find_map(|line| line.strip_prefix("toolcrib_embed_texts_waiting "));
    Ok(waiting.context("no metric for waiting texts")?.trim().parse()?)
}

/// Waits until all texts are embedded.
async fn caught_up(bench: &Bench) -> Result<()> {
    let began = Instant::now();
    let mut connection = Connection::open(bench.address).await?;
    while began.elapsed() < CATCH_UP_LIMIT {
        let waiting = waiting(&mut connection).await?;
        let last = connection.json(&bench.request(&recall("how far is it")), 200).await?;
        ensure!(last.get("result").is_some(), "{last}");
        if waiting == 0.0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    anyhow::bail!("texts are still waiting after {CATCH_UP_LIMIT:?}")
}

async fn ask_all(bench: &Bench, questions: &[String]) -> Result<Times> {
    let mut connection = Connection::open(bench.address).await?;
    let mut times = Vec::with_capacity(questions.len());
    for question in questions {
        let request = bench.request(&recall(question));
        let began = Instant::now();
        let answer = connection.json(&request, 200).await?;
        times.push(began.elapsed());
        let found = answer.pointer("/result/structuredContent/observations").and_then(Value::as_array);
        ensure!(found.is_some_and(|found| !found.is_empty()), "nothing found: {answer}");
    }
    Times::of(times)
}

/// Sends the same entries to the other server, and one word of each query, because it finds only substrings.
async fn ask_peer(command: &str, folder: &std::path::Path, notes: &[String], questions: &[String]) -> Result<Times> {
    let mut peer = Peer::start(command, &folder.join("peer.jsonl")).await?;
    for (chunk, some) in notes.chunks(1_000).enumerate() {
        let entity = |(number, note): (usize, &String)| json!({"name": format!("note {}", chunk * 1_000 + number), "entityType": "observation", "observations": [note]});
        let entities: Vec<Value> = some.iter().enumerate().map(entity).collect();
        peer.call("create_entities", json!({ "entities": entities })).await?;
    }
    let mut times = Vec::new();
    for question in questions.iter().take(PEER_QUESTIONS) {
        let word = question.split(' ').max_by_key(|word| word.len()).unwrap_or_default();
        let began = Instant::now();
        peer.call("search_nodes", json!({ "query": word })).await?;
        times.push(began.elapsed());
    }
    Times::of(times)
}

/// Measures the time from a write until recall finds it by its vector.
async fn by_meaning(bench: &Bench, words: &mut Words) -> Result<Times> {
    const NOTES: usize = 20;
    let mut connection = Connection::open(bench.address).await?;
    let mut times = Vec::new();
    for number in 0..NOTES {
        let note = words.note(1_000_000 + number);
        let began = Instant::now();
        let kept = connection.json(&bench.request(&call("af_memory_remember", json!({"content": note}))), 200).await?;
        ensure!(kept.pointer("/result/structuredContent/stored") == Some(&json!(true)), "not stored: {kept}");
        let id = text(&kept, "/result/structuredContent/id")?;
        loop {
            let answer = connection.json(&bench.request(&recall(&note)), 200).await?;
            let found = answer.pointer("/result/structuredContent/observations").and_then(Value::as_array).cloned();
            let found = found.unwrap_or_default().into_iter().find(|found| found.get("id") == Some(&json!(id)));
            let found = found.with_context(|| format!("not found by keyword in the next call: {answer}"))?;
            if found.pointer("/why/vector").and_then(Value::as_f64).is_some_and(|meaning| meaning > 0.0) {
                break;
            }
            ensure!(began.elapsed() < Duration::from_secs(30), "not embedded after {:?}", began.elapsed());
        }
        times.push(began.elapsed());
    }
    Times::of(times)
}

/// Measures how much memory idle projects add to a restarted server.
async fn idle_projects(options: &MemoryOptions, bench: Bench, folder: &std::path::Path, report: &mut Report) -> Result<()> {
    let settled = async |bench: &Bench| {
        tokio::time::sleep(Duration::from_secs(2)).await;
        anyhow::Ok(bench.process.resident_bytes()? as f64 / 1e6)
    };
    let bench = bench.restarted_after(&options.binary, folder, async |_, _| Ok(())).await?;
    let before = settled(&bench).await?;
    let mut connection = Connection::open(bench.address).await?;
    let org = format!("/api/org/{}", bench.org);
    for number in 0..options.projects {
        let body = json!({"name": format!("idle {number}")}).to_string();
        let made = connection.json(&post(&format!("{org}/projects"), &bench.key, &body), 201).await?;
        let body = json!({"projectId": text(&made, "/project/id")?}).to_string();
        let opened = connection.json(&post(&format!("{org}/sessions"), &bench.key, &body), 201).await?;
        let door = format!("/api/mcp/{}", text(&opened, "/sessionId")?);
        let note = call("af_memory_remember", json!({"content": format!("note of project {number}")})).to_string();
        connection.json(&post(&door, &bench.key, &note), 200).await?;
    }
    caught_up(&bench).await?;
    let bench = bench.restarted_after(&options.binary, folder, async |_, _| Ok(())).await?;
    let after = settled(&bench).await?;
    let details = format!("{after:.1} MB, compared with {before:.1} MB without the {} projects", options.projects);
    report.add("memory of idle projects", after - before, "MB", details, Aim::AtMost(5.0, "≤ 5 MB"));
    Ok(())
}
