//! `toolcrib audit verify`: is this trail what the server wrote? Only files are read; nobody is asked.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::audit::verify::AtCheckpoint;
use ::audit::{Broken, Checkpoint, Jwks, Report, Verifier};
use anyhow::{Context, Result, anyhow};
use clap::Args;

use crate::output::{harmless, is_closed_pipe, print, print_json};

pub(super) const HELP: &str = "\
Examples:
  toolcrib audit verify --log audit.jsonl --jwks keys.json
  toolcrib audit verify --log - --jwks keys.json --checkpoint old.json --json

Exits with 0 when the trail is good, with 1 when it is not, and with 2 when a
file cannot be read. The first bad entry is named. Only a checkpoint that was
kept elsewhere shows that a trail's tail was cut off or all of it was written
anew. docs/audit-format.md has the format.";

/// What is neither a good trail nor a bad one.
const UNREADABLE: u8 = 2;
/// Read at a time: fewer, larger reads.
const BUFFER_BYTES: usize = 1 << 20;

/// What to verify, and against what.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The exported trail, one entry a line; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// The workspace's public keys, as /.well-known/audit-keys lists them
    #[arg(long, value_name = "FILE")]
    jwks: PathBuf,
    /// A checkpoint of the trail, best one that was kept elsewhere
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Check the chain and the checkpoint, but no entry's signature
    #[arg(long)]
    fast: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let report = match verify(args) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error:#}");
            return Ok(ExitCode::from(UNREADABLE));
        }
    };
    let printed =
        if args.json { print_json(&serde_json::to_value(&report)?) } else { print(&harmless(&verdict(&report), false)) };
    match printed {
        // The verdict stands even if nobody reads it.
        Err(error) if !is_closed_pipe(&error) => Err(error),
        _ => Ok(if report.is_valid() { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
    }
}

fn verify(args: &VerifyArgs) -> Result<Report> {
    let keys = Jwks::parse(&read("keys", &args.jwks)?).map_err(|error| unreadable(&args.jwks, &error))?;
    let checkpoint = match &args.checkpoint {
        Some(path) => Some(Checkpoint::parse(&read("checkpoint", path)?).map_err(|error| unreadable(path, &error))?),
        None => None,
    };
    let mut verifier = Verifier::new(&keys, checkpoint, None);
    if args.fast {
        verifier = verifier.without_signatures();
    }
    let pushed = if args.log == Path::new("-") {
        verifier.push_lines(io::stdin().lock())
    } else {
        File::open(&args.log).and_then(|file| verifier.push_lines(BufReader::with_capacity(BUFFER_BYTES, file)))
    };
    pushed.with_context(|| format!("cannot read the log `{}`", args.log.display()))?;
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
        Some(AtCheckpoint::BeginsLater) => "the trail begins after the checkpoint, so they cannot be compared".to_owned(),
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
