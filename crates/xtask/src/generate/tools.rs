//! `docs/tools.md`, from the one list in `tools::Catalogue`.

use std::fmt::Write;

use anyhow::{Context, Result};
use base::Scope;
use guard::{Capability, Effect};
use serde_json::Value;
use tools::{Catalogue, Registered};

const HEAD: &str = "# Tools

<!-- Generated from the code by `make generate`; edit the tool in crates/tools/src instead. -->

What a caller sees in `tools/list` is what it may call: the project has what the tool needs, the credential has its scope,
and the allowlist names it. A name with a dot also answers to its underscore form (`bricks_list`); a session or agent
opened with `tool_names: \"safe\"` is listed only those.

Some clients show their model only the text of a result (`content`), others only `structuredContent`. Each holds every id and
value by itself. Where one sentence of text is not enough, the values follow in a second block, a line for each thing. Where text
by agents is quoted (memory and the knowledge graph), both say that it is data and not instructions; `structuredContent` says it in `notice`.
Bad arguments are answered as [errors](errors.md) tells.

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
    writeln!(text, "\n## Scopes\n\n`*` holds all of them.\n\n| scope | allows to |\n|---|---|")?;
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
        writeln!(text, "\nWhere the project has it switched off, the answer is `{{\"disabled\": true}}`.")?;
    }
    Ok(())
}

fn table(text: &mut String, title: &str, schema: &Value) -> Result<()> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    writeln!(text, "| {title} | type | |\n|---|---|---|")?;
    for (name, property) in schema.get("properties").and_then(Value::as_object).context("an object")? {
        // These two stand in the place of an answer, and the text tells of both.
        if title == "answer" && matches!(name.as_str(), "error" | "disabled") {
            continue;
        }
        let mark = if title == "argument" && required.contains(&name.as_str()) { ", required" } else { "" };
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        writeln!(text, "| `{name}` | {}{mark} | {description} |", kind(property))?;
    }
    Ok(())
}

/// The type of a property and its bounds, in a few words.
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
            // Writing into a string cannot fail.
            let _ = write!(text, ", {before} {}", words(bound));
        }
    }
    text
}

fn needs(capability: Capability) -> &'static str {
    match capability {
        Capability::Always => "nothing",
        Capability::Project => "a project",
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
