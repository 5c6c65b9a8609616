//! `toolcrib decision`: shows the decisions that a project's agents recorded.

use anyhow::Result;
use clap::{Args, Subcommand};

use super::{Author, ListArgs};
use crate::client::encode;
use crate::output::Column;
use crate::workplace::{ClientArgs, ProjectArg};

const COLUMNS: [Column; 6] = [
    ("ID", "/id"),
    ("DECISION", "/decision"),
    ("IMPACT", "/impact"),
    ("CONFIDENCE", "/confidence"),
    ("AGENT", "/agentId"),
    ("DECIDED", "/createdAt"),
];

/// Lists and shows the decisions that agents recorded with their reasons.
#[derive(Args, Debug)]
pub(crate) struct DecisionArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List decisions, newest first
    List {
        #[command(flatten)]
        author: Author,
        /// Only decisions since this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only decisions before this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only decisions with this word or phrase
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a decision with its reasons and alternatives
    Show {
        /// Decision, by id
        id: String,
    },
}

pub(crate) async fn run(args: DecisionArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let base = place.path(&format!("/projects/{}/decisions", encode(&place.project(&args.project).await?.id)));
    match args.verb {
        Verb::List { author, since, until, text, list } => {
            let query = author.query(&place, [("since", since), ("until", until), ("text", text)]).await?;
            let answer = place.api.list(&format!("{base}{query}"), "decisions", list.limit).await?;
            place.print_list(&answer, "decisions", &COLUMNS)
        }
        Verb::Show { id } => place.print(&place.api.get(&format!("{base}/{}", encode(&id))).await?),
    }
}
