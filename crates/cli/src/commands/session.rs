//! `toolcrib session`: agents' runs.

use anyhow::Result;
use clap::{Args, Subcommand};

use super::ListArgs;
use crate::client::encode;
use crate::opening::{Outcome, SessionArgs as Opening};
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, ProjectArg};

const COLUMNS: [Column; 7] = [
    ("ID", "/sessionId"),
    ("STATE", "/state"),
    ("PROJECT", "/projectId"),
    ("AGENT", "/agentLabel"),
    ("WORK", "/workType"),
    ("OUTCOME", "/outcome"),
    ("CREATED", "/createdAt"),
];

/// Sessions: one agent's run in a project, with its own key and its own MCP endpoint.
#[derive(Args, Debug)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's sessions, newest first
    List(ListArgs),
    /// Show a session
    Show {
        /// Session, by id
        session: String,
    },
    /// Open a session; its key is shown once, inside the MCP config
    #[command(after_help = "Example:\n  toolcrib session open --work-type bug_fix --ttl 8h --json")]
    Open {
        #[command(flatten)]
        project: ProjectArg,
        #[command(flatten)]
        how: Opening,
    },
    /// End a session: its key is dead at once
    End {
        /// Session, by id
        session: String,
        /// How the work turned out: what was recalled for it learns from that
        #[arg(long)]
        outcome: Option<Outcome>,
    },
}

pub(crate) async fn run(args: SessionArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.path("/sessions"), "sessions", list.limit).await?;
            place.print_list(&answer, "sessions", &COLUMNS)
        }
        Verb::Show { session } => place.print(&place.api.get(&place.path(&format!("/sessions/{}", encode(&session)))).await?),
        Verb::Open { project, how } => {
            let project = place.project(&project).await?;
            let opened = place.open_session(&project.id, &how).await?;
            place.print_as(&opened.answer, || {
                let config = serde_json::to_string_pretty(&opened.mcp_config).unwrap_or_default();
                let lines = [("session", opened.id.as_str()), ("project", &project.name), ("mcp url", &opened.mcp_url)];
                let lines = lines.map(|(name, value)| vec![name.to_owned(), value.to_owned()]);
                format!("{}\n\nMCP config, with the session's key (shown this once):\n{config}", output::align(&lines))
            })
        }
        Verb::End { session, outcome } => {
            let body = outcome.map_or(serde_json::json!({}), |outcome| serde_json::json!({ "outcome": outcome.word() }));
            let answer = place.api.post(&place.path(&format!("/sessions/{}/end", encode(&session))), &body).await?;
            place.print_as(&answer, || format!("ended {session}"))
        }
    }
}
