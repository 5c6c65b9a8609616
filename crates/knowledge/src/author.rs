//! Who said something. The server knows; nobody says it of themselves.

use base::{Actor, Principal};

/// The agent and the session that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The registered agent; else the launcher's own word for it, marked as such; else the session.
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
                    // A word that anyone may choose must not pass for the id of someone who was registered.
                    (None, Some(label)) => format!("label:{label}"),
                    (None, None) => id.to_string(),
                },
                session: id.to_string(),
            },
            Actor::Agent { id, token } => Self { agent: id.to_string(), session: token.to_string() },
        }
    }
}
