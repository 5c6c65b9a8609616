//! `toolcrib restore`: restores a backup.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use server::{MasterKeySource, Restore, RestoredInto};

use super::{PlaceArgs, about, audit, totals, trails_line, watched, with};
use crate::output::{print, print_json};

/// Selects the backup and the target.
#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    /// Backup file; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
    /// File with the original server's master key (or set TOOLCRIB_MASTER_KEY) [default: master.key in the data folder]
    #[arg(long, env = "TOOLCRIB_MASTER_KEY_FILE", value_name = "FILE")]
    master_key_file: Option<PathBuf>,
    /// Replace existing data
    #[arg(long)]
    replace: bool,
    /// Restore even if an audit trail in the backup is broken
    #[arg(long)]
    allow_broken_audit: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: RestoreArgs) -> Result<()> {
    if args.file == Path::new("-") && std::io::stdin().is_terminal() {
        bail!("stdin is a terminal; pipe a backup in, or pass a file instead of `-`");
    }
    let settings = args.place.resolve(args.master_key_file.clone())?;
    let (config, runtime) = (settings.server(), tokio::runtime::Handle::current());
    let how = Restore { replace: args.replace, allow_broken_audit: args.allow_broken_audit };
    let (work_config, file) = (config.clone(), args.file.clone());
    let done = watched("restoring", move |told| server::restore(&work_config, &runtime, &file, how, told)).await?;
    let serve = serve_command(&config);
    if args.json {
        let more = json!({
            "audit": audit(&done.trails),
            "schemaNow": done.schema,
            "data": config.data,
            "into": if config.database_url.is_some() { "postgres" } else { "sqlite" },
            "replaced": done.replaced,
            "setAside": done.set_aside,
            "checkpoints": done.checkpoints,
        });
        return print_json(&with(about(&done.header, &done.sections), more));
    }
    print(&summary(&done, &config, &serve))
}

fn summary(done: &RestoredInto, config: &server::Config, serve: &str) -> String {
    let (rows, tables) = totals(&done.sections);
    let into = match &config.database_url {
        Some(_) => "the PostgreSQL database".to_owned(),
        None => config.data.join("toolcrib.db").display().to_string(),
    };
    let mut lines = vec![format!("restored {rows} rows of {tables} tables into {into}, as they were at {}", done.header.made_at)];
    lines.push(trails_line(&done.trails));
    if done.schema != done.header.schema {
        lines.push(format!("schema: migrated from {} to {}", done.header.schema, done.schema));
    }
    if !done.set_aside.is_empty() {
        let aside = done.set_aside.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
        lines.push(format!("the previous data is in {aside}; delete it when you no longer need it"));
    }
    lines.push(format!("start the server with: {serve}"));
    lines.join("\n")
}

/// The command that starts a server on the restored data.
fn serve_command(config: &server::Config) -> String {
    let mut command = format!("toolcrib serve --data {}", config.data.display());
    if let MasterKeySource::File(path) = &config.master_key {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        command.push_str(&format!(" --master-key-file {}", path.display()));
    }
    if config.database_url.is_some() {
        command.push_str(" --database-url postgres://…");
    }
    command
}
