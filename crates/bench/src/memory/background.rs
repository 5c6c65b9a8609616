//! Measures embedding in the background: how fast it is on idle processors, and how much it slows questions down.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use search::embed::MiniLm;
use serde_json::{Value, json};

use super::{ask_all, waiting};
use crate::connection::{Connection, post};
use crate::doors::Bench;
use crate::report::{Aim, Report};
use crate::words::Words;

/// Texts to import at once.
const TEXTS: usize = 1_000;
/// Texts of the bare forward pass.
const BARE_TEXTS: usize = 300;
const LIMIT: Duration = Duration::from_secs(300);

/// Imports texts, asks while they are embedded, and measures the rest without questions. `idle` is the time of a question while
/// nothing is embedded.
pub(super) async fn measure(bench: &Bench, words: &mut Words, questions: usize, idle: f64, report: &mut Report) -> Result<()> {
    let notes: Vec<String> = (0..TEXTS).map(|number| words.note(2_000_000 + number)).collect();
    let bare = bare(&notes)?;
    let mut connection = Connection::open(bench.address).await?;
    let lines: Vec<Value> = notes.iter().map(|note| json!({ "content": note })).collect();
    let body = json!({ "observations": lines }).to_string();
    let path = format!("/api/org/{}/projects/{}/memory/import", bench.org, bench.project);
    connection.json(&post(&path, &bench.key, &body), 200).await?;
    let began = Instant::now();
    while waiting(&mut connection).await? == 0.0 {
        ensure!(began.elapsed() < LIMIT, "no text is embedded after {LIMIT:?}");
    }

    // Questions that nobody has asked yet.
    let asked: Vec<String> = (questions..questions * 2).map(Words::question).collect();
    let busy = ask_all(bench, &asked).await?;
    let left = waiting(&mut connection).await?;
    ensure!(left > 0.0, "all texts were embedded before the last question; ask fewer questions");
    let details =
        format!("{:.1} ms at P50 and {:.1} ms at P99, compared with {idle:.1} ms; {left} texts were left", busy.p50, busy.p99);
    report.add("recall while texts are embedded", busy.p50 / idle, "×", details, Aim::AtMost(1.2, "≤ 1.2 ×"));

    let began = Instant::now();
    let left = waiting(&mut connection).await?;
    let mut rest = left;
    // The number is updated after each batch. The last batches are left out, because they do not use every processor.
    while rest > left / 5.0 {
        ensure!(began.elapsed() < LIMIT, "{rest} texts are still waiting after {LIMIT:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
        rest = waiting(&mut connection).await?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let rate = (left - rest) / seconds;
    let details = format!("{rate:.0} texts/s on {cores} cores; {bare:.0} texts/s by a bare forward pass on one");
    report.add("background embedding per core", rate / cores / bare, "×", details, Aim::AtLeast(0.7, "≥ 0.7 ×"));
    super::caught_up(bench).await
}

/// Texts per second of the model alone, on one thread.
fn bare(notes: &[String]) -> Result<f64> {
    let model = MiniLm::bundled()?;
    let notes = || notes.iter().take(BARE_TEXTS);
    notes().for_each(|note| drop(model.vector(note)));
    let began = Instant::now();
    notes().for_each(|note| drop(model.vector(note)));
    Ok(notes().count() as f64 / began.elapsed().as_secs_f64())
}
