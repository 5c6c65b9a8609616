//! `toolcrib bench doors`: compares the MCP endpoints with a bare echo server, and measures group commits, memory and startup.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::{Connection, post};
use crate::load::{load, load_with};
use crate::process::{Process, free_address};
use crate::report::{Aim, Report};
use crate::turns::{CONNECTIONS, Side, Turns, median};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct DoorsOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Rounds; in each, the server and the baselines take turns.
    pub rounds: u32,
    /// Orgs to create for the last measurement.
    pub orgs: u32,
}

const WRITERS: usize = 64;
const BRICKS: usize = 1_000;
/// Number and length of the rounds in which one writer and many writers take turns.
const WRITING_ROUNDS: u32 = 7;
const WRITING: Duration = Duration::from_millis(500);
/// How long other loads last.
const LOAD: Duration = Duration::from_secs(2);

/// Turns off the rate limits, which are not measured here.
const SETTINGS: &str = "[limits]
key_calls_per_minute = 4000000000
key_calls_burst = 4000000000
org_calls_per_minute = 4000000000
org_calls_burst = 4000000000
";

/// The server that is measured.
pub(crate) struct Bench {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    admin_key: String,
    pub(crate) org: String,
    pub(crate) project: String,
    pub(crate) key: String,
    door: Door,
    environment: Vec<(String, String)>,
}

/// A session's endpoint and its key.
pub(crate) struct Door {
    path: String,
    key: String,
}

impl Door {
    pub(crate) fn request(&self, message: &Value) -> Vec<u8> {
        post(&self.path, &self.key, &message.to_string())
    }
}

/// Runs every measurement.
pub async fn doors(options: &DoorsOptions) -> Result<Report> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let mut report = Report::default();
    // The conformance fixtures include the no-op tool that other tools are compared with.
    let mut bench = Bench::start_with(&options.binary, folder.path(), &[("TOOLCRIB_CONFORMANCE", "1")]).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let resident = bench.process.resident_bytes()? as f64 / 1e6;
    report.add("memory of a fresh idle server", resident, "MB", "resident".into(), Aim::AtMost(60.0, "≤ 60 MB"));

    bench.seed_bricks().await?;

    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let bricks =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "bricks.list", "arguments": {"limit": 20}}});
    let echoed = Echoed { options, bench: &bench, folder: folder.path() };
    echoed.door("ping", &ping(), &mut report).await?;
    echoed.door("tools/list", &list, &mut report).await?;
    echoed.tool(["bricks.list (20 of 1,000), whole call", "bricks.list, the tool alone"], &bricks, &mut report).await?;

    // Run this last: after tens of thousands of writes, the server stays busy for a while.
    writers(&bench, &mut report).await?;
    if options.orgs > 0 {
        many_orgs(options.orgs, &bench, &bricks, &mut report).await?;
    }
    bench.process.terminate()?;
    let began = Instant::now();
    bench.process = Process::start(&options.binary, &serve_arguments(&bench.address.to_string(), &data(folder.path())))?;
    let ready = bench.process.wait_for(bench.address, began).await?.as_secs_f64();
    let orgs = format!("with {} orgs", options.orgs + 1);
    report.add("startup time with existing data", ready, "s", orgs, Aim::AtMost(1.0, "≤ 1 s"));
    Ok(report)
}

fn data(folder: &Path) -> String {
    folder.join("data").display().to_string()
}

fn serve_arguments<'a>(listen: &'a str, data: &'a str) -> [&'a str; 5] {
    ["serve", "--listen", listen, "--data", data]
}

pub(crate) fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})
}

/// A call of a no-op tool, with the same access checks and audit entry as any other. It is the baseline for tools.
pub(crate) fn no_op() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "test_simple_text", "arguments": {}}})
}

