//! `toolcrib audit verify`: verifies an exported trail offline, or lets the server verify its stored trail.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::audit::verify::{AtCheckpoint, Reason};
use ::audit::{Broken, Checkpoint, Jwks, Report, Verifier};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::output::{is_closed_pipe, print, print_json, sanitized, tell};
use crate::workplace::ClientArgs;

pub(super) const HELP: &str = "\
Examples:
  toolcrib audit verify
  toolcrib audit verify --log audit.jsonl --jwks keys.json
  toolcrib audit verify --log - --jwks keys.json --checkpoint old.json --json

Without --log, the server verifies its stored trail. With --log and --jwks, the
check needs neither a server nor the network, so you need not trust the server.

Exits with 0 if the trail is valid, with 1 if it is broken, and with 2 if a
file cannot be read or does not belong to the log, or the server does not
answer. The output names the first bad entry. Only a checkpoint that was kept elsewhere can show that the trail
was truncated or rewritten. docs/audit-format.md describes the format.";

/// Exit code when the trail could not be checked.
const UNDECIDED: u8 = 2;
/// Size of the read buffer.
const BUFFER_BYTES: usize = 1 << 20;
/// Longest part of a line that is read. Entries are shorter; a longer line is no entry.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Selects the trail, the keys and the checkpoint.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Exported trail; `-` reads stdin [default: the server's stored trail]
    #[arg(long, value_name = "FILE", requires = "jwks")]
    log: Option<PathBuf>,
    /// Public keys of the workspace, as written by `toolcrib audit jwks`
    #[arg(long, value_name = "FILE", requires = "log")]
    jwks: Option<PathBuf>,
    /// File with one or more checkpoints, ideally kept elsewhere
    #[arg(long, value_name = "FILE", requires = "log")]
    checkpoint: Option<PathBuf>,
    /// Check the chain and the checkpoint, but not the signatures
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
            tell(&format!("error: {error:#}"));
            return Ok(ExitCode::from(UNDECIDED));
        }
    };
    let printed = if client.json { print_json(&report) } else { print(&sanitized(&verdict, false)) };
    match printed {
        // The exit code counts even if nobody reads the output.
        Err(error) if !is_closed_pipe(&error) => Err(error),
        _ => Ok(if is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
    }
}

/// Whether the trail is valid, the report, and a one-line summary.
type Found = (bool, Value, String);

/// Lets the server verify its stored trail.
async fn ask(client: &ClientArgs) -> Result<Found> {
    let place = client.workplace().await?;
    let report = place.api.post(&place.query("/api/audit/verify"), &json!({})).await?;
    let is_valid = report.get("valid") == Some(&Value::Bool(true));
    let verdict = server_verdict(&report);
    Ok((is_valid, report, verdict))
}

/// Summarizes the server's report in one line.
fn server_verdict(report: &Value) -> String {
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
    let count = number("/eventCount").unwrap_or_default();
    if report.get("valid") != Some(&Value::Bool(true)) {
        let at = number("/brokenAt").map(|sequence| format!(" at entry {sequence}")).unwrap_or_default();
        let message = report.pointer("/broken/message").and_then(Value::as_str).unwrap_or("the server gave no reason");
        return format!(
            "broken{at}: {message} ({count} entries before it are valid); export the trail before anything else changes"
        );
    }
    let range = match (number("/firstSequence"), number("/lastSequence")) {
        (Some(first), Some(last)) => format!("{count} entries ({first} to {last})"),
        _ => "no entries".to_owned(),
    };
    format!("valid according to the server: {range}; to verify without trusting the server, pass an export with --log and --jwks")
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
    let mut verifier = Verifier::new(&keys, checkpoints.iter().cloned(), None);
    if args.fast {
        verifier = verifier.without_signatures();
    }
    let unread = || format!("cannot read the log `{}`", log.display());
    let mut lines = open(log).with_context(unread)?;
    verifier.push_lines(&mut lines).with_context(unread)?;
    let report = verifier.finish();
    let stranger = stranger(&report, &keys, &checkpoints, lines).with_context(unread)?;
    match (stranger, &args.checkpoint) {
        (Some(Stranger::Keys), _) => bail!("`{}` does not belong to this log: it has none of the log's keys", jwks.display()),
        (Some(Stranger::Checkpoint), Some(path)) => {
            bail!("`{}` does not belong to this log: it is a checkpoint of another workspace", path.display())
        }
        _ => Ok(report),
    }
}

