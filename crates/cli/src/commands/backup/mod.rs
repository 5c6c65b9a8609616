//! `toolcrib backup` and `toolcrib restore`: save the whole instance to one file, and restore it. They access the data directly, so
//! they need no server. A backup also works while a server runs.

mod progress;
mod restore;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use server::{MasterKeySource, Verified};
use store::backup::{Header, Section, SectionKind, Told};

use crate::commands::serve::{Signals, start_error};
use crate::config::{Resolved, Settings};
use crate::output::{ExitWith, print, print_json, sanitized, tell};
use progress::{Progress, size};

pub(crate) use restore::{RestoreArgs, run as run_restore};

const VERIFY_HELP: &str = "\
Examples:
  toolcrib backup verify /var/backups/toolcrib-2026-11-16T03-00-00.000Z.backup
  toolcrib backup verify crib.backup --master-key-file master.key --json

Checks the whole file: checksums, row counts, and every audit trail with its
newest checkpoint. With a master key, it also checks that the key decrypts the
secrets. It needs no server and no database.";

/// Selects what to back up, and the target.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct BackupArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// File to write, or an existing folder for a file named after the current time; `-` writes to stdout
    #[arg(value_name = "FILE|DIR", required = true)]
    target: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Check a backup without restoring it
    #[command(after_help = VERIFY_HELP)]
    Verify {
        /// Backup file; `-` reads stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// File with the master key, to check that it decrypts the secrets (or set TOOLCRIB_MASTER_KEY)
        #[arg(long, env = "TOOLCRIB_MASTER_KEY_FILE", value_name = "FILE")]
        master_key_file: Option<PathBuf>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Selects the data, with the same settings as the server.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlaceArgs {
    /// Data folder of the server [default: ~/.local/share/toolcrib]
    #[arg(long, env = "TOOLCRIB_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Settings file of the server [default: toolcrib.toml in the data folder]
    #[arg(long, env = "TOOLCRIB_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// PostgreSQL database of the server, if it uses one
    #[arg(long, env = "TOOLCRIB_DATABASE_URL", value_name = "postgres://…", hide_env_values = true)]
    database_url: Option<String>,
}

impl PlaceArgs {
    /// The server's configuration, as `toolcrib serve` would read it.
    fn resolve(&self, master_key_file: Option<PathBuf>) -> Result<Resolved> {
        let flags =
            Settings { data: self.data.clone(), database_url: self.database_url.clone(), master_key_file, ..Settings::default() };
        Resolved::load(flags.or(Settings::from_environment()?), self.config.as_deref())
    }
}

/// Runs the command. Returns whether everything is valid.
pub(crate) async fn run(args: BackupArgs) -> Result<bool> {
    match (args.verb, args.target) {
        (Some(Verb::Verify { file, master_key_file, json }), _) => verify(file, master_key_file, json).await,
        (None, Some(target)) => back_up(&args.place, target, args.json).await.map(|()| true),
        (None, None) => bail!("pass a file or a folder for the backup"),
    }
}

async fn back_up(place: &PlaceArgs, target: PathBuf, as_json: bool) -> Result<()> {
    let is_stdout = target == Path::new("-");
    if is_stdout && std::io::stdout().is_terminal() {
        bail!("stdout is a terminal; redirect it, or pass a file instead of `-`");
    }
    // Messages go to stderr if the backup goes to stdout.
    let say = |text: &str| match is_stdout {
        true => {
            tell(text);
            Ok(())
        }
        false => print(text),
    };
    let settings = place.resolve(None)?;
    let config = settings.server();
    let runtime = tokio::runtime::Handle::current();
    let key_file = match &config.master_key {
        MasterKeySource::File(path) => Some(path.clone()),
        MasterKeySource::DataFolder => Some(config.data.join("master.key")).filter(|path| path.exists()),
        MasterKeySource::Given(_) => None,
    };
    let made = watched("backing up", move |told| server::back_up(&config, &runtime, &target, told)).await?;
    let key_location = match &key_file {
        Some(path) => path.display().to_string(),
        None => "the server's TOOLCRIB_MASTER_KEY or --master-key-file".to_owned(),
    };
    if as_json {
        let more = json!({"file": made.file, "bytes": made.bytes, "masterKey": {"included": false, "file": key_file}});
        return say(&serde_json::to_string_pretty(&with(about(&made.header, &made.sections), more))?);
    }
    let (rows, tables) = totals(&made.sections);
    let to = if is_stdout { "stdout".to_owned() } else { made.file.display().to_string() };
    say(&format!(
        "backed up {rows} rows of {tables} tables to {to} ({})\nThe backup does not include the master key, which a restore needs. \
         Keep a copy of it separately: {key_location}",
        size(made.bytes),
    ))
}

async fn verify(file: PathBuf, master_key_file: Option<PathBuf>, as_json: bool) -> Result<bool> {
    let key = match (master_key_file, crate::environment::master_key()) {
        (Some(path), _) => MasterKeySource::File(path),
        (None, Some(hex)) => MasterKeySource::Given(hex),
        (None, None) => MasterKeySource::DataFolder,
    };
    let found = watched("verifying", move |told| server::verify_backup(&file, &key, told)).await?;
    let good = found.trails.broken_count == 0;
    if as_json {
        let more = json!({"audit": audit(&found.trails), "masterKeyChecked": found.master_key_checked, "valid": good});
        print_json(&with(about(&found.header, &found.sections), more))?;
    } else {
        print(&sanitized(&verdict(&found), true))?;
    }
    Ok(good)
}

/// Adds the members of `more` to `answer`.
fn with(mut answer: Value, more: Value) -> Value {
    if let (Value::Object(members), Value::Object(more)) = (&mut answer, more) {
        members.extend(more);
    }
    answer
}

fn verdict(found: &Verified) -> String {
    let Verified { header, sections, trails, master_key_checked } = found;
    let (rows, tables) = totals(sections);
    let key = if *master_key_checked { "the master key is correct" } else { "no master key given, so it was not checked" };
    let mut lines = vec![format!(
        "complete: {rows} rows of {tables} tables, taken from {} at {} by release {} (schema {}); {key}",
        header.engine, header.made_at, header.release, header.schema
    )];
    lines.push(trails_line(trails));
    lines.join("\n")
}

/// Summarizes the audit trails: one line, or one line per broken trail.
fn trails_line(trails: &server::Trails) -> String {
    if trails.broken_count == 0 {
        return format!("audit: the trails of {} org(s) are valid, {} entries in total", trails.orgs, trails.entries);
    }
    let broken = trails.broken.iter().map(|broken| {
        let at = broken.sequence.map(|sequence| format!(" at entry {sequence}")).unwrap_or_default();
        format!("audit: the trail of {} is broken{at}: {}", broken.org, broken.message)
    });
    let rest = trails.broken_count.saturating_sub(u64::try_from(trails.broken.len()).unwrap_or(0));
    let rest = (rest > 0).then(|| format!("audit: {rest} more trails are broken"));
    broken.chain(rest).collect::<Vec<_>>().join("\n")
}

/// Describes a backup as JSON.
fn about(header: &Header, sections: &[Section]) -> Value {
    let (rows, _) = totals(sections);
    let named = |kind: SectionKind| sections.iter().filter(move |section| section.kind == kind);
    let tables: Vec<_> = named(SectionKind::Table)
        .map(|section| json!({"name": section.name, "rows": section.count, "sha256": section.sha256}))
        .collect();
    let files: Vec<_> = named(SectionKind::File).map(|section| json!({"name": section.name, "sha256": section.sha256})).collect();
    json!({
        "madeAt": header.made_at,
        "release": header.release,
        "engine": header.engine,
        "schema": header.schema,
        "rows": rows,
        "tables": tables,
        "files": files,
    })
}

fn audit(trails: &server::Trails) -> Value {
    let broken: Vec<_> = trails
        .broken
        .iter()
        .map(|broken| json!({"org": broken.org, "sequence": broken.sequence, "message": broken.message}))
        .collect();
    json!({"orgs": trails.orgs, "entries": trails.entries, "brokenCount": trails.broken_count, "broken": broken})
}

/// The number of rows and tables in a backup.
fn totals(sections: &[Section]) -> (u64, usize) {
    let tables = sections.iter().filter(|section| section.kind == SectionKind::Table);
    tables.fold((0, 0), |(rows, tables), section| (rows + section.count, tables + 1))
}

/// Runs `work` on a blocking thread and shows its progress. The first Ctrl-C, SIGTERM or SIGHUP cancels the work and cleans up. A
/// second one exits at once.
async fn watched<T, W>(what: &'static str, work: W) -> Result<T>
where
    T: Send + 'static,
    W: FnOnce(&mut Told<'_>) -> base::Result<T> + Send + 'static,
{
    let mut signals = Signals::listen()?.with_hangup()?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut progress = Progress::new(what, Arc::clone(&stop));
    let mut work = tokio::task::spawn_blocking(move || {
        let done = work(&mut |table, rows| progress.tell(table, rows));
        progress.clear();
        done
    });
    let (done, stopped) = tokio::select! {
        done = &mut work => (done, None),
        code = signals.code() => {
            stop.store(true, std::sync::atomic::Ordering::SeqCst);
            tokio::select! {
                done = &mut work => (done, Some(code)),
                code = signals.code() => std::process::exit(i32::from(code)),
            }
        }
    };
    let failed = |error: &base::Error| match stopped {
        Some(code) => anyhow::Error::new(ExitWith(code)).context(start_error(error)),
        None => start_error(error),
    };
    done?.map_err(|error| failed(&error))
}
