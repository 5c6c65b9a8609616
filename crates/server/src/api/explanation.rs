//! Request and answer types of `policy/explain`.

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
    /// The agent to test, at the agent door. Give exactly one of this and `sessionId`.
    pub(super) agent_id: Option<AgentId>,
    /// The session to test, with a key that has every scope.
    pub(super) session_id: Option<SessionId>,
    /// The tool, in any spelling.
    pub(super) tool: Label,
    /// The call's arguments. Without them the answer says whether the tool is listed.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Object>>)]
    pub(super) arguments: Option<Arguments>,
    /// Policies to try out. Each replaces the stored policy of the same name.
    #[schema(max_items = 100, value_type = Option<Vec<Candidate>>)]
    pub(super) with: Option<Vec<Object<Candidate>>>,
}

/// Arguments of any shape. If they do not match the tool's schema, the answer says so.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Arguments(pub(super) Map<String, Value>);

/// A policy to try out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CandidatePolicy)]
pub(super) struct Candidate {
    pub(super) id: Label,
    pub(super) cedar: Cedar,
    pub(super) mode: Option<PolicyMode>,
}

/// The gate's decision.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExplainAnswer {
    /// Whether the call would be allowed, or the tool listed.
    allowed: bool,
    /// Why the call would fail before the policy check: scope, allowlist, capability, or arguments that do not match the tool's schema.
    #[schema(required)]
    before_policy: Option<String>,
    decision: DecisionView,
    /// The hash of the evaluated policies, as in the audit trail.
    policy_set: String,
}

/// The policy decision.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicyDecision)]
struct DecisionView {
    allowed: bool,
    /// `permitted`, `forbidden`, `no_permit`, `error` or `broken`.
    reason: &'static str,
    /// The policy statements that decided.
    policies: Vec<String>,
    errors: Vec<FailureView>,
    /// The decision if log-only policies were enforced, where it differs.
    #[schema(required)]
    log_only: Option<TrialView>,
}

/// A statement that could not be evaluated.
#[derive(Serialize, ToSchema)]
#[schema(as = PolicyFailure)]
struct FailureView {
    #[schema(required)]
    policy: Option<String>,
    message: String,
}

/// The decision if log-only policies were enforced.
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
