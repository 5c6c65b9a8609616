//! What is printed on stdout: tables and facts for people, the API's own JSON for programs.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use serde_json::Value;

/// A column: its title, and where its value stands in a row (a JSON pointer).
pub(crate) type Column = (&'static str, &'static str);

/// Writes `text` and a line break.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context(Unwritable)
}

/// Writes `text` and a line break to stderr. When nobody reads it, there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes JSON in a form that people can read too.
pub(crate) fn print_json(value: &Value) -> Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Stdout was closed: whoever read it has seen enough, so that is nobody's error.
#[derive(Debug)]
pub(crate) struct Unwritable;

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot write to stdout")
    }
}

/// Whether an error only says that the reader of our stdout went away.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let of_stdout = error.downcast_ref::<Unwritable>().is_some();
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    };
    of_stdout && error.chain().any(broken)
}

/// A table with a line of titles; `nothing` when there are no rows.
pub(crate) fn table(rows: &[Value], columns: &[Column], nothing: &str) -> String {
    if rows.is_empty() {
        return nothing.to_owned();
    }
    let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect::<Vec<_>>();
    let mut lines = vec![titles];
    for row in rows {
        lines.push(columns.iter().map(|(_, pointer)| cell(row.pointer(pointer).unwrap_or(&Value::Null))).collect());
    }
    align(&lines)
}

/// An object, a line for each member, those inside members too.
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

/// What a thing is comes before what else there is to say about it.
fn rank(member: &str) -> usize {
    const FIRST: [&str; 9] = ["org", "id", "agent_id", "brick_id", "kit_id", "sessionId", "name", "brick_name", "slug"];
    FIRST.iter().position(|first| *first == member).unwrap_or(FIRST.len())
}

/// What an answer wraps: `{"project": {…}}` is about the project.
pub(crate) fn unwrapped(answer: &Value) -> &Value {
    match answer {
        Value::Object(members) if members.len() == 1 => {
            members.values().next().filter(|value| value.is_object()).unwrap_or(answer)
        }
        _ => answer,
    }
}

/// A value in a table.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => harmless(text, false),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Number(_) | Value::Object(_) => harmless(&value.to_string(), false),
    }
}

/// Text from elsewhere without what would steer the terminal. `lines` keeps line breaks and tabs.
pub(crate) fn harmless(text: &str, lines: bool) -> String {
    let keep = |c: char| !c.is_control() || (lines && matches!(c, '\n' | '\t'));
    text.chars().map(|c| if keep(c) { c } else { '\u{fffd}' }).collect()
}

/// The text of a tool: as it is for a program, harmless for a terminal.
pub(crate) fn print_foreign(text: &str) -> Result<()> {
    if std::io::stdout().is_terminal() { print(&harmless(text, true)) } else { print(text) }
}

/// A word as a shell takes it: in quotes where it needs them.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Cells under one another, two spaces between columns, none at the end of a line.
pub(crate) fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths = (0..columns).map(|column| width(column).unwrap_or(0)).collect::<Vec<_>>();
    let padded = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect::<Vec<_>>();
        cells.join("  ").trim_end().to_owned()
    };
    lines.iter().map(padded).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn tables_line_up() {
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
    fn facts_reach_into_members() {
        let org = json!({"org": {"id": "org_1", "plan": {"kg_enabled": true}, "keys": [{"id": "key_1"}]}});
        expect![[r#"
            id               org_1
            plan.kg_enabled  yes
            keys[0].id       key_1"#]]
        .assert_eq(&facts(unwrapped(&org)));
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!((quoted("/srv/a-b"), quoted("/srv/a b")), ("/srv/a-b".into(), "'/srv/a b'".into()));
        assert_eq!((quoted("it's"), quoted("")), (r"'it'\''s'".into(), "''".into()));
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        let rows = [json!({"name": "a\u{1b}[2Jb\nc"})];
        assert_eq!(table(&rows, &[("NAME", "/name")], ""), "NAME\na\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(harmless("a\n\tb\u{7}", true), "a\n\tb\u{fffd}");
    }
}
