//! `toolcrib memory import`: imports a JSONL file in batches.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use base::Timestamp;
use base::limits::IMPORT_LINES_MAX;
use serde_json::{Map, Value, json};

use crate::output;
use crate::workplace::Workplace;

/// The file name that means stdin.
const STDIN: &str = "-";
/// Maximum text per request, well below the server's default body limit.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

pub(super) async fn run(place: &Workplace, path: &str, file: &Path) -> Result<()> {
    let text = read(file)?;
    let mut lines = lines(&text)?;
    // An export lists the newest first, but observations must be imported oldest first.
    if is_newest_first(&lines) {
        lines.reverse();
    }
    let (mut sent, mut imported, mut duplicates) = (0, 0, 0);
    for request in requests(&lines) {
        let body = json!({ "observations": request });
        let answer = place.api.post(&place.path(path), &body).await.map_err(|error| with_progress(error, sent))?;
        let count = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or(0);
        (imported, duplicates, sent) = (imported + count("imported"), duplicates + count("duplicates"), sent + request.len());
        progress(sent, lines.len());
    }
    let answer = json!({ "imported": imported, "duplicates": duplicates });
    place.print_as(&answer, || format!("imported {imported} observation(s), skipped {duplicates} that already exist"))
}

fn read(file: &Path) -> Result<String> {
    if file != Path::new(STDIN) {
        return std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the observations from stdin")?;
    Ok(text)
}

/// Parses every line that is not blank, and adds its line number. Nothing is sent if a line is invalid.
fn lines(text: &str) -> Result<Vec<Map<String, Value>>> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Value::Object(mut members)) => {
                members.insert("line".to_owned(), json!(number));
                lines.push(members);
            }
            Ok(_) => bail!("line {number} is not a JSON object like {{\"content\": \"what to remember\"}}"),
            Err(error) => {
                bail!("line {number} is not valid JSON at column {}; each line must be one JSON object", error.column())
            }
        }
    }
    Ok(lines)
}

/// Whether every line has a creation time and the times never increase.
fn is_newest_first(lines: &[Map<String, Value>]) -> bool {
    let time = |line: &Map<String, Value>| line.get("createdAt").and_then(Value::as_str).and_then(Timestamp::parse_rfc3339);
    let times: Option<Vec<Timestamp>> = lines.iter().map(time).collect();
    times.is_some_and(|times| times.is_sorted_by(|newer, older| newer >= older))
}

/// Splits the lines into batches that the server accepts.
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

/// Adds how many lines were imported before the error.
fn with_progress(error: anyhow::Error, sent: usize) -> anyhow::Error {
    match sent {
        0 => error,
        sent => error.context(format!("failed after {sent} line(s); importing the file again skips them")),
    }
}

fn progress(sent: usize, all: usize) {
    if all > IMPORT_LINES_MAX {
        output::progress(&if sent == all { String::new() } else { format!("importing {sent} of {all}") });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_get_their_line_number() {
        let read = lines("\n{\"content\": \"a\"}\n  \n{\"content\": \"b\"}\n").unwrap();
        assert_eq!(read.iter().map(|line| line["line"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 4]);
        assert!(lines("").unwrap().is_empty());
        assert!(lines("{}\n[1]").unwrap_err().to_string().starts_with("line 2 is not a JSON object"));
        assert!(lines("{}\n\nnote").unwrap_err().to_string().starts_with("line 3 is not valid JSON at column 2"));
    }

    #[test]
    fn only_newest_first_files_are_detected() {
        let file =
            |times: &[&str]| lines(&times.iter().map(|time| format!("{{\"createdAt\": \"{time}\"}}\n")).collect::<String>());
        let (old, new) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z");
        assert!(is_newest_first(&file(&[new, new, old]).unwrap()));
        assert!(!is_newest_first(&file(&[old, new]).unwrap()));
        assert!(!is_newest_first(&lines("{\"content\": \"a\"}\n{\"content\": \"b\"}").unwrap()));
    }

    #[test]
    fn requests_are_limited_in_lines_and_bytes() {
        let sizes = |text: String| requests(&lines(&text).unwrap()).iter().map(|request| request.len()).collect::<Vec<_>>();
        assert_eq!(sizes("{}\n".repeat(2_500)), [1_000, 1_000, 500]);
        let large = format!("{{\"content\": \"{}\"}}\n", "x".repeat(3 * 1024 * 1024));
        assert_eq!(sizes(format!("{{}}\n{large}{large}{{}}\n")), [2, 2]);
        let huge = format!("{{\"content\": \"{}\"}}\n", "x".repeat(5 * 1024 * 1024));
        assert_eq!(sizes(huge.repeat(2)), [1, 1]);
        assert!(sizes(String::new()).is_empty());
    }
}
