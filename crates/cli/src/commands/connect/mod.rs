//! `toolcrib connect`: writes an MCP client's entry for this directory. The usual entry starts `toolcrib stdio`, which opens
//! a session of its own each time, so that no secret stands in a file. `--http` opens one session now and writes its key.

mod entry;
mod merge;
mod stdio;
mod target;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::files;
use crate::opening::SessionArgs;
use crate::output;
use crate::workplace::{ClientArgs, ProjectArg};
use entry::Entry;
use target::Target;

/// The MCP clients whose files we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code: .mcp.json
    Claude,
    /// Codex: .codex/config.toml
    Codex,
    /// Cursor: .cursor/mcp.json
    Cursor,
    /// Visual Studio Code: .vscode/mcp.json
    Vscode,
}

impl Client {
    /// Its file, below the directory that it works in.
    fn file(self) -> &'static str {
        match self {
            Client::Claude => ".mcp.json",
            Client::Codex => ".codex/config.toml",
            Client::Cursor => ".cursor/mcp.json",
            Client::Vscode => ".vscode/mcp.json",
        }
    }

    /// What to do so that it sees the entry.
    fn next(self) -> &'static str {
        match self {
            Client::Claude => "start `claude` here and approve the server when it asks",
            Client::Codex => "start `codex` here, in a project that it trusts",
            Client::Cursor => "open this directory in Cursor and switch the server on under Settings, MCP",
            Client::Vscode => "open this directory in VS Code and start the server from .vscode/mcp.json",
        }
    }
}

/// Which client to set up, and how.
#[derive(Args, Debug)]
pub(crate) struct ConnectArgs {
    /// The client to set up
    #[arg(required_unless_present = "print", value_name = "CLIENT")]
    to: Option<Client>,

    /// Print the entry instead of writing it; without a client, an MCP config over HTTP that any client takes
    #[arg(long)]
    print: bool,

    /// Open a session now and write its url and key (readable by you only), instead of an entry that starts `toolcrib stdio`
    #[arg(long)]
    http: bool,

    /// Name of the entry
    #[arg(long, value_name = "NAME", default_value = "toolcrib", value_parser = parse_name)]
    name: String,

    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    how: SessionArgs,
}

fn parse_name(name: &str) -> Result<String, String> {
    let fine =
        !name.is_empty() && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if fine { Ok(name.to_owned()) } else { Err("letters, digits, - and _ only".to_owned()) }
}

pub(crate) async fn run(args: ConnectArgs) -> Result<()> {
    let client = args.to.filter(|_| !args.print);
    if let Some(client) = client {
        // A file that cannot be understood is told before a session is opened for it.
        let nothing = Entry::Stdio { program: String::new(), arguments: Vec::new(), needs_key: false };
        Target::read(client)?.with(&args.name, &nothing)?;
    }
    if !args.http && args.to.is_some() {
        deliver(&args, client, &stdio::entry(&args).await?, None)?;
        if client.is_some() && args.client.server.key.is_some() {
            eprintln!("The entry holds no key: the client needs TOOLCRIB_KEY in its environment when it starts.");
        }
        return Ok(());
    }
    let place = args.client.workplace().await?;
    let project = place.project(&args.project).await?;
    let session = place.open_session(&project.id, &args.how.clone().for_a_client()).await?;
    let entry = Entry::Http { url: session.mcp_url, key: session.key };
    if let Err(error) = deliver(&args, client, &entry, Some(&session.expires_at)) {
        // Nobody has seen its key, so nobody will ever use it.
        if let Err(error) = place.end_session(&session.id, None).await {
            eprintln!("warning: {error:#}");
        }
        return Err(error);
    }
    eprintln!("This entry works until {}, when its session ends.", session.expires_at);
    if client.is_some() {
        eprintln!("The file holds the session's key: keep it out of version control.");
    }
    Ok(())
}

/// Writes the entry into the client's file, or prints it.
fn deliver(args: &ConnectArgs, client: Option<Client>, entry: &Entry, expires_at: Option<&str>) -> Result<()> {
    let Some(client) = client else {
        let shown = entry::whole_file(args.to.unwrap_or(Client::Claude), &args.name, entry)?;
        return output::print(shown.trim_end());
    };
    let target = Target::read(client)?;
    let merged = target.with(&args.name, entry)?;
    let mode = matches!(entry, Entry::Http { .. }).then_some(files::PRIVATE);
    files::replace(&target.path, &merged, mode)?;
    if args.client.json {
        let report = super::said([
            ("file", Some(json!(target.path))),
            ("name", Some(json!(args.name))),
            ("expiresAt", expires_at.map(|time| json!(time))),
        ]);
        return output::print_json(&report);
    }
    let what = if target.before.is_some_and(|before| before == merged) { "is up to date" } else { "written" };
    output::print(&format!("{} {what}. Next: {}.", target.path.display(), client.next()))
}
