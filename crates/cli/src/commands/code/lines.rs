//! Files, diffs and authors as lines of text.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::output;
use crate::workplace::Workplace;

/// The width of a name in front of a line.
const NAME_CHARS: usize = 20;
/// The length of the date in a time.
const DATE_CHARS: usize = 10;

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn rows<'v>(answer: &'v Value, member: &str) -> &'v [Value] {
    answer.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Prints the text of a file, without adding a line break to it.
pub(super) fn show(place: &Workplace, file: &Value) -> Result<()> {
    if place.is_json() {
        return place.print(file);
    }
    match file.get("content").and_then(Value::as_str) {
        Some(content) => output::print_untrusted(content.strip_suffix('\n').unwrap_or(content)),
        None => {
            let why = match text(file, "state") {
                "binary" => "it is not text",
                "too_large" => "it is too large",
                "not_kept" => "the history does not have the content of this version",
                _ => "it is not a plain file",
            };
            bail!("cannot print `{}`: {why}", text(file, "path"))
        }
    }
}

/// Prints changes with their diffs.
pub(super) fn diffs(place: &Workplace, answer: &Value) -> Result<()> {
    if place.is_json() {
        return place.print(answer);
    }
    let changes = rows(answer, "changes");
    if changes.is_empty() {
        return output::print("no changes");
    }
    for change in changes {
        let heading = [("change", "changeType"), ("file", "entity"), ("by", "agentId"), ("at", "at"), ("reason", "reason")];
        let line = |(name, member): (&str, &str)| {
            Some(format!("{name:7} {}", output::cell(change.get(member).filter(|value| !value.is_null())?)))
        };
        let heading = heading.into_iter().filter_map(line).collect::<Vec<_>>().join("\n");
        output::print_untrusted(&format!("{heading}\n\n{}", text(change, "diff")))?;
    }
    if answer.get("nextCursor").is_some_and(Value::is_string) {
        output::tell("more rows exist; raise --limit to see them");
    }
    Ok(())
}

/// Prints each line of a file with its author.
pub(super) fn blame(place: &Workplace, answer: &Value, file: &Value) -> Result<()> {
    if place.is_json() {
        return place.print(answer);
    }
    output::print_untrusted(&blamed(rows(answer, "lines"), text(file, "content")))?;
    if answer.get("partial") == Some(&Value::Bool(true)) {
        output::tell("some lines may be older than shown, or have an unknown author");
    }
    Ok(())
}

/// The lines of `content`, each with the date, the author and the source of the change that brought it.
fn blamed(spans: &[Value], content: &str) -> String {
    let mut shown = Vec::new();
    for (line, number) in content.lines().zip(1_u64..) {
        let has = |span: &&Value| {
            let count = |member: &str| span.get(member).and_then(Value::as_u64).unwrap_or(0);
            (count("startLine")..count("startLine") + count("lines")).contains(&number)
        };
        let span = spans.iter().find(has).unwrap_or(&Value::Null);
        let name: String = text(span, "agentId").chars().take(NAME_CHARS).collect();
        let date: String = text(span, "at").chars().take(DATE_CHARS).collect();
        let source = text(span, "source");
        shown.push(format!("{date:DATE_CHARS$}  {name:NAME_CHARS$}  {source:8}  {number:>5}  {line}"));
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_line_has_its_author() {
        let spans = [
            json!({"startLine": 1, "lines": 2, "source": "toolcrib", "agentId": "label:builder", "at": "2026-11-01T10:00:00.000Z"}),
            json!({"startLine": 4, "lines": 1, "source": "disk", "agentId": "disk", "at": null}),
        ];
        let shown = blamed(&spans, "one\ntwo\nthree\nfour\n");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "2026-11-01  label:builder         toolcrib      1  one");
        assert_eq!(lines[2].trim_start(), "3  three");
        assert!(lines[3].contains("disk") && lines[3].ends_with("4  four"));
    }
}
