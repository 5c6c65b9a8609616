//! The record of a call, including refused and failed ones. Audit, hooks and metrics use it.

use std::borrow::Cow;
use std::sync::Arc;

use base::limits::{NAME_CHARS_MAX, POLICIES_NAMED_MAX};
use base::{Actor, AgentId, Door, EventKind, KeyId, Kind, OrgId, Principal, ProjectId, RequestId, SessionId, Timestamp};
use policy::Decision;
use serde_json::{Map, Value, json};

use crate::audit::Event;
use crate::spec::Spec;

/// One call, from when its principal is known.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// The `x-request-id` of the answer.
    pub request: RequestId,
    /// The tenant.
    pub org: OrgId,
    /// The project, if any.
    pub project: Option<ProjectId>,
    /// The session, on the session door.
    pub session: Option<SessionId>,
    /// The registered agent, if any.
    pub agent: Option<AgentId>,
    /// The org's key that was used, if any.
    pub key: Option<KeyId>,
    /// The door.
    pub door: Door,
    /// The canonical name of the tool, or the requested name if there is no such tool.
    pub tool: Cow<'static, str>,
    /// Whether there is such a tool.
    pub is_known: bool,
    /// The requested name, if it is another spelling.
    pub alias: Option<String>,
    /// When the call began.
    pub started_at: Timestamp,
    /// Its duration.
    pub duration_us: u64,
    /// Its outcome.
    pub outcome: CallOutcome,
    /// The JSON-RPC error code of the answer, if any.
    pub code: Option<i64>,
    /// The keyed digest of the arguments, once they were read.
    pub arguments: Option<String>,
    /// The policy decision, once it was made.
    pub decision: Option<Decision>,
    /// The hash of the evaluated policies.
    pub policy_set: Option<String>,
    /// The call did not succeed, but its change was committed. A separate entry records the change.
    pub effect_stands: bool,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It succeeded.
    Completed,
    /// The tool reported a failure in its answer.
    ToolError,
    /// The gate refused it before anything was done.
    Refused(Kind),
    /// It failed after it was admitted.
    Failed(Kind),
    /// The caller disconnected.
    Cancelled,
}

impl CallOutcome {
    /// The word in metrics, logs and the audit trail.
    pub const fn word(self) -> &'static str {
        match self {
            CallOutcome::Completed => "completed",
            CallOutcome::ToolError => "tool_error",
            CallOutcome::Refused(_) => "refused",
            CallOutcome::Failed(_) => "failed",
            CallOutcome::Cancelled => "cancelled",
        }
    }

    /// The kind of the failure, if it has one.
    pub const fn kind(self) -> Option<Kind> {
        match self {
            CallOutcome::Refused(kind) | CallOutcome::Failed(kind) => Some(kind),
            CallOutcome::Completed | CallOutcome::ToolError | CallOutcome::Cancelled => None,
        }
    }

    const fn event(self) -> EventKind {
        match self {
            CallOutcome::Completed => EventKind::CallCompleted,
            CallOutcome::Refused(_) => EventKind::CallRefused,
            CallOutcome::Failed(_) | CallOutcome::ToolError => EventKind::CallFailed,
            CallOutcome::Cancelled => EventKind::CallCancelled,
        }
    }
}

impl CallRecord {
    /// Starts the record of a call.
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
            is_known: false,
            alias: None,
            started_at: now,
            duration_us: 0,
            outcome: CallOutcome::Cancelled,
            code: None,
            arguments: None,
            decision: None,
            policy_set: None,
            effect_stands: false,
        }
    }

    /// Sets the tool, once it is known.
    pub(crate) fn names(&mut self, tool: &Spec) {
        let asked = std::mem::replace(&mut self.tool, tool.name.clone());
        self.is_known = true;
        self.alias = Some(asked.into_owned()).filter(|asked| *asked != tool.name);
    }

    /// The audit event of the call.
    pub(crate) fn event(&self) -> Event {
        let event = Event::new(self.outcome.event(), "tool", &self.tool)
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

    /// Milliseconds with three decimals.
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
            let policies = decision.errors.iter().take(POLICIES_NAMED_MAX).map(|failure| json!(failure.policy));
            spelled.insert("errors".to_owned(), policies.collect());
        }
        if let Some(would_be) = &decision.log_only {
            let would_be = json!({ "allowed": would_be.allowed, "policies": named(&would_be.policies) });
            spelled.insert("logOnly".to_owned(), would_be);
        }
        Value::Object(spelled)
    }
}

/// A requested name, shortened and printable, because it is the caller's text.
fn recordable(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn named(policies: &[Arc<str>]) -> Value {
    policies.iter().take(POLICIES_NAMED_MAX).map(|name| json!(name)).collect()
}
