//! `toolcrib graph`: the facts that a project's agents stated.

mod transfer;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{ListArgs, said};
use crate::client::encode;
use crate::output::Column;
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

const TRIPLET_COLUMNS: [Column; 8] = [
    ("ID", "/id"),
    ("SOURCE", "/sourceEntity"),
    ("RELATIONSHIP", "/relationship"),
    ("TARGET", "/targetEntity"),
    ("WEIGHT", "/weight"),
    ("AGENT", "/provenance/agentId"),
    ("LEARNED", "/provenance/timestamp"),
    ("SUPERSEDED", "/supersededAt"),
];
const HIT_COLUMNS: [Column; 6] = [
    ("SCORE", "/score"),
    ("ID", "/triplet/id"),
    ("SOURCE", "/triplet/sourceEntity"),
    ("RELATIONSHIP", "/triplet/relationship"),
    ("TARGET", "/triplet/targetEntity"),
    ("AGENT", "/triplet/provenance/agentId"),
];
const ENTITY_COLUMNS: [Column; 6] = [
    ("ID", "/id"),
    ("NAME", "/name"),
    ("TYPE", "/type"),
    ("WEIGHT", "/weight"),
    ("MERGED INTO", "/mergedInto"),
    ("CREATED", "/createdAt"),
];
const SUGGESTION_COLUMNS: [Column; 5] =
    [("ALIKE", "/similarity"), ("FROM", "/from/name"), ("INTO", "/into/name"), ("FROM ID", "/from/id"), ("INTO ID", "/into/id")];
/// What the id of every entity begins with.
const ENTITY: &str = base::EntityId::PREFIX;

