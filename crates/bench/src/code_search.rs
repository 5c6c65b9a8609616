//! Searches by words and meaning, and what embedding a repository costs other calls. The server has the bundled model.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::code::{CodeOptions, call, complete, count, coverage, first_index, open, start};
use crate::code_repository::Repository;
use crate::connection::Connection;
use crate::doors::{Bench, Door, no_op};
use crate::report::{Aim, Report};
use crate::times::Times;

/// The part of the files in the small repository, all of which is embedded.
const SMALL_PART: usize = 20;
/// Vectors of the whole repository to wait for.
const VECTORS: u64 = 1_000;
const EMBED_LIMIT: Duration = Duration::from_secs(600);
const NO_OPS: usize = 400;
const LOOK: Duration = Duration::from_millis(200);
const FRESH: Aim = Aim::AtMost(15.0, "≤ 15 ms");
const AGAIN: Aim = Aim::AtMost(3.0, "≤ 3 ms");

/// Runs every measurement.
pub(crate) async fn measure(
    options: &CodeOptions,
    folder: &Path,
    source: &Path,
    made: &Repository,
    report: &mut Report,
) -> Result<()> {
    let small = folder.join("small-repository");
    Repository::write(&small, (options.files / SMALL_PART).max(1))?;
    let bench = start(options, &folder.join("with-vectors"), true).await?;
    let questions = options.rounds as usize;

    let door = open(&bench, &small).await?;
    complete(&bench, &door).await?;
    let began = Instant::now();
    let seen = embedded(&bench, &door, u64::MAX).await?;
    let rate = format!("all embedded in {:.1} s", began.elapsed().as_secs_f64());
    let search = Search { bench: &bench, door: &door, first: 0, questions };
    search.measure(["hybrid_search at rest, P50", "the same query again, P50"], &seen, &rate, report).await?;
    let quiet = no_ops(&bench, &door).await?;

    let door = open(&bench, source).await?;
    first_index(&bench, &door, source, made, ["first index while embedding", "files per second while embedding"], report).await?;
    embedded(&bench, &door, VECTORS).await?;
    let busy = no_ops(&bench, &door).await?;
    let seen = coverage(&mut Connection::open(bench.address).await?, &door).await?;
    let left = count(&seen, "passages").saturating_sub(count(&seen, "embedded"));
    let details = format!(
        "{:.2} ms at P50 and {:.2} ms at P99, compared with {:.2} ms and {:.2} ms; {left} passages were left",
        busy.p50, busy.p99, quiet.p50, quiet.p99
    );
    report.add("a no-op while code is embedded", busy.p50 / quiet.p50, "×", details, Aim::AtMost(1.2, "≤ 1.2 ×"));
    let search = Search { bench: &bench, door: &door, first: questions, questions };
    search.measure(["hybrid_search while embedding, P50", "the same query again, P50"], &seen, "embedding goes on", report).await
}

/// Waits until so many passages, or all, have vectors.
async fn embedded(bench: &Bench, door: &Door, wanted: u64) -> Result<Value> {
    let (began, mut connection) = (Instant::now(), Connection::open(bench.address).await?);
    loop {
        let seen = coverage(&mut connection, door).await?;
        if count(&seen, "embedded") >= wanted.min(count(&seen, "passages")) {
            return Ok(seen);
        }
        ensure!(began.elapsed() < EMBED_LIMIT, "too few vectors after {EMBED_LIMIT:?}: {seen}");
        tokio::time::sleep(LOOK).await;
    }
}

/// The times of the no-op tool, one call after the other.
async fn no_ops(bench: &Bench, door: &Door) -> Result<Times> {
    let (mut connection, request) = (Connection::open(bench.address).await?, door.request(&no_op()));
    let mut times = Vec::with_capacity(NO_OPS);
    for _ in 0..NO_OPS {
        let began = Instant::now();
        let answer = connection.json(&request, 200).await?;
        times.push(began.elapsed());
        ensure!(answer.get("result").is_some(), "{answer}");
    }
    Times::of(times)
}

/// Searches in one project.
struct Search<'a> {
    bench: &'a Bench,
    door: &'a Door,
    /// The first question, so that no two projects are asked the same ones.
    first: usize,
    questions: usize,
}

impl Search<'_> {
    async fn measure(&self, names: [&'static str; 2], seen: &Value, note: &str, report: &mut Report) -> Result<()> {
        let fresh = (self.first..self.first + self.questions).map(Repository::question);
        let fresh = self.timed(fresh).await?;
        let again = self.timed(std::iter::repeat_n(Repository::question(self.first), self.questions)).await?;
        let [name, name_again] = names;
        let (vectors, passages) = (count(seen, "embedded"), count(seen, "passages"));
        let details = format!("{:.1} ms at P99; {vectors} of {passages} passages have vectors; {note}", fresh.p99);
        report.add(name, fresh.p50, "ms", details, FRESH);
        report.add(name_again, again.p50, "ms", format!("{:.1} ms at P99", again.p99), AGAIN);
        Ok(())
    }

    async fn timed(&self, questions: impl Iterator<Item = String>) -> Result<Times> {
        let mut connection = Connection::open(self.bench.address).await?;
        let mut times = Vec::new();
        for question in questions {
            let request = self.door.request(&call("hybrid_search", json!({"query": question})));
            let began = Instant::now();
            let answer = connection.json(&request, 200).await?;
            times.push(began.elapsed());
            let found = answer.pointer("/result/structuredContent/results").and_then(Value::as_array);
            ensure!(found.is_some_and(|found| !found.is_empty()), "nothing found for `{question}`: {answer}");
        }
        Times::of(times)
    }
}
