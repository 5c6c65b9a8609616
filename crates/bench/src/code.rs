//! `toolcrib bench code`: indexes a generated repository, and measures the tools on it (`code_calls`, `code_search`).
//!
//! One server gets an embedding endpoint that does not answer, so that nothing is embedded while structure, memory and single calls are
//! measured. Another one has the bundled model. The baseline of an index is a bare parse of the same files on as many threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use syntax::{Bounds, Language};
use tempfile::TempDir;

use crate::code_repository::Repository;
use crate::connection::Connection;
use crate::doors::{Bench, Door};
use crate::report::{Aim, Report};
use crate::{code_calls, code_engine, code_search};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct CodeOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Source files of the repository.
    pub files: usize,
    /// Calls per result.
    pub rounds: u32,
}

/// How long an index may take.
const INDEX_LIMIT: Duration = Duration::from_secs(900);
/// How often to ask whether the index is complete. An answer costs the server little, but not nothing.
const LOOK: Duration = Duration::from_millis(20);
/// Files that have just changed are read again after a restart, so a restart waits until they are older.
const OLD_ENOUGH: Duration = Duration::from_secs(3);
/// How long a server rests before its memory is read.
const REST: Duration = Duration::from_secs(2);
/// The server's own limits: the threads that parse, and one parse.
const THREADS_MAX: usize = 8;
const BOUNDS: Bounds = Bounds { bytes_max: 1024 * 1024, parse_ms_max: 2_000, items_max: 20_000, text_chars_max: 400 };
/// Edges of the graph without a server. Small runs have fewer.
const EDGES_MAX: usize = 1_000_000;
const EDGES_PER_FILE: usize = 1_000;

/// An endpoint that refuses connections, and the no-op tool.
const WITHOUT_VECTORS: [(&str, &str); 4] = [
    ("TOOLCRIB_CONFORMANCE", "1"),
    ("TOOLCRIB_EMBED_URL", "http://127.0.0.1:9/v1"),
    ("TOOLCRIB_EMBED_MODEL", "none"),
    ("TOOLCRIB_EMBED_DIMENSION", "384"),
];
const WITH_VECTORS: [(&str, &str); 1] = [("TOOLCRIB_CONFORMANCE", "1")];

/// Runs every measurement.
pub async fn code(options: &CodeOptions) -> Result<Report> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let source = folder.path().join("repository");
    let repository = Repository::write(&source, options.files)?;
    let mut report = Report::default();
    structure(options, folder.path(), &source, &repository, &mut report).await?;
    code_search::measure(options, folder.path(), &source, &repository, &mut report).await?;
    let (edges, rounds) = ((options.files * EDGES_PER_FILE).min(EDGES_MAX), options.rounds as usize);
    let engine = tokio::task::spawn_blocking(move || code_engine::measure(edges, rounds)).await??;
    report.figures.extend(engine.figures);
    Ok(report)
}

/// Starts a server in its own folder below `folder`.
pub(crate) async fn start(options: &CodeOptions, folder: &Path, has_vectors: bool) -> Result<Bench> {
    let environment: &[(&str, &str)] = if has_vectors { &WITH_VECTORS } else { &WITHOUT_VECTORS };
    Bench::start_with(&options.binary, folder, environment).await
}

/// Opens a session in a new project with a root.
pub(crate) async fn open(bench: &Bench, root: &Path) -> Result<Door> {
    let project = json!({"name": root.file_name().and_then(|name| name.to_str()), "root": root});
    Ok(bench.open_project(&project).await?.0)
}

pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The coverage of a project, according to `get_context`.
pub(crate) async fn coverage(connection: &mut Connection, door: &Door) -> Result<Value> {
    let answer = connection.json(&door.request(&call("get_context", json!({"context_types": ["project"]}))), 200).await?;
    let coverage = answer.pointer("/result/structuredContent/project/coverage").cloned();
    coverage.with_context(|| format!("no coverage: {answer}"))
}

