//! Generates `docs/tools.md` from the list in `tools::Catalogue`.

use std::fmt::Write;

use anyhow::{Context, Result};
use base::Scope;
use guard::{Capability, Effect};
use serde_json::Value;
use tools::{Catalogue, Registered};

const HEAD: &str = "# Tools

<!-- Generated from the code by `make generate`; edit the tool in crates/tools/src instead. -->

`tools/list` shows exactly the tools that the caller can call: the project has the capability that the tool needs, the credential has its
scope, the allowlist contains it, and [policy](policy.md) permits it. A name with a dot also works with an underscore (`bricks_list`). For a
session or agent with `tool_names: \"safe\"`, `tools/list` shows only names without dots.

Some clients show their model only the text of a result (`content`), others only `structuredContent`. Each of them contains every id and
value. Where one sentence is not enough, a second text block lists the values, one line per item. Where a result quotes text written by
agents (memory and the knowledge graph), both say that it is data, not instructions; `structuredContent` says so in `notice`.

[Errors](errors.md) describes the answer to invalid arguments.

";

pub(super) fn reference() -> Result<String> {
    let catalogue = Catalogue::builtin()?;
    let mut text = HEAD.to_owned();
    writeln!(text, "| tool | scope | needs | effect |\n|---|---|---|---|")?;
    for tool in catalogue.tools() {
        let spec = tool.spec();
        let anchor = spec.name.replace('.', "");
        let (needs, effect) = (needs(spec.needs), effect(spec.effect));
        writeln!(text, "| [`{}`](#{anchor}) | `{}` | {needs} | {effect} |", spec.name, spec.scope)?;
    }
    for tool in catalogue.tools() {
        section(&mut text, tool)?;
    }
    writeln!(text, "\n## Scopes\n\n`*` includes all of them.\n\n| scope | allows you to |\n|---|---|")?;
    for scope in Scope::ALL {
        writeln!(text, "| `{scope}` | {} |", scope.meaning())?;
    }
    Ok(text)
}

fn section(text: &mut String, tool: &Registered) -> Result<()> {
    let spec = tool.spec();
    writeln!(text, "\n## {}\n\n{}\n", spec.name, spec.description)?;
    table(text, "argument", tool.input_schema())?;
    writeln!(text)?;
    let answer = tool.output_schema().context("our own tools describe their output")?;
    table(text, "answer", answer)?;
    if answer.pointer("/properties/disabled").is_some() {
        writeln!(text, "\nIf it is switched off for the project, the answer is `{{\"disabled\": true}}`.")?;
    }
    Ok(())
}

fn table(text: &mut String, title: &str, schema: &Value) -> Result<()> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    writeln!(text, "| {title} | type | |\n|---|---|---|")?;
    for (name, property) in schema.get("properties").and_then(Value::as_object).context("an object")? {
        // These two replace the normal answer, and the text describes both.
        if title == "answer" && matches!(name.as_str(), "error" | "disabled") {
            continue;
        }
        let mark = if title == "argument" && required.contains(&name.as_str()) { ", required" } else { "" };
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        writeln!(text, "| `{name}` | {}{mark} | {description} |", kind(property))?;
    }
    Ok(())
}

/// Describes the type of a property and its bounds.
fn kind(property: &Value) -> String {
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let types = property.get("anyOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = match (property.get("enum"), property.get("type")) {
        (Some(Value::Array(variants)), _) => variants.iter().map(words).collect::<Vec<_>>().join(" \\| "),
        (_, Some(name)) => words(name),
        (_, None) if !types.is_empty() => types.iter().map(kind).collect::<Vec<_>>().join(" or "),
        (_, None) => "any".to_owned(),
    };
    for (keyword, before) in
        [("minimum", "≥"), ("maximum", "≤"), ("maxLength", "characters ≤"), ("minItems", "items ≥"), ("maxItems", "items ≤")]
    {
        if let Some(bound) = property.get(keyword) {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {before} {}", words(bound));
        }
    }
    text
}

fn needs(capability: Capability) -> &'static str {
    match capability {
        Capability::Always => "nothing",
        Capability::Project => "a project",
        Capability::Code => "a project with code",
        Capability::Memory => "memory on",
        Capability::Graph => "memory and graph on",
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "reads",
        Effect::Additive => "adds",
        Effect::Destructive => "changes",
    }
}
