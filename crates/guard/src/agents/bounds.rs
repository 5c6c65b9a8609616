//! The limits of a session that runs a registered agent.

use std::sync::Arc;

use base::{Allowlist, Result, ScopeSet};

use super::Agent;
use crate::sessions::allowlist_from_row;

/// The maximum rights of a session: unlimited without a registered agent, otherwise the agent's current rights.
pub(crate) struct Bounds {
    scopes: ScopeSet,
    tools: Allowlist,
}

impl Bounds {
    /// No limits: the session runs no registered agent.
    pub(crate) const NONE: Self = Self { scopes: ScopeSet::EVERYTHING, tools: Allowlist::All };

    /// The bounds for a deleted agent: no rights.
    pub(crate) fn of_no_agent() -> Self {
        Self { scopes: ScopeSet::NONE, tools: Allowlist::Only(Arc::default()) }
    }

    /// Parses the bounds from an agent's row.
    pub(crate) fn read(scopes: &str, tools: &str) -> Result<Self> {
        Ok(Self { scopes: ScopeSet::from_row(scopes), tools: allowlist_from_row(Some(tools))? })
    }

    /// The bounds of an agent.
    pub(crate) fn of(agent: &Agent) -> Self {
        Self { scopes: agent.scopes, tools: Allowlist::Only(Arc::clone(&agent.tools)) }
    }

    /// The scopes that are allowed by these bounds.
    pub(crate) fn scopes(&self, scopes: ScopeSet) -> ScopeSet {
        self.scopes.intersection(scopes)
    }

    /// The session's own list, restricted to these bounds.
    pub(crate) fn allowlist(&self, own: &Allowlist) -> Allowlist {
        self.tools.intersection(own)
    }
}
