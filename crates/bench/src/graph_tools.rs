//! The graph tools over HTTP: queries in graphs of three sizes, walks compared with a no-op tool, and stating facts.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::Connection;
use crate::doors::{Bench, Door, no_op};
use crate::graph_rows::{Seed, TRIPLETS_PER_ENTITY, entities, fill, name, relationship};
use crate::report::{Aim, Report};
use crate::times::Times;
use crate::words::Words;

/// How long the first query of a project may take, which loads its graph and its index.
const LOADING_LIMIT: Duration = Duration::from_secs(1_200);
/// Callers that state facts, facts per call, and how small a part of the triplets is stated.
const CALLERS: usize = 8;
const PER_CALL: usize = 100;
const STATED_PART: usize = 50;

/// Two results for each size: the part of all triplets, the names and the target.
const SIZES: [(usize, [&str; 2], Aim); 3] = [
    (200, ["graph_query, small graph, P50", "the same query again, P50"], Aim::AtMost(10.0, "≤ 10 ms")),
    (10, ["graph_query, medium graph, P50", "the same query again, P50"], Aim::AtMost(10.0, "≤ 10 ms")),
    (1, ["graph_query, large graph, P50", "the same query again, P50"], Aim::AtMost(25.0, "≤ 25 ms")),
];

/// Runs every measurement.
pub(crate) async fn tools(binary: &Path, triplets: usize, questions: usize, report: &mut Report) -> Result<()> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let bench = Bench::start_with(binary, folder.path(), &[("TOOLCRIB_CONFORMANCE", "1")]).await?;
    let (mut doors, mut seeds) = (Vec::new(), Vec::new());
    for (part, ..) in SIZES {
        let (door, project) = bench.open_project(&json!({"name": format!("graph {part}"), "graph_enabled": true})).await?;
        seeds.push(Seed { project, triplets: (triplets / part).max(1) });
        doors.push(door);
    }
    let began = Instant::now();
    let fill = async |database: &Path, org: &str| fill(database, org, &seeds).await;
    let bench = bench.restarted_after(binary, folder.path(), fill).await?;
    let filled = began.elapsed().as_secs_f64();
    for (size, ((door, seed), (_, names, aim))) in doors.iter().zip(&seeds).zip(SIZES).enumerate() {
        let queries = Queries { bench: &bench, door, seed, first: size * questions };
        queries.measure(questions, names, aim, filled, report).await?;
    }
    if let (Some(door), Some(seed)) = (doors.first(), seeds.first()) {
        walks(&bench, door, seed.triplets, questions, report).await?;
    }
    state(&bench, (triplets / STATED_PART).max(PER_CALL), report).await
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// Queries in one project.
struct Queries<'a> {
    bench: &'a Bench,
    door: &'a Door,
    seed: &'a Seed,
    /// The first question, so that no two projects are asked the same ones.
    first: usize,
}

impl Queries<'_> {
    async fn measure(&self, count: usize, names: [&'static str; 2], aim: Aim, filled: f64, report: &mut Report) -> Result<()> {
        let mut connection = Connection::open(self.bench.address).await?;
        let loaded = self.load(&mut connection).await?;
        let fresh: Vec<String> = (self.first..self.first + count).map(|number| self.question(number)).collect();
        let fresh = self.timed(&mut connection, fresh.iter().map(String::as_str)).await?;
        let again = self.question(self.first);
        let again = self.timed(&mut connection, std::iter::repeat_n(again.as_str(), count)).await?;
        let [name, name_again] = names;
        let details = format!(
            "{:.1} ms at P99, {} triplets, every query new; loaded in {loaded:.1} s, rows and vectors made up in {filled:.0} s",
            fresh.p99, self.seed.triplets
        );
        report.add(name, fresh.p50, "ms", details, aim);
        let details = format!("{:.1} ms at P99, {} triplets", again.p99, self.seed.triplets);
        report.add(name_again, again.p50, "ms", details, aim);
        Ok(())
    }

    /// Half of the questions name an entity.
    fn question(&self, number: usize) -> String {
        let entity = name(number * 7 % entities(self.seed.triplets));
        if number.is_multiple_of(2) { Words::question(number) } else { format!("what does {entity} depend on, {number}") }
    }

    fn request(&self, question: &str) -> Vec<u8> {
        self.door.request(&call("graph_query", json!({"query": question})))
    }

    /// Asks until there is an answer, and returns the seconds until then.
    async fn load(&self, connection: &mut Connection) -> Result<f64> {
        let began = Instant::now();
        while began.elapsed() < LOADING_LIMIT {
            let answer = connection.json(&self.request("payment gateway"), 200).await?;
            let found = answer.pointer("/result/structuredContent/triplets").and_then(Value::as_array);
            if found.is_some_and(|found| !found.is_empty()) {
                return Ok(began.elapsed().as_secs_f64());
            }
        }
        bail!("the graph is not loaded after {LOADING_LIMIT:?}")
    }

    async fn timed<'q>(&self, connection: &mut Connection, questions: impl Iterator<Item = &'q str>) -> Result<Times> {
        let mut times = Vec::new();
        for question in questions {
            let request = self.request(question);
            let began = Instant::now();
            let answer = connection.json(&request, 200).await?;
            times.push(began.elapsed());
            let found = answer.pointer("/result/structuredContent/triplets").and_then(Value::as_array);
            ensure!(found.is_some_and(|found| !found.is_empty()), "nothing found: {answer}");
        }
        Times::of(times)
    }
}

