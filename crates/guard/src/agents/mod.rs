//! Agents: machine identities of an org, with a key, a secret, scopes and an explicit list of tools.

mod authenticate;
mod bounds;
pub(crate) mod sql;

use std::collections::BTreeSet;
use std::sync::Arc;

use base::secret::{SecretHash, mint};
use base::{
    AgentId, Allowlist, Cursor, Error, EventKind, Kind, Page, PageRequest, ProjectId, Result, ScopeSet, Timestamp, ToolNames,
};
use store::{OrgTx, Row, params};

pub use authenticate::Token;
pub(crate) use bounds::Bounds;

use crate::access::Access;
use crate::audit::Event;
use crate::sessions::{allowlist_from_row, allowlist_to_row, end_sessions_of};
use crate::tenants::{checked_name, start_of};

const KEY_PREFIX: &str = "agk_";
const SECRET_PREFIX: &str = "ags_";

/// An agent, without its secret.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// The project it works in. Without one it sees no project tools.
    pub project: Option<ProjectId>,
    /// The public part of its credential.
    pub agent_key: String,
    /// Its scopes.
    pub scopes: ScopeSet,
    /// The tools it may see, by canonical name.
    pub tools: Arc<BTreeSet<String>>,
    /// How its tools are listed.
    pub tool_names: ToolNames,
    /// Its own rate limit, if any.
    pub calls_per_minute: Option<u32>,
    /// Whether it is disabled.
    pub disabled: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Data of a new agent.
#[derive(Clone, Debug)]
pub struct NewAgent {
    /// Its name.
    pub name: String,
    /// The project it works in.
    pub project: Option<ProjectId>,
    /// Its scopes.
    pub scopes: ScopeSet,
    /// The tools it may see, by canonical name.
    pub tools: Vec<String>,
    /// How its tools are listed.
    pub tool_names: ToolNames,
    /// Its own rate limit.
    pub calls_per_minute: Option<u32>,
}

/// A change of an agent. `None` keeps the current value.
#[derive(Clone, Debug, Default)]
pub struct AgentChange {
    /// New scopes.
    pub scopes: Option<ScopeSet>,
    /// New tools, by canonical name.
    pub tools: Option<Vec<String>>,
    /// Disabled or not.
    pub disabled: Option<bool>,
    /// A new rate limit, or `None` inside for the default.
    pub calls_per_minute: Option<Option<u32>>,
}

/// An agent with its secret, right after it was created or rotated.
#[derive(Debug)]
pub struct AgentSecret {
    /// The agent.
    pub agent: Agent,
    /// Its whole secret.
    pub secret: String,
}

impl Agent {
    /// The audit event with the agent's new state.
    fn event(&self, kind: EventKind) -> Event {
        Event::new(kind, "agent", self.id)
            .with("scopes", self.scopes.to_row())
            .with("tools", self.tools.iter().map(String::as_str).collect::<Vec<_>>())
            .with("disabled", self.disabled)
            .with_some("projectId", self.project.map(|id| id.to_string()))
            .with_some("callsPerMinute", self.calls_per_minute)
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        let tools = match allowlist_from_row(Some(row.text("tools")?))? {
            Allowlist::Only(tools) => tools,
            Allowlist::All => Arc::default(),
        };
        Ok(Self {
            id: AgentId::from_row(row.text("id")?),
            name: row.get("name")?,
            project: row.get::<Option<String>>("project_id")?.map(|id| ProjectId::from_row(&id)),
            agent_key: row.get("agent_key")?,
            scopes: ScopeSet::from_row(row.text("scopes")?),
            tools,
            tool_names: ToolNames::parse(row.text("tool_names")?).unwrap_or_default(),
            calls_per_minute: row.get::<Option<i64>>("calls_per_minute")?.and_then(|rate| u32::try_from(rate).ok()),
            disabled: row.get("disabled")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }

    fn tools_row(&self) -> Option<String> {
        allowlist_to_row(&Allowlist::Only(Arc::clone(&self.tools)))
    }
}

/// The org's agents, for a management call.
pub struct Agents<'a>(&'a Access);

impl Access {
    /// The org's agents.
    pub fn agents(&self) -> Agents<'_> {
        Agents(self)
    }
}

impl AgentChange {
    fn only_locks_out(&self) -> bool {
        let Self { scopes, tools, calls_per_minute, disabled } = self;
        *disabled == Some(true) && scopes.is_none() && tools.is_none() && calls_per_minute.is_none()
    }
}

