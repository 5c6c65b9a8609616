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
    // What may be switched off has two answers, and the first is the one that is worth a table.
    let switched_on = answer.pointer("/anyOf/0");
    table(text, "answer", switched_on.unwrap_or(answer))?;
    if switched_on.is_some() {
        writeln!(text, "\nWhere the project has it switched off, the answer is `{{\"disabled\": true}}`.")?;
    }
    Ok(())
}

fn table(text: &mut String, title: &str, schema: &Value) -> Result<()> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    writeln!(text, "| {title} | type | |\n|---|---|---|")?;
    for (name, property) in schema.get("properties").and_then(Value::as_object).context("an object")? {
        let mark = if title == "argument" && required.contains(&name.as_str()) { ", required" } else { "" };
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        writeln!(text, "| `{name}` | {}{mark} | {description} |", kind(property))?;
    }
    Ok(())
}

/// The type of a property and its bounds, in a few words.
fn kind(property: &Value) -> String {
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut text = match (property.get("enum"), property.get("type")) {
        (Some(Value::Array(variants)), _) => variants.iter().map(words).collect::<Vec<_>>().join(" \\| "),
        (_, Some(Value::Array(types))) => types.iter().map(words).collect::<Vec<_>>().join(" or "),
        (_, Some(name)) => words(name),
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
