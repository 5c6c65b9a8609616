//! What is recorded of every call, refused and failed ones too. Audit, hooks and metrics read this and nothing else.

use crate::clock::Timestamp;
use crate::error::Kind;
use crate::id::{AgentId, OrgId, ProjectId, RequestId, SessionId};
use crate::principal::Door;

/// One call, from the moment its principal was known.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// The answer's `x-request-id`.
    pub request: RequestId,
    /// The tenant.
    pub org: OrgId,
    /// The project, if any.
    pub project: Option<ProjectId>,
    /// The session, on the session door.
    pub session: Option<SessionId>,
    /// The registered agent, if one acts.
    pub agent: Option<AgentId>,
    /// The way in.
    pub door: Door,
    /// The canonical name of the tool, or the name that was asked for when there is no such tool.
    pub tool: String,
    /// When the call began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration_us: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Completed,
    /// The tool answered, and its answer says that it failed.
    ToolError,
    /// The gate said no, before anything was done.
    Refused(Kind),
    /// It failed after the gate.
    Failed(Kind),
    /// The caller went away.
    Cancelled,
}

impl Outcome {
    /// The word in metrics and logs.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::ToolError => "tool_error",
            Outcome::Refused(_) => "refused",
            Outcome::Failed(_) => "failed",
            Outcome::Cancelled => "cancelled",
        }
    }
}
