//! `toolcrib audit list --follow`: prints new entries. It asks for the entries after the last sequence number it has seen, oldest
//! first, so that no entry is missed or shown twice. If the connection is lost, it waits for the server and continues there.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::filter::Filter;
use super::trail::{COLUMNS, shorten};
use crate::client::ApiError;
use crate::commands::serve::Signals;
use crate::output;
use crate::workplace::{ClientArgs, Workplace};

/// How long to wait after a request with no new entries, and between attempts to reach a server that is down.
const PAUSE: Duration = Duration::from_secs(1);
/// Entries per request.
const ROWS: u64 = 200;
/// Fixed column widths, because later entries are not known yet.
const WIDTHS: [usize; COLUMNS.len()] = [6, 24, 20, 30, 30, 20, 0];

/// Prints the newest matching entries, oldest first, and then new ones until Ctrl-C.
pub(super) async fn run(client: &ClientArgs, place: &Workplace, filter: &Filter, rows_max: u64) -> Result<()> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = follow(client, place, filter, rows_max) => ended,
        () = signals.wait() => Ok(()),
    }
}

async fn follow(client: &ClientArgs, place: &Workplace, filter: &Filter, rows_max: u64) -> Result<()> {
    let as_json = client.json;
    let trail = place.query("/api/audit");
    // The current end of the trail: older entries are listed, newer ones are followed.
    let newest = place.api.get(&format!("{trail}&limit=1")).await?;
    let mut seen = newest.pointer("/events/0").map_or(0, number);
    let listed = place.api.list(&filter.path(place), "events", rows_max).await?;
    if !as_json {
        output::print(&line(COLUMNS.map(|(title, _)| title.to_owned())))?;
    }
    for entry in events(&listed).iter().rev().filter(|entry| number(entry) <= seen) {
        show(entry, as_json)?;
    }
    let mut place = place.clone();
    loop {
        let answer = match newer(&place, seen).await {
            Err(error) if is_lost(&error) => {
                output::tell(&format!("toolcrib: lost the connection to {}; waiting for the server", place.api.found().url));
                let answer;
                (place, answer) = again(client, seen).await?;
                output::tell(&format!("toolcrib: connected to {}; continuing after entry {seen}", place.api.found().url));
                answer
            }
            answered => answered?,
        };
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

/// The entries after number `seen`.
async fn newer(place: &Workplace, seen: u64) -> Result<Value> {
    let path = place.query("/api/audit/newer");
    place.api.get(&format!("{path}&after={seen}&limit={ROWS}")).await
}

/// Waits until the server answers again, maybe at another address.
async fn again(client: &ClientArgs, seen: u64) -> Result<(Workplace, Value)> {
    loop {
        tokio::time::sleep(PAUSE).await;
        let asked = async {
            let place = client.workplace().await?;
            let answer = newer(&place, seen).await?;
            anyhow::Ok((place, answer))
        };
        match asked.await {
            Err(error) if is_lost(&error) => tracing::debug!("{error:#}"),
            answered => return answered,
        }
    }
}

/// Whether the server did not answer. A refusal, for example of a revoked key, is an answer. A proxy answers for a server that is
/// down.
fn is_lost(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ApiError>().is_none_or(|refusal| matches!(refusal.status.as_u16(), 502..=504))
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
