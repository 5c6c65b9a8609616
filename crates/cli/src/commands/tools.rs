//! `toolcrib tools` and `toolcrib call`: list and call tools through the same session door that agents use.

use std::io::Read;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::door::{Door, RpcError};
use crate::opening::SessionArgs;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, ProjectArg};

const COLUMNS: [Column; 2] = [("TOOL", "/name"), ("DESCRIPTION", "/short")];
/// Maximum pages of `tools/list`, far more than any server has.
const PAGES_MAX: usize = 100;
/// Maximum length of a description in the table, in characters.
const SHORT_CHARS: usize = 100;

/// Lists the tools of a new session.
#[derive(Args, Debug)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    how: SessionArgs,
}

/// The tool to call, and its arguments.
#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    /// Name of the tool
    tool: String,
    /// Arguments as a JSON object; @FILE reads them from a file, - from stdin
    #[arg(default_value = "{}", hide_default_value = true, value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    how: SessionArgs,
}

pub(crate) async fn run_tools(args: ToolsArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let tools = Door::with(&place, &args.project, &args.how, list).await?;
    if args.client.json {
        return output::print_json(&json!({ "tools": tools }));
    }
    let rows = tools.iter().map(|tool| json!({ "name": tool.get("name"), "short": short(tool) })).collect::<Vec<_>>();
    output::print(&output::table(&rows, &COLUMNS, "this session has no tools; check the key's scopes and the project's settings"))
}

async fn list(door: &Door<'_>) -> Result<Vec<Value>> {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let params = cursor.as_ref().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let mut page = door.request("tools/list", params).await?;
        if let Some(Value::Array(more)) = page.get_mut("tools").map(Value::take) {
            tools.extend(more);
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    Ok(tools)
}

/// The first sentence of a description.
fn short(tool: &Value) -> String {
    let text = tool.get("description").or_else(|| tool.get("title")).and_then(Value::as_str).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.split_inclusive(". ").next().unwrap_or(line).trim_end();
    match sentence.char_indices().nth(SHORT_CHARS) {
        Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or(sentence).trim_end()),
        None => sentence.to_owned(),
    }
}

/// Calls a tool. Returns whether it succeeded.
pub(crate) async fn run_call(args: CallArgs) -> Result<bool> {
    let arguments = read_arguments(&args.arguments, std::io::stdin())?;
    let place = args.client.workplace().await?;
    let call = async |door: &Door<'_>| door.request("tools/call", json!({ "name": args.tool, "arguments": arguments })).await;
    let result = match Door::with(&place, &args.project, &args.how, call).await {
        Err(error) if args.client.json && error.is::<RpcError>() => {
            let error = error.downcast_ref::<RpcError>().map_or(Value::Null, |error| error.0.clone());
            output::tell(&serde_json::to_string_pretty(&json!({ "error": error }))?);
            return Ok(false);
        }
        result => result?,
    };
    if args.client.json {
        output::print_json(&result)?;
    } else {
        output::print_untrusted(&readable(&result))?;
    }
    Ok(result.get("isError") != Some(&Value::Bool(true)))
}

/// Reads the arguments from the command line, a file or stdin.
pub(crate) fn read_arguments(argument: &str, mut stdin: impl Read) -> Result<Value> {
    let (text, place) = match (argument, argument.strip_prefix('@')) {
        ("-", _) => {
            let mut text = String::new();
            stdin.read_to_string(&mut text).context("cannot read the arguments from stdin")?;
            (text, "on stdin".to_owned())
        }
        (_, Some(file)) => {
            (std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?, format!("in `{file}`"))
        }
        (text, None) => (text.to_owned(), format!("`{argument}`")),
    };
    match serde_json::from_str(&text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => bail!("the arguments {place} must be a JSON object, like '{{\"limit\": 10}}'"),
        Err(error) => bail!("the arguments {place} are not valid JSON: {error}"),
    }
}

/// Formats a result for people: its text, and a placeholder for content that is not text.
fn readable(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let block = |block: &Value| match block.get("type").and_then(Value::as_str) {
        Some("text") => text(block, "/text").unwrap_or_default(),
        Some("resource") if block.pointer("/resource/text").is_some() => text(block, "/resource/text").unwrap_or_default(),
        kind => {
            let mime = text(block, "/mimeType").or_else(|| text(block, "/resource/mimeType")).unwrap_or_default();
            let uri = text(block, "/uri").or_else(|| text(block, "/resource/uri")).unwrap_or_default();
            format!("[{}]", [kind.unwrap_or("content"), &mime, &uri, "(--json shows it)"].join(" ").replace("  ", " "))
        }
    };
    let shown = blocks.iter().map(block).collect::<Vec<_>>().join("\n");
    match result.get("structuredContent") {
        Some(payload) if shown.trim().is_empty() => serde_json::to_string_pretty(payload).unwrap_or_default(),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_from_the_command_line_a_file_or_stdin() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::fs::write(&file, r#"{"from": "file"}"#).unwrap();
        let read = |argument: &str| read_arguments(argument, &br#"{"from": "stdin"}"#[..]).map_err(|error| error.to_string());
        assert_eq!(read("{}"), Ok(json!({})));
        assert_eq!(read("-"), Ok(json!({"from": "stdin"})));
        assert_eq!(read(&format!("@{}", file.display())), Ok(json!({"from": "file"})));
        assert!(read("[1]").unwrap_err().contains("must be a JSON object"));
        assert!(read("{").unwrap_err().contains("are not valid JSON"));
        assert!(read("@/nowhere").unwrap_err().contains("`/nowhere`"));
    }

    #[test]
    fn results_are_formatted_as_text() {
        assert_eq!(readable(&json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})), "a\nb");
        let image = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AA=="}]});
        assert_eq!(readable(&image), "[image image/png (--json shows it)]");
        assert_eq!(readable(&json!({"content": [], "structuredContent": {"a": 1}})), "{\n  \"a\": 1\n}");
    }

    #[test]
    fn descriptions_are_cut_after_their_first_sentence() {
        assert_eq!(short(&json!({"description": "Lists bricks. Newest first."})), "Lists bricks.");
        assert_eq!(short(&json!({"description": "é".repeat(200)})).chars().count(), SHORT_CHARS + 1);
        assert_eq!(short(&json!({})), "");
    }
}
