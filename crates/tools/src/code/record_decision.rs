//! `record_decision`

use std::borrow::Cow;

use base::{DecisionId, ObservationId, Result, Scope};
use guard::{Capability, Effect, Spec};
use knowledge::{Author, Decisions, NewDecision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::refusals::refused;
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct RecordDecision;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The decision made.
    decision: String,
    /// Detailed reasoning behind the decision.
    reasoning: String,
    /// Contextual information at decision time.
    context: Option<Map<String, Value>>,
    /// Confidence level in the decision.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
    /// Alternative options considered.
    alternatives: Option<Vec<String>>,
    /// Expected impact of the decision.
    impact: Option<Impact>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Impact {
    Low,
    Medium,
    High,
    Critical,
}

impl From<Impact> for knowledge::Impact {
    fn from(impact: Impact) -> Self {
        match impact {
            Impact::Low => Self::Low,
            Impact::Medium => Self::Medium,
            Impact::High => Self::High,
            Impact::Critical => Self::Critical,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The decision.
    #[schemars(with = "String")]
    decision_id: DecisionId,
    /// The observation with its text, by which `af_memory_recall` finds it.
    #[schemars(with = "String")]
    observation_id: ObservationId,
}

impl Tool for RecordDecision {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("record_decision"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Record a decision"),
        description: Cow::Borrowed(
            "Records a decision with its reasons for the agents of this project. `af_memory_recall` finds it, and `query_history` \
                      lists it. The server records the author and the time.",
        ),
        scope: Scope::DecisionsWrite,
        needs: Capability::Project,
        effect: Effect::Additive,
        idempotent: false,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let (project, clock) = (call.project()?, call.services.clock.clone());
        let decisions = Decisions::new(call.permit.change().clone(), project, clock).reading_facts(call.has_graph());
        let new = NewDecision {
            decision: input.decision,
            reasoning: input.reasoning,
            context: input.context,
            confidence: input.confidence,
            alternatives: input.alternatives.unwrap_or_default(),
            impact: input.impact.map(Into::into),
        };
        let made = decisions.record(&Author::of(call.permit.principal()), new).await.map_err(refused)?;
        call.services.indexes.pending.tell(call.permit.principal().org, project);
        Answer::json(Output { decision_id: made.id, observation_id: made.observation })
    }
}
