//! `toolcrib graph`: searches and manages a project's knowledge graph.

mod transfer;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{Author, ListArgs, request_body};
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
const SUGGESTION_COLUMNS: [Column; 5] = [
    ("SIMILARITY", "/similarity"),
    ("FROM", "/from/name"),
    ("INTO", "/into/name"),
    ("FROM ID", "/from/id"),
    ("INTO ID", "/into/id"),
];
/// The prefix of entity ids.
const ENTITY: &str = base::EntityId::PREFIX;

/// Lists and searches a project's knowledge graph, merges entities, and retracts the facts of an agent or session.
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
    /// Show the size of the graph
    Stats,
    /// List current facts, newest first
    List {
        #[command(flatten)]
        author: Author,
        /// Show the facts known and valid at this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        as_of: Option<String>,
        /// Include facts that are superseded, retracted or not valid at the time
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a fact and its authors, or an entity and its names
    Show {
        /// Triplet or entity, by id
        id: String,
    },
    /// List entities, newest first
    Entities {
        #[command(flatten)]
        list: ListArgs,
    },
    /// Search the graph as an agent does
    Search {
        /// Query in plain words
        query: String,
        /// Maximum number of facts
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
        /// Hops to follow from each direct hit
        #[arg(long, value_name = "N", default_value_t = 2)]
        depth: u32,
        /// Show the facts known and valid at this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        as_of: Option<String>,
    },
    /// Merge one entity into another; `split` undoes it
    Merge {
        /// Entity to merge, by id
        from: String,
        /// Entity to keep, by id
        into: String,
        /// Only show what would be merged
        #[arg(long)]
        dry_run: bool,
    },
    /// Undo a merge
    Split {
        /// Merged entity, by id
        id: String,
    },
    /// Suggest merges of entities with similar names
    Suggest,
    /// Retract facts that only one agent or session stated
    Rollback {
        #[command(flatten)]
        author: Author,
        /// Only facts stated since this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Confirm the rollback
        #[arg(long)]
        yes: bool,
    },
    /// Write current facts to stdout, oldest first
    Export {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: Format,
    },
    /// Import facts from the output of `export`, or from lines in the format of `graph_ingest`
    Import {
        /// JSONL file; - reads stdin
        file: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One JSON object per line
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
            let query = author.query(&place, [("asOf", as_of), ("all", all)]).await?;
            let answer = place.api.list(&path(&format!("/triplets{query}")), "triplets", list.limit).await?;
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
            let body = request_body([
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
            if author.is_anyone() {
                bail!("no facts selected; pass --agent, --session, or both");
            }
            if !yes {
                bail!(
                    "this retracts facts that only the agent or session stated; check them with `toolcrib graph list`, then pass --yes"
                );
            }
            roll_back(&place, &path("/rollback"), &author.roll_back_body(&place, since).await?).await
        }
        Verb::Export { format: Format::Jsonl } => transfer::export(&place, &path("/triplets?all=true")).await,
        Verb::Import { file } => transfer::import(&place, &args.project, &file).await,
    }
}

/// The name of an entity in a response.
fn name<'v>(answer: &'v Value, member: &str) -> &'v str {
    answer.get(member).and_then(|entity| entity.get("name")?.as_str()).unwrap_or_default()
}

/// Repeats the request until nothing is left, because the server rolls back in batches.
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
    place.print_as(&answer, || format!("retracted {retracted} fact(s), restored {restored}, undid {split} merge(s)"))
}
