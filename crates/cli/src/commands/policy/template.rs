//! `toolcrib policy grant` and `toolcrib policy forbid`: common policies without writing Cedar.

use anyhow::{Context, Result, bail};
use base::AgentId;
use clap::{ArgGroup, Args};
use serde_json::{Value, json};

use super::cedar::{Effect, Named, PrincipalScope, Statement, What};
use super::{path, put, saved, text};
use crate::client::{ApiError, encode};
use crate::workplace::{ProjectArg, Workplace};

pub(super) const GRANT: &str = "\
Examples:
  toolcrib policy grant --read-only-tools --everyone
  toolcrib policy grant --tool bricks.list --tool kits.list --project web
  toolcrib policy grant --all-tools --project web --dry-run

The policy `starter` of a new org already permits all built-in tools. A grant
of some tools does not restrict the others while `starter` exists. Scopes and
allowlists still apply.";

pub(super) const FORBID: &str = "\
Examples:
  toolcrib policy forbid --tool bricks.create_draft --agent ci-bot
  toolcrib policy forbid --writing-tools --agent reviewer --log-only
  toolcrib policy forbid --all-tools --everyone --dry-run

A forbid overrides every permit. Undo it with `toolcrib policy remove`.";

/// Describes the policy and how to save it.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("who").required(true).multiple(true).args(["agent", "session", "project", "everyone"]))]
#[command(group = ArgGroup::new("what").required(true).args(["tools", "all_tools", "read_only_tools", "writing_tools"]))]
pub(crate) struct TemplateArgs {
    /// Agent and its sessions, by id or name
    #[arg(long, value_name = "AGENT", conflicts_with = "session", help_heading = "Who")]
    agent: Option<String>,
    /// Session, by id
    #[arg(long, value_name = "SESSION", help_heading = "Who")]
    session: Option<String>,
    /// Everyone in this project, by id or name; with --agent, only the agent in this project
    #[arg(long, value_name = "PROJECT", help_heading = "Who")]
    project: Option<String>,
    /// Every agent and session of the org
    #[arg(long, conflicts_with_all = ["agent", "session", "project"], help_heading = "Who")]
    everyone: bool,

    /// Tool, by canonical name (repeatable)
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',', help_heading = "What")]
    tools: Vec<String>,
    /// Every built-in tool
    #[arg(long, help_heading = "What")]
    all_tools: bool,
    /// Every read-only built-in tool
    #[arg(long, help_heading = "What")]
    read_only_tools: bool,
    /// Every built-in tool that is not read-only
    #[arg(long, help_heading = "What")]
    writing_tools: bool,

    /// Policy id [default: derived from the other flags]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only print the policy
    #[arg(long)]
    dry_run: bool,
    /// Only record what the policy would change, without enforcing it
    #[arg(long)]
    log_only: bool,
    /// Replace an existing policy with the same id
    #[arg(long)]
    replace: bool,
}

pub(super) async fn run(place: &Workplace, effect: Effect, args: &TemplateArgs) -> Result<()> {
    let statement = args.statement(place, effect).await?;
    let cedar = statement.render();
    let id = args.id.clone().unwrap_or_else(|| statement.id());
    if args.dry_run {
        let mode = if args.log_only { "log_only" } else { "enforce" };
        return place.print_as(&json!({ "policy": { "id": id, "cedar": cedar, "mode": mode } }), || cedar.trim_end().to_owned());
    }
    if !args.replace {
        refuse_to_replace(place, &id, &cedar).await?;
    }
    let answer = put(place, &id, &cedar, args.log_only, &id).await?;
    place.print_as(&answer, || format!("{cedar}\n{}", saved(&answer)))
}

/// Refuses to overwrite a different policy with the same id, because two names can give the same id.
async fn refuse_to_replace(place: &Workplace, id: &str, cedar: &str) -> Result<()> {
    let current = match place.api.get(&path(place, id)).await {
        Ok(answer) => answer.pointer("/versions/0/cedar").and_then(Value::as_str).map(str::to_owned),
        Err(error) if error.downcast_ref::<ApiError>().is_some_and(|refusal| refusal.status.as_u16() == 404) => None,
        Err(error) => return Err(error),
    };
    match current {
        Some(current) if current != cedar => bail!(
            "a different policy `{id}` already exists (see `toolcrib policy show {id}`); pass --id for another id, or --replace"
        ),
        _ => Ok(()),
    }
}

impl TemplateArgs {
    /// Builds the statement and resolves all names.
    async fn statement(&self, place: &Workplace, effect: Effect) -> Result<Statement> {
        let project = match &self.project {
            Some(project) => Some(named_project(place, project).await?),
            None => None,
        };
        let (who, inside) = match (&self.agent, &self.session, project) {
            (Some(agent), _, inside) => (PrincipalScope::Agent(named_agent(place, agent).await?), inside),
            (None, Some(session), inside) => {
                let answer = place.api.get(&place.path(&format!("/sessions/{}", encode(session)))).await?;
                (PrincipalScope::Session(found(&answer, "/session/sessionId")?), inside)
            }
            (None, None, Some(project)) => (PrincipalScope::Project(project), None),
            (None, None, None) => (PrincipalScope::Everyone, None),
        };
        Ok(Statement { effect, who, inside, what: self.what() })
    }

    fn what(&self) -> What {
        if self.all_tools {
            What::AllTools
        } else if self.read_only_tools || self.writing_tools {
            What::ToolsThat { only_read: self.read_only_tools }
        } else {
            What::Tools(self.tools.clone())
        }
    }
}

async fn named_agent(place: &Workplace, agent: &str) -> Result<Named> {
    let id = place.id_of("agents", AgentId::PREFIX, "name", agent).await?;
    let answer = place.api.get(&place.path(&format!("/agents/{}", encode(&id)))).await?;
    Ok(Named { id: found(&answer, "/agent/agent_id")?, name: found(&answer, "/agent/name")? })
}

async fn named_project(place: &Workplace, project: &str) -> Result<Named> {
    let id = place.project(&ProjectArg { project: Some(project.to_owned()) }).await?.id;
    let answer = place.api.get(&place.path(&format!("/projects/{}", encode(&id)))).await?;
    Ok(Named { id: found(&answer, "/project/id")?, name: found(&answer, "/project/name")? })
}

fn found(answer: &Value, pointer: &str) -> Result<String> {
    let found = Some(text(answer, pointer)).filter(|text| !text.is_empty());
    found
        .map(str::to_owned)
        .with_context(|| format!("the server's response has no {pointer}; run `toolcrib doctor` to compare versions"))
}
