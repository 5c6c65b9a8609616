//! `toolcrib policy`: who may call what, in Cedar.

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

/// Policies of an org: who may call what, in Cedar. A call needs a permit and no forbid.
#[derive(Args, Debug)]
pub(crate) struct PolicyArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the policies in force or on trial
    List,
    /// Print a policy's text
    Show {
        /// Policy, by id
        id: String,
        /// An earlier version of it [default: the current one]
        #[arg(long = "version", value_name = "N")]
        at: Option<u64>,
    },
    /// List the versions of a policy, newest first, of a removed one too
    Versions {
        /// Policy, by id
        id: String,
    },
    /// Save a policy: checked first, in force for the next request
    #[command(after_help = PUT)]
    Put {
        /// Its id: lower-case letters, digits, `.`, `_` and `-`
        id: String,
        /// File with its text; - reads stdin
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// Only try it: what it would change is recorded and nothing happens
        #[arg(long)]
        log_only: bool,
    },
    /// Take a policy out of force; its versions stay readable
    Remove {
        /// Policy, by id
        id: String,
    },
    /// Print what policies may speak of, as a Cedar schema
    Schema,
    /// Check files as saving them would, and change nothing
    #[command(after_help = CHECK)]
    Check {
        /// Files with policies; - reads stdin
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Say what the gate would answer to a call, and which statement makes it so
    #[command(after_help = explain::HELP)]
    Explain(Box<explain::ExplainArgs>),
    /// Ask many such questions from a file, and compare the answers
    #[command(after_help = cases::HELP)]
    Test(cases::TestArgs),
    /// Permit something, without writing Cedar
    #[command(after_help = template::GRANT)]
    Grant(Box<template::TemplateArgs>),
    /// Forbid something, without writing Cedar
    #[command(after_help = template::FORBID)]
    Forbid(Box<template::TemplateArgs>),
}

const PUT: &str = "\
Examples:
  toolcrib policy put no-drafts --file no-drafts.cedar
  toolcrib policy put no-drafts --file no-drafts.cedar --log-only

A text with a mistake in it is not saved, and what is in force stays in force.";

const CHECK: &str = "\
Example:
  toolcrib policy check policies/no-drafts.cedar policies/readers.cedar

Prints file:line:column: message, and exits with 1 when there is something.";

/// Runs a verb; whether it went well, where that is a question.
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
                format!("removed {id}; `toolcrib policy versions {id}` keeps its texts")
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
            Some(Value::Bool(true)) => "cannot be read, so while it is enforced nothing is permitted",
            _ => "speaks of something that is no longer there",
        };
        eprintln!("warning: {}", output::harmless(&format!("the policy `{id}` {what}:"), false));
        for finding in flagged.get("findings").and_then(Value::as_array).into_iter().flatten() {
            eprintln!("  {}", files::located(id, finding));
        }
    }
    Ok(())
}

async fn show(place: &Workplace, id: &str, at: Option<u64>) -> Result<()> {
    let answer = place.api.get(&path(place, id)).await?;
    let versions = answer.get("versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let number = |version: &Value| version.get("version").and_then(Value::as_u64);
    let meant = match at {
        Some(at) => versions.iter().find(|version| number(version) == Some(at)),
        None => versions.first(),
    };
    let Some(version) = meant else {
        bail!("`{id}` has no version {}: `toolcrib policy versions {id}` lists them", at.unwrap_or_default());
    };
    let Some(cedar) = version.get("cedar").and_then(Value::as_str) else {
        bail!(
            "`{id}` was removed in version {0}: `toolcrib policy versions {id}` lists the earlier ones, and --version shows one",
            number(version).unwrap_or_default()
        );
    };
    // The text alone, so that it can be changed and put back.
    place.print_as(&json!({ "policy": version }), || output::harmless(cedar.trim_end(), true))
}

/// The table has no room for texts.
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

/// Saves a policy. `name` is what the text is called when something in it is wrong.
async fn put(place: &Workplace, id: &str, cedar: &str, log_only: bool, name: &str) -> Result<Value> {
    let mode = if log_only { "log_only" } else { "enforce" };
    let body = json!({ "cedar": cedar, "mode": mode });
    place.api.put(&path(place, id), &body).await.map_err(|error| files::with_places(error, name))
}

/// What was saved, in a line.
fn saved(answer: &Value) -> String {
    let (id, version) =
        (text(answer, "/policy/id"), answer.pointer("/policy/version").and_then(Value::as_u64).unwrap_or_default());
    match text(answer, "/policy/mode") {
        "log_only" => format!("saved {id}, version {version}, on trial: it is recorded what it would change"),
        _ => format!("saved {id}, version {version}, in force for the next request"),
    }
}

fn path(place: &Workplace, id: &str) -> String {
    place.path(&format!("/policies/{}", encode(id)))
}

/// A text in an answer; empty when there is none.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
