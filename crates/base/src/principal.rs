//! The principal: the caller of a request, as determined by the credential. It never comes from the request body.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::id::{AgentId, KeyId, OrgId, ProjectId, SessionId, TokenId};
use crate::scope::ScopeSet;

/// The entry point of a request. It decides the form of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    /// `POST /api/mcp/{sessionId}` and, through it, stdio.
    Session,
    /// `POST /api/mcp`.
    Agent,
}

impl Door {
    /// The name in metrics and logs.
    pub const fn word(self) -> &'static str {
        match self {
            Door::Session => "session",
            Door::Agent => "agent",
        }
    }
}

/// Org, project, session or agent, scopes and allowlist of one request.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The tenant.
    pub org: OrgId,
    /// Whether the org's plan has the knowledge graph.
    pub plan_has_graph: bool,
    /// The project, unless an agent works for the whole org.
    pub project: Option<ProjectView>,
    /// The session or the agent.
    pub actor: Actor,
    /// The scopes of the credential.
    pub scopes: ScopeSet,
    /// The tools that the principal can see.
    pub allowlist: Allowlist,
    /// The spelling of tool names in `tools/list`.
    pub tool_names: ToolNames,
}

impl Principal {
    /// The door this principal came through.
    pub fn door(&self) -> Door {
        match self.actor {
            Actor::Session { .. } => Door::Session,
            Actor::Agent { .. } => Door::Agent,
        }
    }

    /// The author that is stored with rows: the registered agent, or else the session. A launcher's label does not count, because nobody
    /// verifies it.
    pub fn author(&self) -> &str {
        match &self.actor {
            Actor::Session { agent: Some(agent), .. } => agent.as_str(),
            Actor::Session { id, .. } => id.as_str(),
            Actor::Agent { id, .. } => id.as_str(),
        }
    }
}

/// The properties of a project that decide which tools are visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectView {
    /// The project.
    pub id: ProjectId,
    /// Its directory of code, if it has one.
    pub root: Option<Arc<str>>,
    /// Whether it has code: a directory, or files that were written through the tools.
    pub has_code: bool,
    /// Whether memory is on.
    pub memory_enabled: bool,
    /// Whether the graph is on.
    pub graph_enabled: bool,
}

/// The session or agent that makes the request.
#[derive(Clone, Debug)]
pub enum Actor {
    /// One agent's run in a project.
    Session {
        /// The session.
        id: SessionId,
        /// The registered agent it runs, if one was named.
        agent: Option<AgentId>,
        /// The launcher's label for the agent.
        label: Option<Arc<str>>,
        /// The type of work, as the opener of the session set it.
        work_type: Option<Arc<str>>,
        /// The presented key; `None` for the instance admin's key.
        key: Option<KeyId>,
    },
    /// A registered machine identity with a token.
    Agent {
        /// The agent.
        id: AgentId,
        /// The token, which counts as a session.
        token: TokenId,
    },
}

/// The tools that a principal can see, by canonical name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowlist {
    /// Every tool that the scopes allow. This is a session that was opened without a list.
    All,
    /// Only these tools.
    Only(Arc<BTreeSet<String>>),
}

impl Allowlist {
    /// Whether the list contains any spelling of a tool.
    pub fn names<'a>(&self, spellings: impl IntoIterator<Item = &'a str>) -> bool {
        match self {
            Allowlist::All => true,
            Allowlist::Only(names) => spellings.into_iter().any(|name| names.contains(name)),
        }
    }

    /// The tools that are in both lists.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Allowlist::All, other) => other.clone(),
            (list, Allowlist::All) => list.clone(),
            (Allowlist::Only(own), Allowlist::Only(other)) => {
                Allowlist::Only(Arc::new(own.intersection(other).cloned().collect()))
            }
        }
    }
}

/// The spelling of tool names in `tools/list`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolNames {
    /// Canonical names (`bricks.list`).
    #[default]
    Canonical,
    /// Only `[a-zA-Z0-9_-]` (`bricks_list`), for clients that do not accept dots.
    Safe,
}

impl ToolNames {
    /// The value in requests and rows.
    pub const fn word(self) -> &'static str {
        match self {
            ToolNames::Canonical => "canonical",
            ToolNames::Safe => "safe",
        }
    }

    /// Parses the value.
    pub fn parse(word: &str) -> Option<Self> {
        [ToolNames::Canonical, ToolNames::Safe].into_iter().find(|names| names.word() == word)
    }
}