fn open(log: &Path) -> io::Result<Box<dyn BufRead>> {
    if log == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, File::open(log)?)))
}

fn read(what: &str, path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read the {what} `{}`", path.display()))
}

fn unreadable(path: &Path, error: &base::Error) -> anyhow::Error {
    anyhow!("`{}`: {}", path.display(), error.message())
}

/// The input file that does not belong to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stranger {
    /// None of the log's entries names one of the keys.
    Keys,
    /// None of the log's entries belongs to a checkpoint's workspace.
    Checkpoint,
}

/// What the lines of a log have in common with the other files.
#[derive(Default)]
struct Seen {
    has_entry: bool,
    has_known_key: bool,
    has_checkpoint_workspace: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    workspace_id: String,
    kid: String,
}

/// The file that does not belong to the log, if the report failed at the first entry or before. Such a failure says nothing about
/// the log. `rest` has the lines that the verifier did not read.
fn stranger(report: &Report, keys: &Jwks, checkpoints: &[Checkpoint], rest: impl BufRead) -> io::Result<Option<Stranger>> {
    let Some(reason) = report.broken_at.as_ref().filter(|_| report.event_count == 0).map(|broken| broken.reason) else {
        return Ok(None);
    };
    if !matches!(reason, Reason::Checkpoint | Reason::UnknownKey | Reason::Workspace) {
        return Ok(None);
    }
    let seen = Seen::read(keys, checkpoints, rest)?;
    Ok(match reason {
        Reason::Checkpoint if seen.has_entry && !seen.has_checkpoint_workspace => Some(Stranger::Checkpoint),
        Reason::Checkpoint if seen.has_entry && !seen.has_known_key => Some(Stranger::Keys),
        Reason::Workspace if !seen.has_checkpoint_workspace => Some(Stranger::Checkpoint),
        Reason::UnknownKey if !seen.has_known_key => Some(Stranger::Keys),
        _ => None,
    })
}

impl Seen {
    fn read(keys: &Jwks, checkpoints: &[Checkpoint], mut lines: impl BufRead) -> io::Result<Self> {
        let (mut seen, mut line) = (Self::default(), Vec::new());
        while lines.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? > 0 {
            if let Ok(entry) = serde_json::from_slice::<Line>(&line) {
                seen.has_entry = true;
                seen.has_known_key |= keys.find(&entry.kid).is_some();
                seen.has_checkpoint_workspace |= checkpoints.iter().any(|one| one.workspace_id == entry.workspace_id);
            }
            line.clear();
        }
        Ok(seen)
    }
}

/// Summarizes the report in one line.
fn verdict(report: &Report) -> String {
    if let Some(broken) = &report.broken_at {
        return format!("broken{}: {} ({})", place(broken), broken.message, valid_before(report));
    }
    let mut facts = vec![match (report.event_count, report.first_sequence, report.last_sequence) {
        (1, Some(first), _) => format!("1 entry ({first})"),
        (count, Some(first), Some(last)) => format!("{count} entries ({first} to {last})"),
        _ => "no entries".to_owned(),
    }];
    if report.signed_by_revoked > 0 {
        facts.push(format!("{} signed with a key that was revoked later", report.signed_by_revoked));
    }
    facts.push(match report.checkpoint {
        Some(AtCheckpoint::Matches) => "the checkpoint matches".to_owned(),
        Some(AtCheckpoint::BeginsLater) => {
            "the checkpoint is older than the first entry, because the trail was pruned, so it was not compared".to_owned()
        }
        None => "no checkpoint given, so a truncated trail would not be detected".to_owned(),
    });
    if report.signatures_checked {
        format!("valid: {}", facts.join("; "))
    } else {
        format!("valid, but signatures were not checked (--fast): {}", facts.join("; "))
    }
}

fn place(broken: &Broken) -> String {
    let Some(sequence) = broken.sequence else { return String::new() };
    let found = [broken.line.map(|line| format!("line {line}")), broken.id.clone()];
    let found = found.into_iter().flatten().collect::<Vec<_>>();
    if found.is_empty() { format!(" at entry {sequence}") } else { format!(" at entry {sequence} ({})", found.join(", ")) }
}

fn valid_before(report: &Report) -> String {
    let what = if report.signatures_checked { "valid" } else { "valid, signatures not checked" };
    match report.event_count {
        0 => "no valid entries before it".to_owned(),
        1 => format!("the entry before it is {what}"),
        count => format!("the {count} entries before it are {what}"),
    }
}