/// Look through a project's knowledge graph, ask it, say which entities are one, and undo what one agent or session stated.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Say how much the graph knows
    Stats,
    /// List facts that stand, newest first
    List {
        #[command(flatten)]
        author: Author,
        /// What was known and true at this time, in RFC 3339
        #[arg(long, value_name = "TIME")]
        as_of: Option<String>,
        /// Also what was superseded or retracted, and what is not true at the time
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a fact and who stated it, or an entity and what it is called
    Show {
        /// The triplet's or the entity's id
        id: String,
    },
    /// List what facts are about, newest first
    Entities {
        #[command(flatten)]
        list: ListArgs,
    },
    /// Ask the graph as an agent would
    Search {
        /// In plain words
        query: String,
        /// How many facts
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
        /// How many hops are walked from what words and meaning find
        #[arg(long, value_name = "N", default_value_t = 2)]
        depth: u32,
        /// What was known and true at this time, in RFC 3339
        #[arg(long, value_name = "TIME")]
        as_of: Option<String>,
    },
    /// Say that an entity is another one; `split` undoes it
    Merge {
        /// The id of the entity that is another one
        from: String,
        /// The id of the one it is
        into: String,
        /// Only say what would be merged
        #[arg(long)]
        dry_run: bool,
    },
    /// Undo a merge
    Split {
        /// The id of the entity that was merged
        id: String,
    },
    /// Point out entities whose names are nearly the same
    Suggest,
    /// Retract what an agent or a session stated and nobody else did
    Rollback {
        #[command(flatten)]
        author: Author,
        /// Only from this time on, in RFC 3339
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Write the facts that stand to standard output, oldest first
    Export {
        /// How they are written
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: Format,
    },
    /// State the facts of a file: what `export` wrote, or lines as `graph_ingest` takes them
    Import {
        /// The file, one JSON object a line; - reads stdin
        file: String,
    },
}

#[derive(Args, Debug)]
struct Author {
    /// Only what this agent stated: its id or name, or label:WORD
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only what was stated in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
}

pub(crate) async fn run(args: GraphArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let base = format!("/projects/{}/graph", encode(&place.project(&args.project).await?.id));
    let path = |rest: &str| place.path(&format!("{base}{rest}"));
    match args.verb {
        Verb::Stats => place.print(&place.api.get(&path("")).await?),
        Verb::List { author, as_of, all, list } => {
            let all = all.then(|| "true".to_owned());
            let agent = place.agent_if_named(author.agent).await?;
            let asked = [("agentId", agent), ("sessionId", author.session), ("asOf", as_of), ("all", all)];
            let asked = asked.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", encode(&value?))));
            let asked = asked.collect::<Vec<_>>().join("&");
            let list_path = if asked.is_empty() { path("/triplets") } else { path(&format!("/triplets?{asked}")) };
            let answer = place.api.list(&list_path, "triplets", list.limit).await?;
            place.print_list(&answer, "triplets", &TRIPLET_COLUMNS)
        }
        Verb::Show { id } => {
            let noun = if id.starts_with(ENTITY) { "entities" } else { "triplets" };
            place.print(&place.api.get(&path(&format!("/{noun}/{}", encode(&id)))).await?)
        }
        Verb::Entities { list } => {
            let answer = place.api.list(&path("/entities"), "entities", list.limit).await?;
            place.print_list(&answer, "entities", &ENTITY_COLUMNS)
        }
        Verb::Search { query, limit, depth, as_of } => {
            let body = said([
                ("query", Some(json!(query))),
                ("limit", Some(json!(limit))),
                ("depth", Some(json!(depth))),
                ("asOf", as_of.map(|as_of| json!(as_of))),
            ]);
            place.print_list(&place.api.post(&path("/search"), &body).await?, "hits", &HIT_COLUMNS)
        }
        Verb::Merge { from, into, dry_run } => {
            let body = json!({"into": into, "dryRun": dry_run});
            let answer = place.api.post(&path(&format!("/entities/{}/merge", encode(&from))), &body).await?;
            let done = if dry_run { "would merge" } else { "merged" };
            place.print_as(&answer, || format!("{done} {} into {}", name(&answer, "from"), name(&answer, "into")))
        }
        Verb::Split { id } => {
            let answer = place.api.post(&path(&format!("/entities/{}/split", encode(&id))), &json!({})).await?;
            place.print_as(&answer, || format!("split {} from {}", name(&answer, "from"), name(&answer, "into")))
        }
        Verb::Suggest => place.print_list(&place.api.get(&path("/suggestions")).await?, "suggestions", &SUGGESTION_COLUMNS),
        Verb::Rollback { author, since, yes } => {
            if author.agent.is_none() && author.session.is_none() {
                bail!("say whose facts to retract: --agent, --session, or both");
            }
            if !yes {
                bail!("this retracts what only the agent or session stated: say --yes, or look first with `toolcrib graph list`");
            }
            let agent = place.agent_if_named(author.agent).await?;
            let body = said([
                ("agentId", agent.map(|agent| json!(agent))),
                ("sessionId", author.session.map(|session| json!(session))),
                ("since", since.map(|since| json!(since))),
            ]);
            roll_back(&place, &path("/rollback"), &body).await
        }
        Verb::Export { format: Format::Jsonl } => transfer::export(&place, &path("/triplets?all=true")).await,
        Verb::Import { file } => transfer::import(&place, &args.project, &file).await,
    }
}

/// What an entity of an answer is called.
fn name<'v>(answer: &'v Value, member: &str) -> &'v str {
    answer.get(member).and_then(|entity| entity.get("name")?.as_str()).unwrap_or_default()
}

/// The server takes some at a time.
async fn roll_back(place: &Workplace, path: &str, body: &Value) -> Result<()> {
    let (mut retracted, mut restored, mut split) = (0, 0, 0);
    loop {
        let answer = place.api.post(path, body).await?;
        let count = |member: &str| answer.get(member).and_then(Value::as_u64).unwrap_or(0);
        if count("retracted") + count("split") == 0 {
            break;
        }
        retracted += count("retracted");
        restored += count("restored");
        split += count("split");
    }
    let answer = json!({ "retracted": retracted, "restored": restored, "split": split });
    place.print_as(&answer, || format!("retracted: {retracted} fact(s); restored: {restored}; merges undone: {split}"))
}
