//! `toolcrib session`: opens, lists and ends sessions.

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::ListArgs;
use crate::client::encode;
use crate::opening::{OutcomeWord, SessionArgs as Opening};
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

const COLUMNS: [Column; 8] = [
    ("ID", "/sessionId"),
    ("STATE", "/state"),
    ("PROJECT", "/projectId"),
    ("AGENT", "/agent"),
    ("WORK", "/workType"),
    ("OUTCOME", "/outcome"),
    ("CREATED", "/createdAt"),
    ("EXPIRES", "/expiresAt"),
];

/// Maximum number of agents whose names are looked up for a list.
const AGENTS_MAX: u64 = 10_000;

/// Manages sessions. A session is one agent's run in a project, with its own key and MCP endpoint.
#[derive(Args, Debug)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// The state of a session.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    /// Can be used
    Open,
    /// Ended explicitly
    Ended,
    /// Past its expiry time
    Expired,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Ended => "ended",
            State::Expired => "expired",
        }
    }
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's sessions, newest first
    List {
        /// Only sessions in this state
        #[arg(long)]
        state: Option<State>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a session
    Show {
        /// Session, by id
        session: String,
    },
    /// Open a session; its key is shown only once, in the MCP config
    #[command(after_help = "Example:\n  toolcrib session open --work-type bug_fix --ttl 8h --json")]
    Open {
        #[command(flatten)]
        project: ProjectArg,
        #[command(flatten)]
        how: Opening,
    },
    /// End a session and revoke its key
    End {
        /// Session, by id
        session: String,
        /// Outcome of the work; adjusts the weight of the memories it recalled
        #[arg(long)]
        outcome: Option<OutcomeWord>,
    },
}

pub(crate) async fn run(args: SessionArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List { state, list } => {
            let filter = state.map(|state| format!("?state={}", state.word())).unwrap_or_default();
            let mut answer = place.api.list(&place.path(&format!("/sessions{filter}")), "sessions", list.limit).await?;
            if !args.client.json {
                name_agents(&place, &mut answer).await?;
            }
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
                format!("{}\n\nMCP config with the session key (shown only once):\n{config}", output::align(&lines))
            })
        }
        Verb::End { session, outcome } => {
            let body = outcome.map_or(json!({}), |outcome| json!({ "outcome": outcome.word() }));
            let answer = place.api.post(&place.path(&format!("/sessions/{}/end", encode(&session))), &body).await?;
            place.print_as(&answer, || format!("ended {session}"))
        }
    }
}

/// Adds the agent to each row: the registered agent's name, or else the session's agent label.
async fn name_agents(place: &Workplace, answer: &mut Value) -> Result<()> {
    let rows = answer.get_mut("sessions").and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
    let agents = if rows.iter().any(|row| row.get("agentId").is_some_and(Value::is_string)) {
        place.api.list(&place.path("/agents"), "agents", AGENTS_MAX).await?
    } else {
        Value::Null
    };
    let agents = agents.get("agents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for row in rows {
        let id = row.get("agentId").filter(|id| id.is_string());
        let registered =
            agents.iter().find(|agent| id.is_some() && agent.get("agent_id") == id).and_then(|agent| agent.get("name"));
        let shown = registered.or(id).or(row.get("agentLabel")).cloned().unwrap_or_default();
        if let Some(members) = row.as_object_mut() {
            members.insert("agent".to_owned(), shown);
        }
    }
    Ok(())
}
