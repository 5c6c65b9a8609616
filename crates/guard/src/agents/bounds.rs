//! What a session that runs a registered agent may have at most.

use std::sync::Arc;

use base::{Allowlist, Result, ScopeSet};

use super::Agent;
use crate::sessions::allowlist_from_row;

/// Most of what a session may have: everything where no registered agent runs in it, else what the agent has at the moment.
pub(crate) struct Bounds {
    scopes: ScopeSet,
    tools: Allowlist,
}

impl Bounds {
    /// No bounds: the session runs no registered agent.
    pub(crate) const NONE: Self = Self { scopes: ScopeSet::EVERYTHING, tools: Allowlist::All };

    /// The bounds of an agent that is gone: nothing is left.
    pub(crate) fn of_no_agent() -> Self {
        Self { scopes: ScopeSet::NONE, tools: Allowlist::Only(Arc::default()) }
    }

    /// The bounds in an agent's row.
    pub(crate) fn read(scopes: &str, tools: &str) -> Result<Self> {
        Ok(Self { scopes: ScopeSet::from_row(scopes), tools: allowlist_from_row(Some(tools))? })
    }

    /// The bounds of an agent.
    pub(crate) fn of(agent: &Agent) -> Self {
        Self { scopes: agent.scopes, tools: Allowlist::Only(Arc::clone(&agent.tools)) }
    }

    /// What is left of a credential's scopes.
    pub(crate) fn scopes(&self, scopes: ScopeSet) -> ScopeSet {
        self.scopes.intersection(scopes)
    }

    /// What is left of a session's own list.
    pub(crate) fn allowlist(&self, own: &Allowlist) -> Allowlist {
        self.tools.intersection(own)
    }
}