/// A number of a coverage.
pub(crate) fn count(coverage: &Value, name: &str) -> u64 {
    coverage.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Asks until the index is complete.
pub(crate) async fn complete(bench: &Bench, door: &Door) -> Result<Value> {
    let (began, mut connection) = (Instant::now(), Connection::open(bench.address).await?);
    while began.elapsed() < INDEX_LIMIT {
        let coverage = coverage(&mut connection, door).await?;
        if coverage.get("complete") == Some(&json!(true)) {
            return Ok(coverage);
        }
        tokio::time::sleep(LOOK).await;
    }
    bail!("the index is not complete after {INDEX_LIMIT:?}")
}

/// Everything that needs no vectors.
async fn structure(options: &CodeOptions, folder: &Path, source: &Path, made: &Repository, report: &mut Report) -> Result<()> {
    let folder = folder.join("without-vectors");
    let bench = start(options, &folder, false).await?;
    tokio::time::sleep(OLD_ENOUGH).await;
    let without = bench.process.resident_bytes()? as f64;
    let door = open(&bench, source).await?;
    first_index(&bench, &door, source, made, ["first index", "files indexed per second"], report).await?;
    tokio::time::sleep(REST).await;
    let with = bench.process.resident_bytes()? as f64;

    let mut began = Instant::now();
    let note_start = async |_: &Path, _: &str| {
        began = Instant::now();
        Ok(())
    };
    let bench = bench.restarted_after(&options.binary, &folder, note_start).await?;
    let started = began.elapsed().as_secs_f64();
    let seen = complete(&bench, &door).await?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(count(&seen, "indexed") >= made.paths.len() as u64, "files are missing: {seen}");
    let details = format!("unchanged repository, from the start of the process; it answers after {started:.2} s");
    report.add("second start until complete", seconds, "s", details, Aim::AtMost(1.0, "≤ 1 s"));
    tokio::time::sleep(REST).await;
    let again = bench.process.resident_bytes()? as f64;

    let each = |bytes: f64| (bytes - without) / made.files as f64 / 1e3;
    let details = format!(
        "resident: {:.0} MB without the project, {:.0} MB after its index, {:.0} MB after a second start ({:.1} KB per file); words \
         included, no vectors",
        without / 1e6,
        with / 1e6,
        again / 1e6,
        each(again)
    );
    report.add("memory per file", each(with), "KB", details, Aim::AtMost(4.0, "≤ 4 KB"));
    code_calls::measure(&bench, &door, source, made, options.rounds, report).await
}

/// Measures the first index, between two runs of the baseline.
pub(crate) async fn first_index(
    bench: &Bench,
    door: &Door,
    source: &Path,
    made: &Repository,
    [name, rate_name]: [&'static str; 2],
    report: &mut Report,
) -> Result<()> {
    let before = bare_parse(source, made).await?;
    let (began, cpu) = (Instant::now(), bench.process.whole_cpu()?);
    let seen = complete(bench, door).await?;
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), bench.process.whole_cpu()?.saturating_sub(cpu).as_secs_f64());
    ensure!(count(&seen, "indexed") >= made.paths.len() as u64 && count(&seen, "failed") == 0, "files are missing: {seen}");
    let after = bare_parse(source, made).await?;
    let bare = (before + after) / 2.0;
    let details = format!(
        "{seconds:.2} s, {cpu:.2} s of processor time; bare parse on {} threads: {before:.2} s before and {after:.2} s after; {} passages",
        threads(),
        count(&seen, "passages"),
    );
    report.add(name, seconds / bare, "×", details, Aim::AtMost(1.5, "≤ 1.5 ×"));
    let details = format!("{} files, {} lines; bare parse: {:.0}/s", made.files, made.lines, made.files as f64 / bare);
    // A target in files per second would be one for the machine.
    report.add(rate_name, made.files as f64 / seconds, "/s", details, Aim::AtLeast(0.0, "none"));
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX)
}

/// The seconds to read and outline all files, as the server does it, and to do nothing else.
async fn bare_parse(source: &Path, made: &Repository) -> Result<f64> {
    let paths: Vec<PathBuf> = made.paths.iter().map(|path| source.join(path)).collect();
    let parsed = tokio::task::spawn_blocking(move || {
        let (began, next, parsed) = (Instant::now(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..threads() {
                scope.spawn(|| {
                    while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let Ok(text) = std::fs::read_to_string(path) else { continue };
                        let language = path.to_str().and_then(|path| Language::of(path, &text));
                        let outline = language.and_then(|language| syntax::outline(language, &text, &BOUNDS).ok());
                        parsed.fetch_add(usize::from(outline.is_some()), Ordering::Relaxed);
                    }
                });
            }
        });
        (began.elapsed().as_secs_f64(), parsed.into_inner(), paths.len())
    });
    let (seconds, parsed, all) = parsed.await?;
    ensure!(parsed == all, "{parsed} of {all} files were parsed");
    Ok(seconds)
}
