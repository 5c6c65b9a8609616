//! Output: tables and field lists for people, the API's JSON for programs.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::Value;

/// A column: its title, and the JSON pointer of its value in a row.
pub(crate) type Column = (&'static str, &'static str);

/// Prints `text` and a line break to stdout.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context(Unwritable)
}

/// Prints `text` and a line break to stderr. Unlike `eprintln!`, it does not panic if stderr is closed.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Replaces the terminal's last line with `text`, to show progress. An empty `text` clears the line. Does nothing if stderr is
/// not a terminal.
pub(crate) fn progress(text: &str) {
    let mut terminal = std::io::stderr().lock();
    if terminal.is_terminal() {
        let _ = write!(terminal, "\r\x1b[K{text}").and_then(|()| terminal.flush());
    }
}

/// Whether [`progress`] shows anything.
pub(crate) fn shows_progress() -> bool {
    std::io::stderr().is_terminal()
}

/// Prints indented JSON to stdout.
pub(crate) fn print_json(value: &Value) -> Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Marks errors of writing to stdout, so that a closed pipe can be told apart from other errors.
#[derive(Debug)]
pub(crate) struct Unwritable;

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot write to stdout")
    }
}

/// Error context that sets an exit code other than 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitWith(pub(crate) u8);

impl std::fmt::Display for ExitWith {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}", self.0)
    }
}

impl std::error::Error for ExitWith {}

/// Whether the error only means that the reader of stdout closed it.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let of_stdout = error.downcast_ref::<Unwritable>().is_some();
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    };
    of_stdout && error.chain().any(broken)
}

/// A table with a header line, or the text `empty` if there are no rows.
pub(crate) fn table(rows: &[Value], columns: &[Column], empty: &str) -> String {
    if rows.is_empty() {
        return empty.to_owned();
    }
    let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect::<Vec<_>>();
    let mut lines = vec![titles];
    for row in rows {
        lines.push(columns.iter().map(|(_, pointer)| cell(row.pointer(pointer).unwrap_or(&Value::Null))).collect());
    }
    align(&lines)
}

/// Formats an object as one line per field, including nested fields.
pub(crate) fn facts(value: &Value) -> String {
    let mut lines = Vec::new();
    collect_facts(String::new(), value, &mut lines);
    align(&lines)
}

fn collect_facts(name: String, value: &Value, lines: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let mut members = members.iter().collect::<Vec<_>>();
            members.sort_by_key(|(member, _)| rank(member));
            for (member, value) in members {
                let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                collect_facts(name, value, lines);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                collect_facts(format!("{name}[{index}]"), item, lines);
            }
        }
        _ => lines.push(vec![name, cell(value)]),
    }
}

/// Sorts ids and names first.
fn rank(member: &str) -> usize {
    const FIRST: [&str; 9] = ["org", "id", "agent_id", "brick_id", "kit_id", "sessionId", "name", "brick_name", "slug"];
    FIRST.iter().position(|first| *first == member).unwrap_or(FIRST.len())
}

/// The object inside a wrapper: `{"project": {…}}` gives the project.
pub(crate) fn unwrapped(answer: &Value) -> &Value {
    match answer {
        Value::Object(members) if members.len() == 1 => {
            members.values().next().filter(|value| value.is_object()).unwrap_or(answer)
        }
        _ => answer,
    }
}

/// Formats a value for a table cell.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => sanitized(text, false),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Number(_) | Value::Object(_) => sanitized(&value.to_string(), false),
    }
}

/// Replaces control characters, so that untrusted text cannot control the terminal. `lines` keeps line breaks and tabs.
pub(crate) fn sanitized(text: &str, lines: bool) -> String {
    let keep = |c: char| !c.is_control() || (lines && matches!(c, '\n' | '\t'));
    text.chars().map(|c| if keep(c) { c } else { '\u{fffd}' }).collect()
}

/// Prints untrusted text: sanitized on a terminal, unchanged otherwise.
pub(crate) fn print_untrusted(text: &str) -> Result<()> {
    if std::io::stdout().is_terminal() { print(&sanitized(text, true)) } else { print(text) }
}

/// Quotes a word for the shell if it needs quotes.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Aligns cells in columns, two spaces apart, without trailing spaces.
pub(crate) fn align(lines: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).add_rows(lines);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn table_columns_are_aligned() {
        let rows = [
            json!({"id": "prj_1", "name": "Café", "root": "/srv/cafe", "on": true, "scopes": ["a", "b"]}),
            json!({"id": "prj_22", "name": "x", "root": null, "on": false, "scopes": []}),
        ];
        let columns = [("ID", "/id"), ("NAME", "/name"), ("ON", "/on"), ("ROOT", "/root"), ("SCOPES", "/scopes")];
        expect![[r#"
            ID      NAME  ON   ROOT       SCOPES
            prj_1   Café  yes  /srv/cafe  a, b
            prj_22  x     no   -          -"#]]
        .assert_eq(&table(&rows, &columns, "none"));
        assert_eq!(table(&[], &columns, "no projects"), "no projects");
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        let lines = [["日本", "one"], ["abc", "two"]].map(|line| line.map(str::to_owned).to_vec());
        assert_eq!(align(&lines), "日本  one\nabc   two");
    }

    #[test]
    fn long_text_is_not_truncated() {
        let text = "x".repeat(200_000);
        let shown = facts(&json!({"id": "obs_1", "content": text}));
        assert_eq!(shown.matches('x').count(), text.len());
    }

    #[test]
    fn nested_fields_are_listed() {
        let org = json!({"org": {"id": "org_1", "plan": {"kg_enabled": true}, "keys": [{"id": "key_1"}]}});
        expect![[r#"
            id               org_1
            plan.kg_enabled  yes
            keys[0].id       key_1"#]]
        .assert_eq(&facts(unwrapped(&org)));
    }

    #[test]
    fn words_with_special_characters_are_quoted() {
        assert_eq!((quoted("/srv/a-b"), quoted("/srv/a b")), ("/srv/a-b".into(), "'/srv/a b'".into()));
        assert_eq!((quoted("it's"), quoted("")), (r"'it'\''s'".into(), "''".into()));
    }

    #[test]
    fn control_characters_are_replaced() {
        let rows = [json!({"name": "a\u{1b}[2Jb\nc"})];
        assert_eq!(table(&rows, &[("NAME", "/name")], ""), "NAME\na\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(sanitized("a\n\tb\u{7}", true), "a\n\tb\u{fffd}");
    }
}
