//! `toolcrib memory import`: the lines of a file, a request's worth at a time.

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use base::Timestamp;
use base::limits::IMPORT_LINES_MAX;
use serde_json::{Map, Value, json};

use crate::workplace::Workplace;

/// What a file is called that means stdin.
const STDIN: &str = "-";
/// Text in one request: well below the least that a server takes.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

pub(super) async fn run(place: &Workplace, path: &str, file: &Path) -> Result<()> {
    let text = read(file)?;
    let mut lines = lines(&text)?;
    // An export begins with the newest, and memory begins with the oldest.
    if is_newest_first(&lines) {
        lines.reverse();
    }
    let (mut sent, mut imported, mut duplicates) = (0, 0, 0);
    for request in requests(&lines) {
        let body = json!({ "observations": request });
        let answer = place.api.post(&place.path(path), &body).await.map_err(|error| told(error, sent))?;
        let count = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or(0);
        (imported, duplicates, sent) = (imported + count("imported"), duplicates + count("duplicates"), sent + request.len());
        progress(sent, lines.len());
    }
    let answer = json!({ "imported": imported, "duplicates": duplicates });
    place.print_as(&answer, || format!("imported: {imported} observation(s), {duplicates} were here already"))
}

fn read(file: &Path) -> Result<String> {
    if file != Path::new(STDIN) {
        return std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the observations from stdin")?;
    Ok(text)
}

/// Every line that is not blank, as an object that knows its number. Nothing is sent before all of them could be read.
fn lines(text: &str) -> Result<Vec<Map<String, Value>>> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Value::Object(mut members)) => {
                members.insert("line".to_owned(), json!(number));
                lines.push(members);
            }
            Ok(_) => bail!("line {number} is no JSON object, like {{\"content\": \"what to remember\"}}"),
            Err(error) => {
                bail!("line {number} is no JSON from column {} on: an export has one JSON object a line", error.column())
            }
        }
    }
    Ok(lines)
}

/// Whether every line says when it was said, and none was said after the one before it.
fn is_newest_first(lines: &[Map<String, Value>]) -> bool {
    let said = |line: &Map<String, Value>| line.get("createdAt").and_then(Value::as_str).and_then(Timestamp::parse_rfc3339);
    let times: Option<Vec<Timestamp>> = lines.iter().map(said).collect();
    times.is_some_and(|times| times.is_sorted_by(|newer, older| newer >= older))
}

/// The lines in pieces that a server takes at once.
fn requests(lines: &[Map<String, Value>]) -> Vec<&[Map<String, Value>]> {
    let size = |line: &Map<String, Value>| line.get("content").and_then(Value::as_str).map_or(0, str::len);
    let mut requests = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take(IMPORT_LINES_MAX).take_while(|line| {
            bytes += size(line);
            bytes <= BYTES_AT_ONCE
        });
        let (now, later) = rest.split_at_checked(fits.count().max(1)).unwrap_or((rest, &[]));
        requests.push(now);
        rest = later;
    }
    requests
}

/// A file of several requests may end in the middle: what was sent before is there.
fn told(error: anyhow::Error, sent: usize) -> anyhow::Error {
    match sent {
        0 => error,
        sent => error.context(format!("{sent} line(s) are imported, and skipped when the file is imported again; then")),
    }
}

fn progress(sent: usize, all: usize) {
    if std::io::stderr().is_terminal() && all > IMPORT_LINES_MAX {
        let end = if sent == all { "\r\u{1b}[K".to_owned() } else { String::new() };
        eprint!("\rimporting {sent} of {all}{end}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_objects_and_know_their_number() {
        let read = lines("\n{\"content\": \"a\"}\n  \n{\"content\": \"b\"}\n").unwrap();
        assert_eq!(read.iter().map(|line| line["line"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 4]);
        assert!(lines("").unwrap().is_empty());
        assert!(lines("{}\n[1]").unwrap_err().to_string().starts_with("line 2 is no JSON object"));
        assert!(lines("{}\n\nnote").unwrap_err().to_string().starts_with("line 3 is no JSON from column 2 on"));
    }

    #[test]
    fn an_export_is_turned_round_and_other_files_are_not() {
        let file =
            |times: &[&str]| lines(&times.iter().map(|time| format!("{{\"createdAt\": \"{time}\"}}\n")).collect::<String>());
        let (old, new) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z");
        assert!(is_newest_first(&file(&[new, new, old]).unwrap()));
        assert!(!is_newest_first(&file(&[old, new]).unwrap()));
        assert!(!is_newest_first(&lines("{\"content\": \"a\"}\n{\"content\": \"b\"}").unwrap()));
    }

    #[test]
    fn requests_are_bounded_in_lines_and_in_bytes() {
        let sizes = |text: String| requests(&lines(&text).unwrap()).iter().map(|request| request.len()).collect::<Vec<_>>();
        assert_eq!(sizes("{}\n".repeat(2_500)), [1_000, 1_000, 500]);
        let large = format!("{{\"content\": \"{}\"}}\n", "x".repeat(3 * 1024 * 1024));
        assert_eq!(sizes(format!("{{}}\n{large}{large}{{}}\n")), [2, 2]);
        let huge = format!("{{\"content\": \"{}\"}}\n", "x".repeat(5 * 1024 * 1024));
        assert_eq!(sizes(huge.repeat(2)), [1, 1]);
        assert!(sizes(String::new()).is_empty());
    }
}
