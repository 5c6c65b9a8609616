//! Single calls of the code tools: reads and walks compared with a no-op, a change on disk, and durable writes.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::code::call;
use crate::code_repository::Repository;
use crate::connection::Connection;
use crate::doors::{Bench, Door, no_op};
use crate::report::{Aim, Report};
use crate::times::Times;
use crate::turns::{Side, Turns};

/// Rounds of loads. Each takes a second.
const TURNS_MAX: u32 = 15;
/// Changes on disk.
const CHANGES_MAX: usize = 40;
const CHANGE_LIMIT: Duration = Duration::from_secs(30);
/// The size of a written file.
const WRITTEN_BYTES: usize = 3_000;

/// Runs every measurement.
pub(crate) async fn measure(
    bench: &Bench,
    door: &Door,
    source: &Path,
    made: &Repository,
    rounds: u32,
    report: &mut Report,
) -> Result<()> {
    reads(bench, door, made, rounds.min(TURNS_MAX), report).await?;
    changes(bench, door, source, made, (rounds as usize).min(CHANGES_MAX), report).await?;
    writes(bench, door, source, rounds, report).await
}

/// Compares reads and walks with a no-op over the same door, by the server's processor time.
async fn reads(bench: &Bench, door: &Door, made: &Repository, rounds: u32, report: &mut Report) -> Result<()> {
    let path = made.paths.get(made.paths.len() / 2).context("a file")?;
    let read = call("read_code", json!({"path": path, "include_dependencies": true, "include_semantic_context": false}));
    let walk = |algorithm: &str| call("graph_search", json!({"start_nodes": [path], "max_depth": 5, "algorithm": algorithm}));
    let mut connection = Connection::open(bench.address).await?;
    let size = connection.exchange(&door.request(&read)).await?.body.len();
    let found = connection.json(&door.request(&walk("fre")), 200).await?;
    let found = found.pointer("/result/structuredContent").with_context(|| format!("not walked: {found}"))?.clone();
    let length = |name: &str| found.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    let side = |message: &Value| Side { process: &bench.process, address: bench.address, request: door.request(message) };
    let turns = Turns::take(rounds, &[side(&no_op()), side(&read), side(&walk("fre")), side(&walk("dijkstra"))]).await?;
    let [bare_us, read_us, walk_us, dijkstra_us] = turns.medians();
    let details = format!("{read_us:.0} µs per request, {size} bytes; {bare_us:.0} µs for a no-op");
    report.add(
        "read_code against a no-op",
        turns.median(|[bare, read, ..]| read / bare),
        "×",
        details,
        Aim::AtMost(2.0, "≤ 2 ×"),
    );
    let details = format!(
        "{walk_us:.0} µs per request, dijkstra {dijkstra_us:.0} µs; {bare_us:.0} µs for a no-op; {} nodes and {} edges shown, counters {}",
        length("nodes"),
        length("edges"),
        found.get("counters").unwrap_or(&Value::Null)
    );
    report.add(
        "graph_search against a no-op",
        turns.median(|[bare, _, walk, _]| walk / bare),
        "×",
        details,
        Aim::AtMost(2.0, "≤ 2 ×"),
    );
    Ok(())
}

/// Measures the time from a write on disk until a walk shows the new import.
async fn changes(bench: &Bench, door: &Door, source: &Path, made: &Repository, count: usize, report: &mut Report) -> Result<()> {
    let mut connection = Connection::open(bench.address).await?;
    let (mut walked, mut analyzed) = (Vec::new(), Vec::new());
    for change in 0..count * 2 {
        // A walk waits for the watcher. An analysis of the file itself compares it with the disk first.
        let is_walk = change.is_multiple_of(2);
        let new = made.one_more_import(source, change)?;
        let request = door.request(&match is_walk {
            true => {
                let relationships = ["imports"];
                call(
                    "graph_search",
                    json!({"start_nodes": [new.path], "relationship_types": relationships, "max_depth": 1, "direction": "forward"}),
                )
            }
            false => call("analyze_dependencies", json!({"path": new.path, "analysis_type": "imports", "max_depth": 1})),
        });
        std::fs::write(source.join(&new.path), &new.text)?;
        let began = Instant::now();
        loop {
            let answer = connection.json(&request, 200).await?;
            let edges = answer.pointer("/result/structuredContent/edges").and_then(Value::as_array);
            let edges = edges.with_context(|| format!("no edges: {answer}"))?;
            if edges.iter().any(|edge| edge.get("to").and_then(Value::as_str).is_some_and(|to| to.starts_with(&new.imported))) {
                break;
            }
            ensure!(began.elapsed() < CHANGE_LIMIT, "{} does not import {} yet: {answer}", new.path, new.imported);
        }
        if is_walk { walked.push(began.elapsed()) } else { analyzed.push(began.elapsed()) }
    }
    let (walked, analyzed) = (Times::of(walked)?, Times::of(analyzed)?);
    let details = format!("P50; P99 {:.1} ms; from the write on disk until graph_search shows the import", walked.p99);
    report.add("changed file in a walk", walked.p50, "ms", details, Aim::AtMost(50.0, "≤ 50 ms"));
    let details = format!("P50; P99 {:.1} ms; until analyze_dependencies of that file shows it", analyzed.p99);
    report.add("changed file in its analysis", analyzed.p50, "ms", details, Aim::AtMost(50.0, "≤ 50 ms"));
    Ok(())
}

/// Compares a durable and indexed write with three bare syncs of such a file. They take turns.
async fn writes(bench: &Bench, door: &Door, source: &Path, rounds: u32, report: &mut Report) -> Result<()> {
    let mut connection = Connection::open(bench.address).await?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let content = written(round);
        let began = Instant::now();
        for place in 0..3 {
            let mut file = std::fs::File::create(source.with_file_name(format!("synced-{place}")))?;
            file.write_all(content.as_bytes())?;
            file.sync_all()?;
        }
        bare.push(began.elapsed());
        let path = format!("py/shop/written_{}.py", round % 10);
        let request = door.request(&call("write_code", json!({"path": path, "content": content, "reason": "bench"})));
        let began = Instant::now();
        let answer = connection.json(&request, 200).await?;
        ours.push(began.elapsed());
        ensure!(answer.pointer("/result/structuredContent/version").is_some(), "not written: {answer}");
    }
    let (ours, bare) = (Times::of(ours)?, Times::of(bare)?);
    let details = format!(
        "{:.1} ms at P50 and {:.1} ms at P99; three syncs of a file of {WRITTEN_BYTES} bytes: {:.1} ms and {:.1} ms",
        ours.p50, ours.p99, bare.p50, bare.p99
    );
    report.add("write_code beyond three syncs", ours.p50 - bare.p50, "ms", details, Aim::AtMost(5.0, "≤ 5 ms"));
    Ok(())
}

/// A Python file that differs in every round.
fn written(round: u32) -> String {
    let mut text = format!("\"\"\"Written in round {round}.\"\"\"\n\nimport json\n");
    let mut function = 0;
    while text.len() < WRITTEN_BYTES {
        text.push_str(&format!("\n\ndef step_{function}(order):\n    return json.dumps([order, {round}, {function}])\n"));
        function += 1;
    }
    text
}
