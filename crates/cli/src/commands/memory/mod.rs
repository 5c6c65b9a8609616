//! `toolcrib memory`: what a project's agents noted.

mod import;
mod report;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{ListArgs, said};
use crate::client::encode;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("TYPE", "/type"), ("AGENT", "/agentId"), ("CREATED", "/createdAt"), ("CONTENT", "/content")];
const HIT_COLUMNS: [Column; 6] = [
    ("SCORE", "/score"),
    ("KEYWORD", "/why/keyword"),
    ("VECTOR", "/why/vector"),
    ("ID", "/observation/id"),
    ("AGENT", "/observation/agentId"),
    ("CONTENT", "/observation/content"),
];
/// Observations read at once while exporting.
const PAGE: u32 = 200;

/// Look through a project's memory, ask it, tidy it, and carry it elsewhere.
#[derive(Args, Debug)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List observations, newest first
    List {
        #[command(flatten)]
        filter: Filter,
        /// As it was known at this time, in RFC 3339
        #[arg(long, value_name = "TIME")]
        as_of: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Ask memory as an agent would, and see why each hit was found
    Search {
        /// In plain words
        query: String,
        /// How many hits
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
    },
    /// Show an observation and how its weight moved
    Show {
        /// The observation's id
        id: String,
    },
    /// Forget an observation: its text is gone for good
    Forget {
        /// The observation's id
        id: String,
    },
    /// Forget everything that an agent or a session wrote
    Rollback {
        #[command(flatten)]
        filter: Author,
        /// Only from this time on, in RFC 3339
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Write all observations to standard output, oldest last
    Export {
        /// How they are written
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: Format,
    },
    /// Take in what `memory export` wrote elsewhere, or notes of your own
    ///
    /// A line is a JSON object that needs a "content" and nothing else. Who said it there is kept behind "import:". What is here
    /// already is skipped, so the same file can be imported again.
    Import {
        /// File with one JSON object a line; - reads stdin
        file: PathBuf,
    },
    /// Say what fills memory: who, what is there twice, what nobody was given, what misled
    Report,
}

#[derive(Args, Debug)]
struct Author {
    /// Only what this agent said: its id or name, or label:WORD
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only what was said in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

#[derive(Args, Debug)]
struct Filter {
    #[command(flatten)]
    author: Author,
    /// Only of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
    /// A document for people
    Markdown,
}

pub(crate) async fn run(args: MemoryArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let base = format!("/projects/{}/memory", encode(&place.project(&args.project).await?.id));
    match args.verb {
        Verb::List { filter, as_of, list } => {
            let agent = place.agent_if_named(filter.author.agent).await?;
            let mut path = format!("{base}?");
            let asked = [("agentId", agent), ("sessionId", filter.author.session), ("type", filter.kind), ("asOf", as_of)];
            for (name, value) in asked {
                if let Some(value) = value {
                    path.push_str(&format!("{name}={}&", encode(&value)));
                }
            }
            let answer = place.api.list(&place.path(path.trim_end_matches(['?', '&'])), "observations", list.limit).await?;
            place.print_list(&answer, "observations", &COLUMNS)
        }
        Verb::Search { query, limit } => {
            let body = json!({"query": query, "limit": limit});
            let answer = place.api.post(&place.path(&format!("{base}/search")), &body).await?;
            place.print_list(&answer, "hits", &HIT_COLUMNS)
        }
        Verb::Show { id } => place.print(&place.api.get(&place.path(&format!("{base}/{}", encode(&id)))).await?),
        Verb::Forget { id } => {
            let path = place.path(&format!("{base}/{}", encode(&id)));
            let answer = place.api.delete(&path).await?;
            place.print_as(&answer, || format!("forgotten: {id}"))
        }
        Verb::Rollback { filter, since, yes } => {
            if filter.agent.is_none() && filter.session.is_none() {
                bail!("say whose observations to forget: --agent, --session, or both");
            }
            let agent = place.agent_if_named(filter.agent).await?;
            let body = said([
                ("agentId", agent.map(|agent| json!(agent))),
                ("sessionId", filter.session.map(|session| json!(session))),
                ("since", since.map(|since| json!(since))),
            ]);
            if !yes {
                bail!(
                    "this forgets for good what the agent or session wrote: say --yes, or look first with `toolcrib memory list`"
                );
            }
            roll_back(&place, &format!("{base}/rollback"), &body).await
        }
        Verb::Export { format } => export(&place, &base, format).await,
        Verb::Import { file } => import::run(&place, &format!("{base}/import"), &file).await,
        Verb::Report => report::run(&place, &format!("{base}/report")).await,
    }
}

/// The server takes some at a time.
async fn roll_back(place: &Workplace, path: &str, body: &Value) -> Result<()> {
    let mut forgotten = 0;
    loop {
        let answer = place.api.post(&place.path(path), body).await?;
        match answer.get("forgotten").and_then(Value::as_u64).unwrap_or(0) {
            0 => break,
            some => forgotten += some,
        }
    }
    place.print_as(&json!({ "forgotten": forgotten }), || format!("forgotten: {forgotten} observation(s)"))
}

async fn export(place: &Workplace, base: &str, format: Format) -> Result<()> {
    let mut cursor: Option<String> = None;
    loop {
        let after = cursor.as_deref().map(|cursor| format!("&cursor={}", encode(cursor))).unwrap_or_default();
        let page = place.api.get(&place.path(&format!("{base}?limit={PAGE}{after}"))).await?;
        for observation in page.get("observations").and_then(Value::as_array).into_iter().flatten() {
            match format {
                Format::Jsonl => output::print(&observation.to_string())?,
                Format::Markdown => output::print(&markdown(observation))?,
            }
        }
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            return Ok(());
        }
    }
}

/// A heading that says where it comes from, and the text quoted.
fn markdown(observation: &Value) -> String {
    let text = |name: &str| observation.get(name).and_then(Value::as_str).unwrap_or_default();
    let quoted: String = text("content").lines().map(|line| format!("> {line}\n")).collect();
    format!("## {} ({})\n\n{} on {}\n\n{quoted}", text("id"), text("type"), text("agentId"), text("createdAt"))
}
