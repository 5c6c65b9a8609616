//! What is recorded of every call, refused and failed ones too. Audit, hooks and metrics read this and nothing else.

use std::borrow::Cow;
use std::sync::Arc;

use base::limits::NAME_CHARS_MAX;
use base::{Actor, AgentId, Door, KeyId, Kind, OrgId, Principal, ProjectId, RequestId, SessionId, Timestamp};
use policy::Decision;
use serde_json::{Map, Value, json};

use crate::audit::Event;

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
    /// The key that was presented, if it was an org's.
    pub key: Option<KeyId>,
    /// The way in.
    pub door: Door,
    /// The canonical name of the tool, or the name that was asked for when there is no such tool.
    pub tool: Cow<'static, str>,
    /// The name that was asked for, where that is another spelling.
    pub alias: Option<String>,
    /// When the call began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration_us: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The JSON-RPC code of the answer, where it is an error.
    pub code: Option<i64>,
    /// The arguments' keyed digest, once they were looked at.
    pub arguments: Option<String>,
    /// What policy said, once it was asked.
    pub decision: Option<Decision>,
    /// Which policies were asked.
    pub policy_set: Option<String>,
    /// The call did not end well, and what it had changed before that stands: an entry of its own says that it was done.
    pub effect_stands: bool,
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
    /// The word in metrics, logs and the audit trail.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::ToolError => "tool_error",
            Outcome::Refused(_) => "refused",
            Outcome::Failed(_) => "failed",
            Outcome::Cancelled => "cancelled",
        }
    }

    /// What kind of failure it was, if it was one that has a kind.
    pub const fn kind(self) -> Option<Kind> {
        match self {
            Outcome::Refused(kind) | Outcome::Failed(kind) => Some(kind),
            Outcome::Completed | Outcome::ToolError | Outcome::Cancelled => None,
        }
    }

    const fn event_type(self) -> &'static str {
        match self {
            Outcome::Completed => "call.completed",
            Outcome::Refused(_) => "call.refused",
            Outcome::Failed(_) | Outcome::ToolError => "call.failed",
            Outcome::Cancelled => "call.cancelled",
        }
    }
}

impl CallRecord {
    /// A call that has just begun.
    pub(crate) fn begin(principal: &Principal, request: RequestId, tool: &str, now: Timestamp) -> Self {
        let (session, agent, key) = match &principal.actor {
            Actor::Session { id, agent, key, .. } => (Some(*id), *agent, *key),
            Actor::Agent { id, .. } => (None, Some(*id), None),
        };
        Self {
            request,
            org: principal.org,
            project: principal.project.as_ref().map(|project| project.id),
            session,
            agent,
            key,
            door: principal.door(),
            tool: Cow::Owned(recordable(tool)),
            alias: None,
            started_at: now,
            duration_us: 0,
            outcome: Outcome::Cancelled,
            code: None,
            arguments: None,
            decision: None,
            policy_set: None,
            effect_stands: false,
        }
    }

    /// The tool turned out to be known as `canonical`.
    pub(crate) fn names(&mut self, canonical: &'static str) {
        let asked = std::mem::replace(&mut self.tool, Cow::Borrowed(canonical));
        self.alias = Some(asked.into_owned()).filter(|asked| asked != canonical);
    }

    /// The call as the audit trail keeps it.
    pub(crate) fn event(&self) -> Event {
        let event = Event::new(self.outcome.event_type(), "tool", &self.tool)
            .with("outcome", self.outcome.word())
            .with("door", self.door.word())
            .with("startedAt", self.started_at.rfc3339())
            .with("durationMs", self.duration_ms())
            .with_some("projectId", self.project.map(|id| id.to_string()))
            .with_some("sessionId", self.session.map(|id| id.to_string()))
            .with_some("agentId", self.agent.map(|id| id.to_string()))
            .with_some("keyId", self.key.map(|id| id.to_string()))
            .with_some("legacyAlias", self.alias.clone())
            .with_some("argumentsDigest", self.arguments.clone())
            .with_some("effectStands", self.effect_stands.then_some(true));
        let event = match self.outcome.kind() {
            Some(kind) => event.with("error", json!({ "kind": kind.word(), "code": self.code })),
            None => event,
        };
        match &self.decision {
            Some(decision) => event.with("decision", self.spelled(decision)),
            None => event,
        }
    }

    /// Milliseconds with three decimals, which a double holds exactly enough.
    pub fn duration_ms(&self) -> f64 {
        self.duration_us as f64 / 1_000.0
    }

    fn spelled(&self, decision: &Decision) -> Value {
        let mut spelled = Map::new();
        spelled.insert("allowed".to_owned(), json!(decision.allowed));
        spelled.insert("reason".to_owned(), json!(decision.reason.word()));
        spelled.insert("policies".to_owned(), named(&decision.policies));
        spelled.insert("policySet".to_owned(), json!(self.policy_set));
        if !decision.errors.is_empty() {
            let policies = decision.errors.iter().take(POLICIES_MAX).map(|failure| json!(failure.policy));
            spelled.insert("errors".to_owned(), policies.collect());
        }
        if let Some(would_be) = &decision.log_only {
            let would_be = json!({ "allowed": would_be.allowed, "policies": named(&would_be.policies) });
            spelled.insert("logOnly".to_owned(), would_be);
        }
        Value::Object(spelled)
    }
}

/// A name as it was asked for, short and printable enough to be kept: it is the caller's own text.
fn recordable(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Most policies that one entry names: a thousand that agree tell no more than the first few.
const POLICIES_MAX: usize = 20;

fn named(policies: &[Arc<str>]) -> Value {
    policies.iter().take(POLICIES_MAX).map(|name| json!(name)).collect()
}
