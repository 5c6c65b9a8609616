//! `toolcrib connect`: writes an MCP client's entry for this directory. By default, the entry starts `toolcrib stdio`, which opens a
//! new session each time, so that the file holds no secret. With `--http`, it opens a session now and writes its key.

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
use crate::workplace::{ADD_PROJECT, ClientArgs, Project, ProjectArg};
use entry::Entry;
use target::Target;

/// The supported MCP clients.
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
    /// The path of its config file, relative to the project directory.
    fn file(self) -> &'static str {
        match self {
            Client::Claude => ".mcp.json",
            Client::Codex => ".codex/config.toml",
            Client::Cursor => ".cursor/mcp.json",
            Client::Vscode => ".vscode/mcp.json",
        }
    }

    /// The next step for the user.
    fn next(self) -> &'static str {
        match self {
            Client::Claude => "start `claude` here and approve the server when it asks",
            Client::Codex => "start `codex` here; it must trust this directory",
            Client::Cursor => "open this directory in Cursor and turn on the server under Settings, MCP",
            Client::Vscode => "open this directory in VS Code and start the server from .vscode/mcp.json",
        }
    }
}

/// Selects the client and the kind of entry.
#[derive(Args, Debug)]
pub(crate) struct ConnectArgs {
    /// Client to set up
    #[arg(required_unless_present = "print", value_name = "CLIENT")]
    to: Option<Client>,

    /// Print the entry instead of writing it; without CLIENT, print an HTTP entry for any client
    #[arg(long)]
    print: bool,

    /// Write the URL and key of a new session, instead of an entry that starts `toolcrib stdio`
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
    if fine { Ok(name.to_owned()) } else { Err("use at most 64 letters, digits, - and _".to_owned()) }
}

pub(crate) async fn run(args: ConnectArgs) -> Result<()> {
    let client = args.to.filter(|_| !args.print);
    if let Some(client) = client {
        // Report an unparsable file before opening a session.
        let empty = Entry::Stdio { program: String::new(), arguments: Vec::new(), needs_key: false };
        Target::read(client)?.with(&args.name, &empty)?;
    }
    if !args.http && args.to.is_some() {
        deliver(&args, client, &stdio::entry(&args).await?, None)?;
        if client.is_some() && args.client.server.key.is_some() {
            output::tell("The entry holds no key; the client needs TOOLCRIB_KEY in its environment.");
        }
        return Ok(());
    }
    let place = args.client.workplace().await?;
    let project = place.project(&args.project).await?;
    tell_default(&project, &args.project);
    let session = place.open_session(&project.id, &args.how.clone().for_a_client()).await?;
    let entry = Entry::Http { url: session.mcp_url, key: session.key };
    if let Err(error) = deliver(&args, client, &entry, Some(&session.expires_at)) {
        // The key was never delivered, so the session is useless.
        if let Err(error) = place.end_session(&session.id, None).await {
            output::tell(&format!("warning: {error:#}"));
        }
        return Err(error);
    }
    output::tell(&format!("This entry works until {}, when its session ends.", session.expires_at));
    if client.is_some() {
        output::tell("The file holds the session key; keep it out of version control.");
    }
    Ok(())
}

/// Notes that the default project is used because no project contains this directory.
fn tell_default(project: &Project, argument: &ProjectArg) {
    if argument.project.is_none() && !project.holds_current_directory {
        output::tell(&format!(
            "note: using project `{}`, because no project contains this directory; {ADD_PROJECT}",
            project.name
        ));
    }
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
        let report = super::request_body([
            ("file", Some(json!(target.path))),
            ("name", Some(json!(args.name))),
            ("expiresAt", expires_at.map(|time| json!(time))),
        ]);
        return output::print_json(&report);
    }
    let what = match &target.before {
        Some(before) if *before == merged => "is up to date".to_owned(),
        Some(before) if merge::holds(client, before, &args.name) => format!("written, with the entry `{}` replaced", args.name),
        _ => "written".to_owned(),
    };
    output::print(&format!("{} {what}. Next: {}.", target.path.display(), client.next()))
}
