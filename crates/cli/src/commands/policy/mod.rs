//! `toolcrib policy`: manages an org's Cedar policies.

mod cases;
mod cedar;
mod explain;
mod files;
mod template;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::client::encode;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("MODE", "/mode"), ("VERSION", "/version"), ("CHANGED", "/createdAt"), ("BY", "/createdBy")];

const VERSION_COLUMNS: [Column; 5] =
    [("VERSION", "/version"), ("MODE", "/mode"), ("LINES", "/lines"), ("CHANGED", "/createdAt"), ("BY", "/createdBy")];

/// Manages an org's Cedar policies. A call is allowed if a policy permits it and none forbids it.
#[derive(Args, Debug)]
pub(crate) struct PolicyArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the active and log-only policies
    List,
    /// Print a policy's text
    Show {
        /// Policy, by id
        id: String,
        /// Version to print [default: the current one]
        #[arg(long = "version", value_name = "N")]
        at: Option<u64>,
    },
    /// List the versions of a policy, newest first; also works for removed policies
    Versions {
        /// Policy, by id
        id: String,
    },
    /// Check and save a policy, effective on the next request
    #[command(after_help = PUT)]
    Put {
        /// Policy id: lower-case letters, digits, `.`, `_` and `-`
        id: String,
        /// Cedar file; - reads stdin
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// Only record what the policy would change, without enforcing it
        #[arg(long)]
        log_only: bool,
    },
    /// Remove a policy; its versions stay readable
    Remove {
        /// Policy, by id
        id: String,
    },
    /// Print the Cedar schema for policies
    Schema,
    /// Check policy files without saving them
    #[command(after_help = CHECK)]
    Check {
        /// Cedar files; - reads stdin
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Show whether a call would be allowed, and which statement decides
    #[command(after_help = explain::HELP)]
    Explain(Box<explain::ExplainArgs>),
    /// Check decisions against the expected ones in a file
    #[command(after_help = cases::HELP)]
    Test(cases::TestArgs),
    /// Permit calls, without writing Cedar
    #[command(after_help = template::GRANT)]
    Grant(Box<template::TemplateArgs>),
    /// Forbid calls, without writing Cedar
    #[command(after_help = template::FORBID)]
    Forbid(Box<template::TemplateArgs>),
}

const PUT: &str = "\
Examples:
  toolcrib policy put no-drafts --file no-drafts.cedar
  toolcrib policy put no-drafts --file no-drafts.cedar --log-only

An invalid policy is not saved, and the current version stays active.";

const CHECK: &str = "\
Example:
  toolcrib policy check policies/no-drafts.cedar policies/readers.cedar

Prints `file:line:column: message` for each problem and exits with 1 if there
is one.";

/// Runs a subcommand. Returns false if a check or test failed.
pub(crate) async fn run(args: PolicyArgs) -> Result<bool> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List => list(&place).await?,
        Verb::Show { id, at } => show(&place, &id, at).await?,
        Verb::Versions { id } => {
            let mut answer = place.api.get(&path(&place, &id)).await?;
            if !args.client.json {
                count_lines(&mut answer);
            }
            place.print_list(&answer, "versions", &VERSION_COLUMNS)?;
        }
        Verb::Put { id, file, log_only } => {
            let text = files::read(&file)?;
            let answer = put(&place, &id, &text, log_only, &files::name(&file)).await?;
            place.print_as(&answer, || saved(&answer))?;
        }
        Verb::Remove { id } => {
            place.api.delete(&path(&place, &id)).await?;
            place.print_as(&json!({ "removed": id }), || {
                format!("removed {id}; `toolcrib policy versions {id}` still lists its versions")
            })?;
        }
        Verb::Schema => {
            let answer = place.api.get(&place.path("/policies")).await?;
            let schema = text(&answer, "/schema");
            place.print_as(&json!({ "schema": schema }), || schema.trim_end().to_owned())?;
        }
        Verb::Check { files } => return files::check(&place, &files).await,
        Verb::Explain(args) => explain::run(&place, &args).await?,
        Verb::Test(args) => return cases::run(&place, &args).await,
        Verb::Grant(args) => template::run(&place, cedar::Effect::Permit, &args).await?,
        Verb::Forbid(args) => template::run(&place, cedar::Effect::Forbid, &args).await?,
    }
    Ok(true)
}

async fn list(place: &Workplace) -> Result<()> {
    let answer = place.api.get(&place.path("/policies")).await?;
    place.print_list(&answer, "policies", &COLUMNS)?;
    for flagged in answer.get("flagged").and_then(Value::as_array).into_iter().flatten() {
        let id = text(flagged, "/id");
        let what = match flagged.get("broken") {
            Some(Value::Bool(true)) => "is invalid; while it is enforced, every call is denied",
            _ => "refers to something that no longer exists",
        };
        output::tell(&format!("warning: {}", output::sanitized(&format!("the policy `{id}` {what}:"), false)));
        for finding in flagged.get("findings").and_then(Value::as_array).into_iter().flatten() {
            output::tell(&format!("  {}", files::located(id, finding)));
        }
    }
    Ok(())
}

async fn show(place: &Workplace, id: &str, at: Option<u64>) -> Result<()> {
    let answer = place.api.get(&path(place, id)).await?;
    let versions = answer.get("versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let number = |version: &Value| version.get("version").and_then(Value::as_u64);
    let selected = match at {
        Some(at) => versions.iter().find(|version| number(version) == Some(at)),
        None => versions.first(),
    };
    let Some(version) = selected else {
        bail!("`{id}` has no version {}; run `toolcrib policy versions {id}` to list them", at.unwrap_or_default());
    };
    let Some(cedar) = version.get("cedar").and_then(Value::as_str) else {
        bail!(
            "`{id}` was removed in version {0}; pick an earlier --version from `toolcrib policy versions {id}`",
            number(version).unwrap_or_default()
        );
    };
    // Print only the text, so that it can be edited and saved again.
    place.print_as(&json!({ "policy": version }), || output::sanitized(cedar.trim_end(), true))
}

/// Adds the number of lines, because the table has no room for the text.
fn count_lines(answer: &mut Value) {
    for version in answer.get_mut("versions").and_then(Value::as_array_mut).into_iter().flatten() {
        let lines = match version.get("cedar").and_then(Value::as_str) {
            Some(cedar) => json!(cedar.lines().count()),
            None => json!("removed"),
        };
        if let Some(members) = version.as_object_mut() {
            members.insert("lines".to_owned(), lines);
        }
    }
}

/// Saves a policy. `name` is the file name for error messages.
async fn put(place: &Workplace, id: &str, cedar: &str, log_only: bool, name: &str) -> Result<Value> {
    let mode = if log_only { "log_only" } else { "enforce" };
    let body = json!({ "cedar": cedar, "mode": mode });
    place.api.put(&path(place, id), &body).await.map_err(|error| files::with_places(error, name))
}

/// Describes the saved policy in one line.
fn saved(answer: &Value) -> String {
    let (id, version) =
        (text(answer, "/policy/id"), answer.pointer("/policy/version").and_then(Value::as_u64).unwrap_or_default());
    match text(answer, "/policy/mode") {
        "log_only" => format!("saved {id}, version {version}; log-only, so it is not enforced"),
        _ => format!("saved {id}, version {version}; active from the next request"),
    }
}

fn path(place: &Workplace, id: &str) -> String {
    place.path(&format!("/policies/{}", encode(id)))
}

/// The string at a JSON pointer, or an empty one.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