/// Compares walks with a no-op tool on the same connection. All three take turns.
async fn walks(bench: &Bench, door: &Door, triplets: usize, rounds: usize, report: &mut Report) -> Result<()> {
    let mut connection = Connection::open(bench.address).await?;
    let mut random = Words::new(37);
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..rounds {
        let [from, to] = [0; 2].map(|_| name(random.below(entities(triplets))));
        let path = call("graph_path", json!({"from": from, "to": to}));
        let asked = [no_op(), path, call("graph_neighbors", json!({"entity": from}))];
        for (message, times) in asked.iter().zip(&mut times) {
            let request = door.request(message);
            let began = Instant::now();
            let answer = connection.json(&request, 200).await?;
            times.push(began.elapsed());
            ensure!(answer.get("result").is_some(), "{answer}");
        }
    }
    let [no_op, path, near] = times;
    let (no_op, path, near) = (Times::of(no_op)?, Times::of(path)?, Times::of(near)?);
    for (name, ours) in [("graph_path against a no-op", path), ("graph_neighbors against a no-op", near)] {
        let details = format!(
            "{:.2} ms at P50, {:.2} ms at P99, {triplets} triplets; no-op tool: {:.2} ms and {:.2} ms",
            ours.p50, ours.p99, no_op.p50, no_op.p99
        );
        report.add(name, ours.p50 / no_op.p50, "×", details, Aim::AtMost(3.0, "≤ 3 ×"));
    }
    Ok(())
}

/// States facts in a new project, several callers at once. Embedding runs meanwhile.
async fn state(bench: &Bench, triplets: usize, report: &mut Report) -> Result<()> {
    let (door, _) = bench.open_project(&json!({"name": "stated", "graph_enabled": true})).await?;
    let (mut random, mut words) = (Words::new(41), Words::new(43));
    let known = (triplets / TRIPLETS_PER_ENTITY).max(2);
    let mut fact = |number: usize| {
        let [source, target] = [0; 2].map(|_| json!({"name": name(random.below(known)), "type": "component"}));
        let relationship = relationship(number);
        json!({"source": source, "relationship": relationship, "target": target, "description": words.note(number)})
    };
    let facts: Vec<Value> = (0..triplets).map(&mut fact).collect();
    let requests: Vec<Vec<u8>> =
        facts.chunks(PER_CALL).map(|some| door.request(&call("graph_ingest", json!({ "triplets": some })))).collect();
    let began = Instant::now();
    let callers = requests.chunks(requests.len().div_ceil(CALLERS)).map(|part| async move {
        let mut connection = Connection::open(bench.address).await?;
        for request in part {
            let stated = connection.json(request, 200).await?;
            ensure!(stated.pointer("/result/structuredContent/tripletIds").is_some(), "not stated: {stated}");
        }
        anyhow::Ok(())
    });
    try_join_all(callers).await?;
    let rate = facts.len() as f64 / began.elapsed().as_secs_f64();
    let details = format!(
        "{} triplets of {known} entities by {CALLERS} callers, {PER_CALL} per call, each call synced to disk before its response",
        facts.len()
    );
    report.add("triplets stated per second", rate, "/s", details, Aim::AtLeast(10_000.0, "≥ 10,000/s"));
    Ok(())
}
