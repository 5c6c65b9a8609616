//! The author of a row. The server derives it from the principal; agents cannot claim one.

use crate::principal::{Actor, Principal};

/// The agent and the session that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The registered agent, else the launcher's label with a prefix, else the session.
    pub agent: String,
    /// The session, or the token that counts as one.
    pub session: String,
}

impl Author {
    /// The author of what `principal` writes.
    pub fn of(principal: &Principal) -> Self {
        match &principal.actor {
            Actor::Session { id, agent, label, .. } => Self {
                agent: match (agent, label) {
                    (Some(agent), _) => agent.to_string(),
                    // Anyone can choose a label, so it must not look like the id of a registered agent.
                    (None, Some(label)) => format!("label:{label}"),
                    (None, None) => id.to_string(),
                },
                session: id.to_string(),
            },
            Actor::Agent { id, token } => Self { agent: id.to_string(), session: token.to_string() },
        }
    }
}
