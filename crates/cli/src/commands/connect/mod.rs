//! `toolcrib connect`: writes an MCP client's entry for this directory. The usual entry starts `toolcrib stdio`, which opens
//! a session of its own each time, so that no secret stands in a file. `--http` opens one session now and writes its key.

mod entry;
mod merge;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::files;
use crate::find::ServerArgs;
use crate::opening::SessionArgs;
use crate::output;
use crate::workplace::{ClientArgs, ProjectArg, Workplace};
use entry::Entry;

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
        Target::read(client)?.with(&args.name, &Entry::Stdio { program: String::new(), arguments: Vec::new() })?;
    }
    if !args.http && args.to.is_some() {
        deliver(&args, client, &stdio_entry(&args).await?)?;
        if let Some(client) = client.filter(|_| args.client.server.key.is_some()) {
            eprintln!("The entry holds no key: {} needs TOOLCRIB_KEY in its environment.", client.file());
        }
        return Ok(());
    }
    let place = args.client.workplace().await?;
    let project = place.project(&args.project).await?;
    let session = place.open_session(&project.id, &args.how).await?;
    if let Err(error) = deliver(&args, client, &Entry::Http { url: session.mcp_url, key: session.key }) {
        // Nobody has seen its key, so nobody will ever use it.
        if let Err(error) = place.end_session(&session.id, None).await {
            eprintln!("warning: {error:#}");
        }
        return Err(error);
    }
    if client.is_some() {
        eprintln!("The file holds a session's key: keep it out of version control. The session ends by itself.");
    }
    Ok(())
}

/// Writes the entry into the client's file, or prints it.
fn deliver(args: &ConnectArgs, client: Option<Client>, entry: &Entry) -> Result<()> {
    match client {
        Some(client) => write(client, args, entry),
        None => {
            let shown = entry::whole_file(args.to.unwrap_or(Client::Claude), &args.name, entry)?;
            output::print(shown.trim_end())
        }
    }
}

/// An entry that starts this program. What was said here is said there; the key is not.
async fn stdio_entry(args: &ConnectArgs) -> Result<Entry> {
    if args.how.ttl.is_some() {
        bail!("--ttl is for --http: `toolcrib stdio` ends its session when the client ends it");
    }
    let program = std::env::current_exe().context("cannot find this program's own path")?;
    let program = program.to_str().context("this program's path is not in UTF-8")?.to_owned();
    let mut arguments = vec!["stdio".to_owned()];
    let mut say = |flag: &str, value: Option<&str>| {
        if let Some(value) = value {
            arguments.extend([format!("--{flag}"), value.to_owned()]);
        }
    };
    let ServerArgs { url, data, .. } = &args.client.server;
    let data = data.as_ref().map(|data| data.canonicalize().or_else(|_| std::path::absolute(data))).transpose()?;
    say("url", url.as_deref());
    say("data", data.as_ref().map(|data| data.to_str().context("the data folder's path is not in UTF-8")).transpose()?);
    say("org", args.client.org.as_deref());
    say("project", project_name(args).await?.as_deref());
    say("work-type", args.how.work_type.as_deref());
    say("agent-label", args.how.agent_label.as_deref());
    say("agent", args.how.agent_id.as_deref());
    for tool in &args.how.tools {
        say("tool", Some(tool));
    }
    let names = args.how.tool_names.as_ref().and_then(ValueEnum::to_possible_value);
    say("tool-names", names.as_ref().map(clap::builder::PossibleValue::get_name));
    Ok(Entry::Stdio { program, arguments })
}

/// The project to name in the entry: the one that was named, or the one whose root holds this directory, because not every
/// client starts its servers here. Otherwise `toolcrib stdio` decides when it starts.
async fn project_name(args: &ConnectArgs) -> Result<Option<String>> {
    let place: Result<Workplace> = args.client.workplace().await;
    match (&args.project.project, place) {
        (Some(named), Ok(place)) => {
            // Only to say now that there is no such project, and not when the client starts.
            place.project(&args.project).await?;
            Ok(Some(named.clone()))
        }
        (None, Ok(place)) => {
            let found = place.project(&args.project).await.ok().filter(|project| project.holds_current_directory);
            Ok(found.map(|project| project.name))
        }
        (named, Err(error)) => {
            eprintln!("warning: the server cannot be asked now ({error}); the entry will work when it runs, or start its own");
            Ok(named.clone())
        }
    }
}

/// A client's file, as it is before we touch it.
struct Target {
    client: Client,
    path: PathBuf,
    before: Option<String>,
}

impl Target {
    fn read(client: Client) -> Result<Self> {
        let here = std::env::current_dir().context("there is no current directory")?;
        let path = here.join(client.file());
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        Ok(Self { client, path, before })
    }

    /// Its text with the entry in it.
    fn with(&self, name: &str, entry: &Entry) -> Result<String> {
        let untouched = || format!("{} was left as it is", self.path.display());
        merge::merge(self.client, self.before.as_deref(), name, entry).with_context(untouched)
    }
}

fn write(client: Client, args: &ConnectArgs, entry: &Entry) -> Result<()> {
    let target = Target::read(client)?;
    let merged = target.with(&args.name, entry)?;
    let mode = matches!(entry, Entry::Http { .. }).then_some(files::PRIVATE);
    files::replace(&target.path, &merged, mode)?;
    let what = if target.before.is_some_and(|before| before == merged) { "is up to date" } else { "written" };
    if args.client.json {
        return output::print_json(&serde_json::json!({ "file": target.path, "name": args.name }));
    }
    output::print(&format!("{} {what}. Next: {}.", target.path.display(), client.next()))
}