impl Bench {
    /// Sends `message` to this server.
    pub(crate) fn asked(&self, message: &Value) -> Side<'_> {
        Side { process: &self.process, address: self.address, request: self.request(message) }
    }

    /// Starts a server in `folder` and opens a session in it.
    pub(crate) async fn start_with(binary: &Path, folder: &Path, environment: &[(&str, &str)]) -> Result<Self> {
        let (address, data) = (free_address()?, data(folder));
        std::fs::create_dir_all(&data)?;
        std::fs::write(Path::new(&data).join("toolcrib.toml"), SETTINGS)?;
        let mut process = Process::start_with(binary, &serve_arguments(&address.to_string(), &data), environment)?;
        process.wait_for(address, Instant::now()).await?;
        let file: Value = serde_json::from_slice(&std::fs::read(Path::new(&data).join("server.json"))?)?;
        let admin_key = text(&file, "/key")?;
        let mut connection = Connection::open(address).await?;
        let made = connection.json(&post("/api/orgs", &admin_key, r#"{"name":"bench"}"#), 201).await?;
        let (org, key) = (text(&made, "/org/id")?, text(&made, "/key/fullKey")?);
        let (door, project) = open_project(address, &org, &key, &json!({"name": "bench"})).await?;
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Ok(Self { process, address, admin_key, org, project, key, door, environment })
    }

    /// Creates a project, opens a session in it, and returns its id.
    pub(crate) async fn open_project(&self, project: &Value) -> Result<(Door, String)> {
        open_project(self.address, &self.org, &self.key, project).await
    }

    /// Stops the server, runs `change` on its database, and starts it again.
    pub(crate) async fn restarted_after(
        mut self,
        binary: &Path,
        folder: &Path,
        change: impl AsyncFnOnce(&Path, &str) -> Result<()>,
    ) -> Result<Self> {
        self.process.terminate()?;
        let data = data(folder);
        change(&Path::new(&data).join("toolcrib.db"), &self.org).await?;
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.process = Process::start_with(binary, &serve_arguments(&self.address.to_string(), &data), &environment)?;
        self.process.wait_for(self.address, Instant::now()).await?;
        Ok(self)
    }

    pub(crate) fn request(&self, message: &Value) -> Vec<u8> {
        self.door.request(message)
    }

    /// Creates at least a thousand bricks, so that a list returns one page of many.
    async fn seed_bricks(&self) -> Result<()> {
        let request = self.request(&create_draft("tone is friendly"));
        let each = BRICKS.div_ceil(CONNECTIONS);
        try_join_all((0..CONNECTIONS).map(|_| async {
            let mut connection = Connection::open(self.address).await?;
            for _ in 0..each {
                connection.json(&request, 200).await?;
            }
            anyhow::Ok(())
        }))
        .await?;
        Ok(())
    }
}

async fn open_project(address: SocketAddr, org: &str, key: &str, project: &Value) -> Result<(Door, String)> {
    let mut connection = Connection::open(address).await?;
    let made = connection.json(&post(&format!("/api/org/{org}/projects"), key, &project.to_string()), 201).await?;
    let project = text(&made, "/project/id")?;
    let body = json!({ "projectId": project }).to_string();
    let opened = connection.json(&post(&format!("/api/org/{org}/sessions"), key, &body), 201).await?;
    let bearer = text(&opened, "/mcpConfig/mcpServers/toolcrib/headers/Authorization")?;
    let key = bearer.strip_prefix("Bearer ").context("a bearer key")?.to_owned();
    Ok((Door { path: format!("/api/mcp/{}", text(&opened, "/sessionId")?), key }, project))
}

pub(crate) fn create_draft(name: &str) -> Value {
    let arguments = json!({"name": name, "type": "boolean", "evaluation_prompt": "Is the tone friendly?"});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "bricks.create_draft", "arguments": arguments}})
}

pub(crate) fn text(value: &Value, pointer: &str) -> Result<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned).with_context(|| format!("no {pointer} in {value}"))
}

/// Compares one durable writer with many, which share commits.
async fn writers(bench: &Bench, report: &mut Report) -> Result<()> {
    // Use unique names, because resolving name conflicts is not measured here.
    let written_by = async |writers: usize, round: u32| {
        let name = |number: u64| format!("tone {writers} {round} {number} is friendly");
        let request = |number: u64| Cow::Owned(bench.request(&create_draft(&name(number))));
        anyhow::Ok(load_with(&bench.process, bench.address, writers, WRITING, &request).await?.rate())
    };
    let mut rounds = Vec::new();
    for round in 0..WRITING_ROUNDS {
        rounds.push([written_by(1, round).await?, written_by(WRITERS, round).await?]);
    }
    let (alone, together) =
        (median(rounds.iter().map(|[alone, _]| *alone)), median(rounds.iter().map(|[_, together]| *together)));
    let yardstick = format!("{alone:.0}/s with one writer, {together:.0}/s with {WRITERS}");
    let ratio = median(rounds.iter().map(|[alone, together]| together / alone));
    report.add("speedup by shared commits", ratio, "×", yardstick, Aim::AtLeast(5.0, "≥ 5 ×"));
    Ok(())
}

/// Compares the server with a bare echo server.
struct Echoed<'a> {
    options: &'a DoorsOptions,
    bench: &'a Bench,
    folder: &'a Path,
}

