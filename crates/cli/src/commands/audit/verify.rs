//! `toolcrib audit verify`: is this trail what the server wrote? With files only these are read, and nobody is asked; without
//! them the server verifies what it has stored.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::audit::verify::AtCheckpoint;
use ::audit::{Broken, Checkpoint, Jwks, Report, Verifier};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::{Value, json};

use crate::output::{complain, harmless, is_closed_pipe, print, print_json};
use crate::workplace::ClientArgs;

pub(super) const HELP: &str = "\
Examples:
  toolcrib audit verify
  toolcrib audit verify --log audit.jsonl --jwks keys.json
  toolcrib audit verify --log - --jwks keys.json --checkpoint old.json --json

Without --log the server verifies what it has stored. With --log and --jwks
neither a server nor the network is needed: the way to check on the server.

Exits with 0 when the trail is good, with 1 when it is not, and with 2 when a
file cannot be read or the server cannot be asked. The first bad entry is
named. Only a checkpoint that was kept elsewhere shows that a trail's tail was
cut off or all of it was written anew. docs/audit-format.md has the format.";

/// What is neither a good trail nor a bad one.
const UNREADABLE: u8 = 2;
/// Read at a time: fewer, larger reads.
const BUFFER_BYTES: usize = 1 << 20;

/// What to verify, and against what.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The exported trail, one entry a line; `-` reads stdin [default: ask the server]
    #[arg(long, value_name = "FILE", requires = "jwks")]
    log: Option<PathBuf>,
    /// The workspace's public keys, as `toolcrib audit jwks` writes them
    #[arg(long, value_name = "FILE", requires = "log")]
    jwks: Option<PathBuf>,
    /// A checkpoint, or a file of them, best one that was kept elsewhere
    #[arg(long, value_name = "FILE", requires = "log")]
    checkpoint: Option<PathBuf>,
    /// Check the chain and the checkpoint, but no entry's signature
    #[arg(long, requires = "log")]
    fast: bool,
}

pub(super) async fn run(client: &ClientArgs, args: &VerifyArgs) -> Result<ExitCode> {
    let found = match (&args.log, &args.jwks) {
        (Some(log), Some(jwks)) => offline(args, log, jwks),
        _ => ask(client).await,
    };
    let (is_valid, report, verdict) = match found {
        Ok(found) => found,
        Err(error) => {
            complain(&format!("error: {error:#}"));
            return Ok(ExitCode::from(UNREADABLE));
        }
    };
    let printed = if client.json { print_json(&report) } else { print(&harmless(&verdict, false)) };
    match printed {
        // The verdict stands even if nobody reads it.
        Err(error) if !is_closed_pipe(&error) => Err(error),
        _ => Ok(if is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
    }
}

/// Whether a trail is good, the report, and the report in a line.
type Found = (bool, Value, String);

/// Has the server verify what it has stored.
async fn ask(client: &ClientArgs) -> Result<Found> {
    let place = client.workplace().await?;
    let report = place.api.post(&place.query("/api/audit/verify"), &json!({})).await?;
    let is_valid = report.get("valid") == Some(&Value::Bool(true));
    let verdict = told(&report);
    Ok((is_valid, report, verdict))
}

/// The server's report in a line.
fn told(report: &Value) -> String {
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
    let count = number("/eventCount").unwrap_or_default();
    if report.get("valid") != Some(&Value::Bool(true)) {
        let at = number("/brokenAt").map(|sequence| format!(" at entry {sequence}")).unwrap_or_default();
        let message = report.pointer("/broken/message").and_then(Value::as_str).unwrap_or("the server does not say why");
        return format!("broken{at}: {message} ({count} entries before it are good); export it before anything else changes");
    }
    let range = match (number("/firstSequence"), number("/lastSequence")) {
        (Some(first), Some(last)) => format!("{count} entries ({first} to {last})"),
        _ => "no entries".to_owned(),
    };
    format!("valid, says the server: {range}; an export with --log and --jwks is verified without trusting it")
}

fn offline(args: &VerifyArgs, log: &Path, jwks: &Path) -> Result<Found> {
    let report = verify(args, log, jwks)?;
    Ok((report.is_valid(), serde_json::to_value(&report)?, verdict(&report)))
}

fn verify(args: &VerifyArgs, log: &Path, jwks: &Path) -> Result<Report> {
    let keys = Jwks::parse(&read("keys", jwks)?).map_err(|error| unreadable(jwks, &error))?;
    let checkpoints = match &args.checkpoint {
        Some(path) => Checkpoint::parse_file(&read("checkpoint", path)?).map_err(|error| unreadable(path, &error))?,
        None => Vec::new(),
    };
    let mut verifier = Verifier::new(&keys, checkpoints, None);
    if args.fast {
        verifier = verifier.without_signatures();
    }
    let pushed = if log == Path::new("-") {
        verifier.push_lines(io::stdin().lock())
    } else {
        File::open(log).and_then(|file| verifier.push_lines(BufReader::with_capacity(BUFFER_BYTES, file)))
    };
    pushed.with_context(|| format!("cannot read the log `{}`", log.display()))?;
    Ok(verifier.finish())
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read the {what} `{}`", path.display()))
}

fn unreadable(path: &Path, error: &base::Error) -> anyhow::Error {
    anyhow!("`{}`: {}", path.display(), error.message())
}

/// The report in a line.
fn verdict(report: &Report) -> String {
    if let Some(broken) = &report.broken_at {
        return format!("broken{}: {} ({})", place(broken), broken.message, good_before(report));
    }
    let mut facts = vec![match (report.event_count, report.first_sequence, report.last_sequence) {
        (1, Some(first), _) => format!("1 entry ({first})"),
        (count, Some(first), Some(last)) => format!("{count} entries ({first} to {last})"),
        _ => "no entries".to_owned(),
    }];
    if report.signed_by_revoked > 0 {
        facts.push(format!("{} signed by a key that was revoked later", report.signed_by_revoked));
    }
    facts.push(match report.checkpoint {
        Some(AtCheckpoint::Matches) => "the checkpoint matches".to_owned(),
        Some(AtCheckpoint::BeginsLater) => {
            "the checkpoint lies in what was removed since (audit.pruned), so they cannot be compared".to_owned()
        }
        None => "no checkpoint was given, so a cut-off tail would not show".to_owned(),
    });
    if report.signatures_checked {
        format!("valid: {}", facts.join("; "))
    } else {
        format!("valid as far as --fast goes, signatures were not checked: {}", facts.join("; "))
    }
}

fn place(broken: &Broken) -> String {
    let Some(sequence) = broken.sequence else { return String::new() };
    let found = [broken.line.map(|line| format!("line {line}")), broken.id.clone()];
    let found = found.into_iter().flatten().collect::<Vec<_>>();
    if found.is_empty() { format!(" at entry {sequence}") } else { format!(" at entry {sequence} ({})", found.join(", ")) }
}

fn good_before(report: &Report) -> String {
    let what = if report.signatures_checked { "good" } else { "good as far as --fast goes" };
    match report.event_count {
        0 => "nothing before it was found good".to_owned(),
        1 => format!("the entry before it is {what}"),
        count => format!("the {count} entries before it are {what}"),
    }
}
