//! `toolcrib audit list --follow`: new entries as they come. The trail is asked for what comes after the last number that was
//! seen, oldest first, so no entry is missed and none is shown twice.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::filter::Filter;
use super::trail::{COLUMNS, shorten};
use crate::commands::serve::Signals;
use crate::output;
use crate::workplace::Workplace;

/// How long to wait when nothing new was there.
const PAUSE: Duration = Duration::from_secs(1);
/// Entries asked for at a time.
const ROWS: u64 = 200;
/// How wide each column is: what comes later is not known yet, so the lines cannot be aligned to it.
const WIDTHS: [usize; COLUMNS.len()] = [6, 24, 20, 30, 30, 20, 0];

/// Shows the newest entries that pass the filter, oldest first, and then those that come, until Ctrl-C.
pub(super) async fn run(place: &Workplace, filter: &Filter, rows_max: u64, as_json: bool) -> Result<()> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = follow(place, filter, rows_max, as_json) => ended,
        () = signals.wait() => Ok(()),
    }
}

async fn follow(place: &Workplace, filter: &Filter, rows_max: u64, as_json: bool) -> Result<()> {
    let trail = place.query("/api/audit");
    // Where the trail ends now: what is older is listed, what is newer is followed.
    let newest = place.api.get(&format!("{trail}&limit=1")).await?;
    let mut seen = newest.pointer("/events/0").map_or(0, number);
    let listed = place.api.list(&filter.path(place), "events", rows_max).await?;
    if !as_json {
        output::print(&line(COLUMNS.map(|(title, _)| title.to_owned())))?;
    }
    for entry in events(&listed).iter().rev().filter(|entry| number(entry) <= seen) {
        show(entry, as_json)?;
    }
    loop {
        let newer = place.query("/api/audit/newer");
        let answer = place.api.get(&format!("{newer}&after={seen}&limit={ROWS}")).await?;
        for entry in events(&answer) {
            seen = seen.max(number(entry));
            if filter.passes(entry) {
                show(entry, as_json)?;
            }
        }
        if events(&answer).is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn events(answer: &Value) -> &[Value] {
    answer.get("events").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn number(entry: &Value) -> u64 {
    entry.get("sequenceNumber").and_then(Value::as_u64).unwrap_or(0)
}

/// Prints an entry on one line.
fn show(entry: &Value, as_json: bool) -> Result<()> {
    if as_json {
        return output::print(&entry.to_string());
    }
    let mut entry = entry.clone();
    shorten(&mut entry);
    output::print(&line(COLUMNS.map(|(_, pointer)| output::cell(entry.pointer(pointer).unwrap_or(&Value::Null)))))
}

fn line(cells: [String; COLUMNS.len()]) -> String {
    let cells = cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{cell:width$}")).collect::<Vec<_>>();
    cells.join("  ").trim_end().to_owned()
}