impl Echoed<'_> {
    /// Lets the endpoint and an echo of the same bytes take turns. The result is the ratio of their CPU times.
    async fn door(&self, name: &'static str, message: &Value, report: &mut Report) -> Result<()> {
        let ours = self.bench.asked(message);
        let (echo, bytes) = self.echo_of(&ours).await?;
        let turns = Turns::take(self.options.rounds, &[echo.asked(&ours), ours]).await?;
        let [bare_us, ours_us] = turns.medians();
        let yardstick = format!(
            "{ours_us:.1} µs per request; {bare_us:.1} µs for a bare echo of the same {bytes} bytes; {:.0}/s",
            turns.last_rate()
        );
        report.add(name, turns.median(|[bare, ours]| ours / bare), "×", yardstick, Aim::AtMost(1.5, "≤ 1.5 ×"));
        Ok(())
    }

    /// The same for a tool: first the whole call, then the part of the tool itself. The cost of access checks and the audit entry,
    /// measured as a no-op call minus a ping, is reported alone.
    async fn tool(&self, names: [&'static str; 2], message: &Value, report: &mut Report) -> Result<()> {
        let (bench, tool) = (self.bench, self.bench.asked(message));
        let (echo, bytes) = self.echo_of(&tool).await?;
        let sides = [echo.asked(&tool), bench.asked(&ping()), bench.asked(&no_op()), tool];
        let turns = Turns::take(self.options.rounds, &sides).await?;
        let [whole, own] = names;
        let (bare_us, whole_us) = (turns.median(|[bare, ..]| bare), turns.median(|[.., tool]| tool));
        let record_us = turns.median(|[_, ping, no_op, _]| no_op - ping);
        let own_us = turns.median(|[_, ping, no_op, tool]| tool - no_op + ping);
        let details = format!("{whole_us:.1} µs per request; {bare_us:.1} µs for a bare echo of the same {bytes} bytes");
        report.add(whole, turns.median(|[bare, .., tool]| tool / bare), "×", details, Aim::AtMost(8.0, "≤ 8 ×"));
        let details = "a no-op with access checks and audit entry, less a ping".to_owned();
        report.add("access checks and audit", record_us, "µs", details, Aim::AtMost(80.0, "≤ 80 µs"));
        let details = format!("{own_us:.1} µs per request without access checks and audit; {:.0}/s", turns.last_rate());
        let ratio = turns.median(|[bare, ping, no_op, tool]| (tool - no_op + ping) / bare);
        report.add(own, ratio, "×", details, Aim::AtMost(3.0, "≤ 3 ×"));
        Ok(())
    }

    /// Starts an echo server that returns the same response as `side`. Also returns the response size.
    async fn echo_of(&self, side: &Side<'_>) -> Result<(Echo, usize)> {
        let answer = Connection::open(side.address).await?.exchange(&side.request).await?.body.to_vec();
        let file = self.folder.join("answer.json");
        std::fs::write(&file, &answer)?;
        let (address, path) = (free_address()?, file.display().to_string());
        let arguments = ["bench", "echo", "--listen", &address.to_string(), "--answer", &path];
        let mut process = Process::start(&self.options.binary, &arguments)?;
        process.wait_for(address, Instant::now()).await?;
        Ok((Echo { process, address }, answer.len()))
    }
}

/// A bare echo server.
struct Echo {
    process: Process,
    address: SocketAddr,
}

impl Echo {
    /// Sends the request of `other` to the echo server.
    fn asked(&self, other: &Side<'_>) -> Side<'_> {
        Side { process: &self.process, address: self.address, request: other.request.clone() }
    }
}

/// Compares the same call before and after thousands of orgs are created.
async fn many_orgs(orgs: u32, bench: &Bench, message: &Value, report: &mut Report) -> Result<()> {
    let request = bench.request(message);
    let before = load(&bench.process, bench.address, CONNECTIONS, LOAD, &request).await?;
    let each = orgs.div_ceil(CONNECTIONS as u32);
    try_join_all((0..CONNECTIONS).map(|worker| async move {
        let mut connection = Connection::open(bench.address).await?;
        for number in 0..each {
            let body = json!({"name": format!("org {worker} {number}")}).to_string();
            connection.json(&post("/api/orgs", &bench.admin_key, &body), 201).await?;
        }
        anyhow::Ok(())
    }))
    .await?;
    let after = load(&bench.process, bench.address, CONNECTIONS, LOAD, &request).await?;
    let yardstick = format!("{:.1} µs before and {:.1} µs after, org {}", before.cpu_us(), after.cpu_us(), bench.org);
    report.add("a call with many other orgs", after.cpu_us() / before.cpu_us(), "×", yardstick, Aim::AtMost(1.15, "≤ 1.15 ×"));
    Ok(())
}
