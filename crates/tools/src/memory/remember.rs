//! `af_memory_remember`

use base::{ObservationId, Result, Scope};
use guard::{Capability, Effect, Spec};
use knowledge::NewObservation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to remember, in words that another agent understands on its own: name files, symbols and reasons.
    #[schemars(length(min = 1, max = 100_000))]
    content: String,
    /// What kind of thing it is, such as `decision`, `pattern_discovered`, `error_encountered`, `convention` or `fact`.
    #[schemars(length(max = 64))]
    r#type: Option<String>,
    /// How sure you are.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The observation: a new one, or the one that was known already.
    #[schemars(with = "String")]
    id: ObservationId,
    /// Whether it was new.
    stored: bool,
    /// Whether the same text was known already.
    duplicate: bool,
    /// An observation that says nearly the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    near_duplicate_of: Option<ObservationId>,
}

impl Tool for Remember {
    const SPEC: Spec = Spec {
        name: "af_memory_remember",
        title: "Remember an observation",
        description: "Keeps an observation for the agents of this project: a decision and its reason, a convention, a trap, how \
                      an error was solved. Who said it and when is recorded by the server. The same text twice is kept once.",
        scope: Scope::MemoryWrite,
        needs: Capability::Memory,
        effect: Effect::Additive,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let (memory, author) = call.memory()?;
        let new = NewObservation { content: input.content, kind: input.r#type, confidence: input.confidence };
        let kept = memory.remember(&author, new).await?;
        let text = match (kept.stored, kept.near) {
            (true, None) => format!("Remembered as {}.", kept.id),
            (true, Some(near)) => format!("Remembered as {}. {near} says nearly the same.", kept.id),
            (false, _) => format!("Known already as {}.", kept.id),
        };
        if kept.stored {
            call.services.indexes.pending.tell(call.permit.principal().org, call.project()?);
        }
        let output = Output { id: kept.id, stored: kept.stored, duplicate: kept.duplicate, near_duplicate_of: kept.near };
        Ok(Answer::new(text, output))
    }
}
