//! `toolcrib memory`: searches and manages the memory of a project's agents.

mod import;
mod report;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{Author, ListArgs};
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
/// Observations per request of an export.
const PAGE: u32 = 200;

/// Lists, searches, cleans up, exports and imports a project's memory.
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
        /// Show what was known at this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        as_of: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Search memory as an agent does, and show why each hit matches
    Search {
        /// Query in plain words
        query: String,
        /// Maximum number of hits
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
    },
    /// Show an observation and the history of its weight
    Show {
        /// Observation, by id
        id: String,
    },
    /// Permanently delete the text of an observation
    Forget {
        /// Observation, by id
        id: String,
    },
    /// Forget all observations of an agent or session
    Rollback {
        #[command(flatten)]
        author: Author,
        /// Only observations since this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Confirm the rollback
        #[arg(long)]
        yes: bool,
    },
    /// Write all observations to stdout, newest first
    Export {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: Format,
    },
    /// Import the output of `memory export`, or your own notes
    ///
    /// Each line is a JSON object; only "content" is required. The original author is kept with the prefix "import:". Observations
    /// that already exist are skipped, so the same file can be imported again.
    Import {
        /// JSONL file; - reads stdin
        file: PathBuf,
    },
    /// Report authors, duplicates, unused and misleading observations
    Report,
}

#[derive(Args, Debug)]
struct Filter {
    #[command(flatten)]
    author: Author,
    /// Only observations of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One JSON object per line
    Jsonl,
    /// A Markdown document
    Markdown,
}

pub(crate) async fn run(args: MemoryArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let base = format!("/projects/{}/memory", encode(&place.project(&args.project).await?.id));
    match args.verb {
        Verb::List { filter, as_of, list } => {
            let query = filter.author.query(&place, [("type", filter.kind), ("asOf", as_of)]).await?;
            let answer = place.api.list(&place.path(&format!("{base}{query}")), "observations", list.limit).await?;
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
            place.print_as(&answer, || format!("forgot {id}"))
        }
        Verb::Rollback { author, since, yes } => {
            if author.is_anyone() {
                bail!("no observations selected; pass --agent, --session, or both");
            }
            let body = author.roll_back_body(&place, since).await?;
            if !yes {
                bail!("this permanently forgets observations; check them with `toolcrib memory list`, then pass --yes");
            }
            roll_back(&place, &format!("{base}/rollback"), &body).await
        }
        Verb::Export { format } => export(&place, &base, format).await,
        Verb::Import { file } => import::run(&place, &format!("{base}/import"), &file).await,
        Verb::Report => report::run(&place, &format!("{base}/report")).await,
    }
}

/// Repeats the request until nothing is left, because the server rolls back in batches.
async fn roll_back(place: &Workplace, path: &str, body: &Value) -> Result<()> {
    let mut forgotten = 0;
    loop {
        let answer = place.api.post(&place.path(path), body).await?;
        match answer.get("forgotten").and_then(Value::as_u64).unwrap_or(0) {
            0 => break,
            some => forgotten += some,
        }
    }
    place.print_as(&json!({ "forgotten": forgotten }), || format!("forgot {forgotten} observation(s)"))
}

async fn export(place: &Workplace, base: &str, format: Format) -> Result<()> {
    let mut cursor: Option<String> = None;
    loop {
        let after = cursor.as_deref().map(|cursor| format!("&cursor={}", encode(cursor))).unwrap_or_default();
        let page = place.api.get(&place.path(&format!("{base}?limit={PAGE}{after}"))).await?;
        for observation in page.get("observations").and_then(Value::as_array).into_iter().flatten() {
            match format {
                Format::Jsonl => output::print_untrusted(&observation.to_string())?,
                Format::Markdown => output::print_untrusted(&markdown(observation))?,
            }
        }
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            return Ok(());
        }
    }
}

/// Formats an observation as a heading, its author and time, and the quoted text.
fn markdown(observation: &Value) -> String {
    let text = |name: &str| observation.get(name).and_then(Value::as_str).unwrap_or_default();
    let quoted: String = text("content").lines().map(|line| format!("> {line}\n")).collect();
    format!("## {} ({})\n\n{} on {}\n\n{quoted}", text("id"), text("type"), text("agentId"), text("createdAt"))
}
