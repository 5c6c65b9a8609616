//! Who a request turned out to be, after the door. Never taken from a body.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::id::{AgentId, KeyId, OrgId, ProjectId, SessionId, TokenId};
use crate::scope::ScopeSet;

/// The way in that a request took: it decides how errors are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    /// `POST /api/mcp/{sessionId}` and, through it, stdio.
    Session,
    /// `POST /api/mcp`.
    Agent,
}

impl Door {
    /// The word in metrics and logs.
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
    /// What the credential may do.
    pub scopes: ScopeSet,
    /// Which tools it may see.
    pub allowlist: Allowlist,
    /// In which spelling tools are listed.
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

    /// The name that rows keep of whoever made them: the registered agent, else the session. A launcher's own word for
    /// its agent is not a name that anyone vouches for.
    pub fn author(&self) -> &str {
        match &self.actor {
            Actor::Session { agent: Some(agent), .. } => agent.as_str(),
            Actor::Session { id, .. } => id.as_str(),
            Actor::Agent { id, .. } => id.as_str(),
        }
    }
}

/// The part of a project that decides what is visible in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectView {
    /// The project.
    pub id: ProjectId,
    /// Whether it has a directory of code.
    pub has_root: bool,
    /// Whether memory is on.
    pub memory_enabled: bool,
    /// Whether the graph is on.
    pub graph_enabled: bool,
}

/// Who acts.
#[derive(Clone, Debug)]
pub enum Actor {
    /// One agent's run in a project.
    Session {
        /// The session.
        id: SessionId,
        /// The registered agent it runs, if one was named.
        agent: Option<AgentId>,
        /// The launcher's own word for it.
        label: Option<Arc<str>>,
        /// What kind of work it does.
        work_type: Option<Arc<str>>,
        /// The key that was presented; absent for the instance admin's.
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

/// Which tools a principal may see, by canonical name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowlist {
    /// Every tool its scopes allow: a session opened without a list.
    All,
    /// Only these.
    Only(Arc<BTreeSet<String>>),
}

impl Allowlist {
    /// Whether any of a tool's spellings is named.
    pub fn names<'a>(&self, spellings: impl IntoIterator<Item = &'a str>) -> bool {
        match self {
            Allowlist::All => true,
            Allowlist::Only(names) => spellings.into_iter().any(|name| names.contains(name)),
        }
    }

    /// The tools that both lists name.
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

/// How `tools/list` spells names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolNames {
    /// As the contract names them (`bricks.list`).
    #[default]
    Canonical,
    /// Only `[a-zA-Z0-9_-]` (`bricks_list`), for clients that break on a dot.
    Safe,
}

impl ToolNames {
    /// The word in requests and rows.
    pub const fn word(self) -> &'static str {
        match self {
            ToolNames::Canonical => "canonical",
            ToolNames::Safe => "safe",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [ToolNames::Canonical, ToolNames::Safe].into_iter().find(|names| names.word() == word)
    }
}
