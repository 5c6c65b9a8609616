//! `toolcrib policy grant` and `toolcrib policy forbid`: the usual policies without writing Cedar.

use anyhow::{Context, Result, bail};
use base::AgentId;
use clap::{ArgGroup, Args};
use serde_json::{Value, json};

use super::cedar::{Effect, Named, Statement, What, Who};
use super::{path, put, saved, text};
use crate::client::{ApiError, encode};
use crate::workplace::{ProjectArg, Workplace};

pub(super) const GRANT: &str = "\
Examples:
  toolcrib policy grant --read-only-tools --everyone
  toolcrib policy grant --tool bricks.list --tool kits.list --project web
  toolcrib policy grant --peer vercel_ops --skill deploy --agent ci-bot
  toolcrib policy grant --all-tools --project web --dry-run

A new org's policy `starter` permits all tools of this server already: grants
narrow nothing as long as it is there. Scopes and allowlists still apply.";

pub(super) const FORBID: &str = "\
Examples:
  toolcrib policy forbid --tool bricks.create_draft --agent ci-bot
  toolcrib policy forbid --writing-tools --agent reviewer --log-only
  toolcrib policy forbid --peer vercel_ops --everyone --dry-run

What is forbidden stays so, whatever else permits it. `toolcrib policy remove`
takes it back.";

/// Who, what, and what to do with the policy.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("who").required(true).multiple(true).args(["agent", "session", "project", "everyone"]))]
#[command(group = ArgGroup::new("what").required(true).args(["tools", "all_tools", "read_only_tools", "writing_tools", "peer"]))]
pub(crate) struct TemplateArgs {
    /// Agent, by id or name: at its own door, and in sessions that run for it
    #[arg(long, value_name = "AGENT", conflicts_with = "session", help_heading = "Who")]
    agent: Option<String>,
    /// Session, by id
    #[arg(long, value_name = "SESSION", help_heading = "Who")]
    session: Option<String>,
    /// Whoever works in this project, by id or name; with --agent: the agent, in this project
    #[arg(long, value_name = "PROJECT", help_heading = "Who")]
    project: Option<String>,
    /// Every agent and session of the org
    #[arg(long, conflicts_with_all = ["agent", "session", "project"], help_heading = "Who")]
    everyone: bool,

    /// Tool, by its canonical name (repeatable)
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',', help_heading = "What")]
    tools: Vec<String>,
    /// Every tool of this server
    #[arg(long, help_heading = "What")]
    all_tools: bool,
    /// Tools of this server that only read
    #[arg(long, help_heading = "What")]
    read_only_tools: bool,
    /// Tools of this server that change something
    #[arg(long, help_heading = "What")]
    writing_tools: bool,
    /// Peer agent, by slug: all its skills
    #[arg(long, value_name = "SLUG", help_heading = "What")]
    peer: Option<String>,
    /// Only this skill of the peer
    // What the group excludes would waive the need of a peer, so that is said for each.
    #[arg(
        long,
        value_name = "SKILL",
        requires = "peer",
        conflicts_with_all = ["tools", "all_tools", "read_only_tools", "writing_tools"],
        help_heading = "What"
    )]
    skill: Option<String>,

    /// Id to save the policy under [default: made of the above]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only print the policy
    #[arg(long)]
    dry_run: bool,
    /// Only try it: what it would change is recorded and nothing happens
    #[arg(long)]
    log_only: bool,
    /// Put it in the place of a policy with the same id
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

/// What is in force under an id must not go because two names look alike.
async fn refuse_to_replace(place: &Workplace, id: &str, cedar: &str) -> Result<()> {
    let current = match place.api.get(&path(place, id)).await {
        Ok(answer) => answer.pointer("/versions/0/cedar").and_then(Value::as_str).map(str::to_owned),
        Err(error) if error.downcast_ref::<ApiError>().is_some_and(|refusal| refusal.status.as_u16() == 404) => None,
        Err(error) => return Err(error),
    };
    match current {
        Some(current) if current != cedar => bail!(
            "there is a policy `{id}` already, and it says something else (`toolcrib policy show {id}`): pass --id to save this one \
             beside it, or --replace to put it in its place"
        ),
        _ => Ok(()),
    }
}

impl TemplateArgs {
    /// The statement, with every name looked up.
    async fn statement(&self, place: &Workplace, effect: Effect) -> Result<Statement> {
        let project = match &self.project {
            Some(project) => Some(named_project(place, project).await?),
            None => None,
        };
        let (who, inside) = match (&self.agent, &self.session, project) {
            (Some(agent), _, inside) => (Who::Agent(named_agent(place, agent).await?), inside),
            (None, Some(session), inside) => {
                let answer = place.api.get(&place.path(&format!("/sessions/{}", encode(session)))).await?;
                (Who::Session(found(&answer, "/session/sessionId")?), inside)
            }
            (None, None, Some(project)) => (Who::Project(project), None),
            (None, None, None) => (Who::Everyone, None),
        };
        Ok(Statement { effect, who, inside, what: self.what() })
    }

    fn what(&self) -> What {
        match (&self.peer, &self.skill) {
            (Some(peer), None) => What::Peer(peer.clone()),
            (Some(peer), Some(skill)) => What::Skill { peer: peer.clone(), skill: skill.clone() },
            (None, _) if self.all_tools => What::AllTools,
            (None, _) if self.read_only_tools || self.writing_tools => What::ToolsThat { only_read: self.read_only_tools },
            (None, _) => What::Tools(self.tools.clone()),
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
        .with_context(|| format!("the server's answer has no {pointer}: `toolcrib doctor` compares the versions"))
}
