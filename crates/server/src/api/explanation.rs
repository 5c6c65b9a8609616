//! How the API speaks of what the gate would say.

use guard::Explanation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::body::Object;
use super::text::{Cedar, Label};
use super::wire::{AgentId, SessionId};
use super::words::PolicyMode;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ExplainRequest {
    /// The agent that would call, at the agent door. Exactly one of this and `sessionId`.
    pub(super) agent_id: Option<AgentId>,
    /// The session that would call, with a key that has every scope.
    pub(super) session_id: Option<SessionId>,
    /// The tool, in any of its spellings.
    pub(super) tool: Label,
    /// What it would be called with; without it the question is whether the tool is listed.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Object>>)]
    pub(super) arguments: Option<Arguments>,
    /// Policies to try out: each takes the place of the stored one of the same name.
    #[schema(max_items = 100, value_type = Option<Vec<Candidate>>)]
    pub(super) with: Option<Vec<Object<Candidate>>>,
}

/// Arguments of any shape: what the tool's schema does not take is an answer.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Arguments(pub(super) Map<String, Value>);

/// A policy that is tried out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CandidatePolicy)]
pub(super) struct Candidate {
    pub(super) id: Label,
    pub(super) cedar: Cedar,
    pub(super) mode: Option<PolicyMode>,
}

/// What the gate would say.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExplainAnswer {
    /// Whether the call would be let through, or the tool listed.
    allowed: bool,
    /// Why it would not even come to policy: scope, allowlist, capability, or arguments that the tool's schema does not take.
    #[schema(required)]
    before_policy: Option<String>,
    decision: DecisionView,
    /// Which policies were asked: the hash that the audit trail names.
    policy_set: String,
}

/// What policy says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicyDecision)]
struct DecisionView {
    allowed: bool,
    /// `permitted`, `forbidden`, `no_permit`, `error` or `broken`.
    reason: &'static str,
    /// The statements that made it so.
    policies: Vec<String>,
    errors: Vec<FailureView>,
    /// What it would be with the policies on trial in force, where that differs.
    #[schema(required)]
    log_only: Option<TrialView>,
}

/// Something that could not be evaluated.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyFailure)]
struct FailureView {
    #[schema(required)]
    policy: Option<String>,
    message: String,
}

/// What a decision would be with the policies on trial in force.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyTrial)]
struct TrialView {
    allowed: bool,
    reason: &'static str,
    policies: Vec<String>,
}

impl From<Explanation> for ExplainAnswer {
    fn from(explained: Explanation) -> Self {
        let names = |policies: &[std::sync::Arc<str>]| policies.iter().map(|name| name.to_string()).collect();
        let failure = |failure: &policy::Failure| FailureView {
            policy: failure.policy.as_ref().map(|name| name.to_string()),
            message: failure.message.clone(),
        };
        let decision = &explained.decision;
        Self {
            allowed: explained.is_allowed(),
            before_policy: explained.before_policy.as_ref().err().map(|error| error.message().to_owned()),
            decision: DecisionView {
                allowed: decision.allowed,
                reason: decision.reason.word(),
                policies: names(&decision.policies),
                errors: decision.errors.iter().map(failure).collect(),
                log_only: decision.log_only.as_ref().map(|trial| TrialView {
                    allowed: trial.allowed,
                    reason: trial.reason.word(),
                    policies: names(&trial.policies),
                }),
            },
            policy_set: explained.policy_set.clone(),
        }
    }
}
