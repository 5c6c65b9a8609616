//! `toolcrib agent`: machine identities for the agent door.

use anyhow::Result;
use base::AgentId;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, said};
use crate::client::encode;
use crate::opening::ToolNames;
use crate::output::Column;
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

const COLUMNS: [Column; 6] = [
    ("ID", "/agent_id"),
    ("NAME", "/name"),
    ("KEY", "/agent_key"),
    ("SCOPES", "/scopes"),
    ("TOOLS", "/tools"),
    ("DISABLED", "/disabled"),
];

/// Agents: machine identities with a key, a secret, scopes and an explicit list of tools.
#[derive(Args, Debug)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's agents
    List(ListArgs),
    /// Show an agent
    Show {
        /// Agent, by id or name
        agent: String,
    },
    /// Register an agent; its secret is shown once
    #[command(after_help = "Example:\n  toolcrib agent add reviewer --scope bricks:read --tool bricks.list")]
    Add {
        /// Its name
        name: String,
        /// Project it works in, by id or name; without one it sees no project tools
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// What it may do (repeatable)
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// Tool it may see (repeatable)
        #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',', required = true)]
        tools: Vec<String>,
        /// How its tools are listed: safe is for clients that break on names with a dot
        #[arg(long, value_name = "NAMES")]
        tool_names: Option<ToolNames>,
        /// Calls it may make in a minute [default: the server's]
        #[arg(long, value_name = "N")]
        per_minute: Option<u32>,
    },
    /// Change an agent; it holds from the next request
    Set {
        /// Agent, by id or name
        agent: String,
        /// What it may do from now on (repeatable)
        #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<String>,
        /// Tool it may see from now on (repeatable)
        #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',')]
        tools: Vec<String>,
        /// Lock it out: its tokens die at once
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Let it in again
        #[arg(long)]
        enable: bool,
        /// Calls it may make in a minute
        #[arg(long, value_name = "N")]
        per_minute: Option<u32>,
    },
    /// Give an agent a new secret, shown once; the old one and its tokens die at once
    Rotate {
        /// Agent, by id or name
        agent: String,
    },
    /// Remove an agent and its tokens
    Remove {
        /// Agent, by id or name
        agent: String,
    },
}

pub(crate) async fn run(args: AgentArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.path("/agents"), "agents", list.limit).await?;
            place.print_list(&answer, "agents", &COLUMNS)
        }
        Verb::Show { agent } => place.print(&place.api.get(&path(&place, &agent, "").await?).await?),
        Verb::Add { name, project, scopes, tools, tool_names, per_minute } => {
            let project = match project {
                Some(project) => Some(json!(place.project(&ProjectArg { project: Some(project) }).await?.id)),
                None => None,
            };
            let names = tool_names.map(|names| json!(if names == ToolNames::Safe { "safe" } else { "canonical" }));
            let body = said([
                ("name", Some(json!(name))),
                ("projectId", project),
                ("scopes", Some(json!(scopes))),
                ("tools", Some(json!(tools))),
                ("tool_names", names),
                ("rate_limit", per_minute.map(rate)),
            ]);
            print_secret(&place, &place.api.post(&place.path("/agents"), &body).await?)
        }
        Verb::Set { agent, scopes, tools, disable, enable, per_minute } => {
            let body = said([
                ("scopes", (!scopes.is_empty()).then(|| json!(scopes))),
                ("tools", (!tools.is_empty()).then(|| json!(tools))),
                ("disabled", (disable || enable).then(|| json!(disable))),
                ("rate_limit", per_minute.map(rate)),
            ]);
            place.print(&place.api.patch(&path(&place, &agent, "").await?, &body).await?)
        }
        Verb::Rotate { agent } => {
            print_secret(&place, &place.api.post(&path(&place, &agent, "/rotate").await?, &json!({})).await?)
        }
        Verb::Remove { agent } => {
            let id = id_of(&place, &agent).await?;
            place.api.delete(&place.path(&format!("/agents/{}", encode(&id)))).await?;
            place.print_as(&json!({ "removed": id }), || format!("removed {agent}"))
        }
    }
}

fn rate(per_minute: u32) -> Value {
    json!({ "per_minute": per_minute })
}

fn print_secret(place: &Workplace, answer: &Value) -> Result<()> {
    place.print(answer)?;
    eprintln!("The secret is shown this once: keep it now.");
    Ok(())
}

async fn id_of(place: &Workplace, agent: &str) -> Result<String> {
    place.id_of("agents", AgentId::PREFIX, "name", agent).await
}

async fn path(place: &Workplace, agent: &str, rest: &str) -> Result<String> {
    let id = id_of(place, agent).await?;
    Ok(place.path(&format!("/agents/{}{rest}", encode(&id))))
}