impl Agents<'_> {
    /// Registers an agent with at most the caller's scopes.
    pub async fn create(&self, new: NewAgent) -> Result<AgentSecret> {
        let access = self.0;
        access.require_cover(new.scopes)?;
        check_rate(new.calls_per_minute)?;
        let (now, secret) = (access.clock.now(), mint(SECRET_PREFIX));
        let agent = Agent {
            id: AgentId::new(now),
            name: checked_name(&new.name)?,
            project: new.project,
            agent_key: mint(KEY_PREFIX),
            scopes: new.scopes,
            tools: Arc::new(new.tools.into_iter().collect()),
            tool_names: new.tool_names,
            calls_per_minute: new.calls_per_minute,
            disabled: false,
            created_at: now,
            updated_at: now,
        };
        let (row, hash, maker) = (agent.clone(), SecretHash::of(&secret).hex(), access.clone());
        access
            .write(move |tx| {
                match &row.project {
                    Some(project) => maker.require_project_in(tx, project)?,
                    None => maker.require_reach(None)?,
                }
                let (scopes, tools, names) = (row.scopes.to_row(), row.tools_row(), row.tool_names.word());
                let params = params![
                    row.id,
                    row.name,
                    row.project,
                    row.agent_key,
                    hash,
                    scopes,
                    tools,
                    names,
                    row.calls_per_minute,
                    row.created_at
                ];
                tx.execute(sql::INSERT, &params)?;
                maker.record(tx, row.event(EventKind::AgentRegistered).with("name", row.name.as_str()))
            })
            .await?;
        Ok(AgentSecret { agent, secret })
    }

    /// Returns one agent.
    pub async fn get(&self, id: &AgentId) -> Result<Option<Agent>> {
        let agent = self.0.rows.first(sql::GET, &params![id], Agent::from_row).await?;
        if let Some(agent) = &agent {
            self.0.require_reach(agent.project.as_ref())?;
        }
        Ok(agent)
    }

    /// The bounds of a session that runs the agent.
    pub(crate) async fn bounds(&self, id: &AgentId) -> Result<Bounds> {
        let agent = self.0.rows.first(sql::GET, &params![id], Agent::from_row).await?;
        Ok(agent.as_ref().map_or_else(Bounds::of_no_agent, Bounds::of))
    }

    /// Lists agents in projects that the caller covers, newest first. Agents without a project need a cover of all projects.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Agent>> {
        let start = start_of(page);
        let cover = self.0.cover.to_row();
        let params = params![start.created_at, start.id, start.rows, cover];
        let rows = self.0.rows.query(sql::LIST, &params, Agent::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |agent| Cursor { created_at: agent.created_at, id: agent.id.to_string() }))
    }

    /// Changes an agent from its next request on. Disabling it revokes its tokens and ends its sessions.
    pub async fn change(&self, id: &AgentId, change: AgentChange) -> Result<Option<Agent>> {
        if let Some(scopes) = change.scopes {
            self.0.require_cover(scopes)?;
        }
        check_rate(change.calls_per_minute.flatten())?;
        if self.get(id).await?.is_none() {
            return Ok(None);
        }
        let (id, now, access) = (*id, self.0.clock.now(), self.0.clone());
        self.0
            .write(move |tx| {
                let Some(mut agent) = tx.first(sql::GET, &params![id], Agent::from_row)? else {
                    return Ok(None);
                };
                // Disabling needs only the scope. Any other change needs the agent's own rights, because it could grant them.
                if !change.only_locks_out() {
                    access.require_cover(agent.scopes)?;
                }
                agent.scopes = change.scopes.unwrap_or(agent.scopes);
                if let Some(tools) = &change.tools {
                    agent.tools = Arc::new(tools.iter().cloned().collect());
                }
                agent.calls_per_minute = change.calls_per_minute.unwrap_or(agent.calls_per_minute);
                agent.disabled = change.disabled.unwrap_or(agent.disabled);
                agent.updated_at = now;
                let (scopes, tools) = (agent.scopes.to_row(), agent.tools_row());
                tx.execute(sql::UPDATE, &params![id, scopes, tools, agent.calls_per_minute, agent.disabled, now])?;
                if agent.disabled {
                    tx.execute(sql::DELETE_TOKENS, &params![id])?;
                    end_sessions_of(tx, &access, &id, now)?;
                }
                tx.bump()?;
                access.record(tx, agent.event(EventKind::AgentChanged))?;
                Ok(Some(agent))
            })
            .await
    }

    /// Rotates an agent's secret. The old secret and all tokens stop working immediately. Knowing the secret grants the agent's rights,
    /// so the caller must already have them.
    pub async fn rotate(&self, id: &AgentId) -> Result<Option<AgentSecret>> {
        if self.get(id).await?.is_none() {
            return Ok(None);
        }
        let secret = mint(SECRET_PREFIX);
        let (id, hash, now) = (*id, SecretHash::of(&secret).hex(), self.0.clock.now());
        let access = self.0.clone();
        let agent = self
            .0
            .write(move |tx| {
                let Some(agent) = tx.first(sql::GET, &params![id], Agent::from_row)? else {
                    return Ok(None);
                };
                access.require_cover(agent.scopes)?;
                tx.execute(sql::ROTATE, &params![id, hash, now])?;
                tx.execute(sql::DELETE_TOKENS, &params![id])?;
                tx.bump()?;
                access.record(tx, Event::new(EventKind::AgentRotated, "agent", id))?;
                tx.first(sql::GET, &params![id], Agent::from_row)
            })
            .await?;
        Ok(agent.map(|agent| AgentSecret { agent, secret }))
    }

    /// Removes an agent and its tokens, and ends its sessions.
    pub async fn delete(&self, id: &AgentId) -> Result<bool> {
        if self.get(id).await?.is_none() {
            return Ok(false);
        }
        let (id, now, access) = (*id, self.0.clock.now(), self.0.clone());
        self.0
            .write(move |tx| {
                tx.execute(sql::DELETE_TOKENS, &params![id])?;
                end_sessions_of(tx, &access, &id, now)?;
                let deleted = tx.execute(sql::DELETE, &params![id])?;
                if deleted > 0 {
                    tx.bump()?;
                    access.record(tx, Event::new(EventKind::AgentRemoved, "agent", id))?;
                }
                Ok(deleted > 0)
            })
            .await
    }
}

/// Refuses an unknown agent. Another org's agent is unknown.
pub(crate) fn require_in(tx: &mut OrgTx<'_, '_>, id: &AgentId) -> Result<()> {
    match tx.first(sql::GET, &params![id], |_| Ok(()))? {
        Some(()) => Ok(()),
        None => Err(Error::not_found("agent", format!("there is no agent `{id}`"))),
    }
}

fn check_rate(calls_per_minute: Option<u32>) -> Result<()> {
    if calls_per_minute == Some(0) {
        return Err(Error::new(Kind::InvalidParams, "the rate must be at least 1; to block an agent, disable it"));
    }
    Ok(())
}
