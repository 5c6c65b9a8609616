//! `af_memory_remember`

use std::borrow::Cow;

use base::limits::{OBSERVATION_CHARS_MAX, OBSERVATION_TYPE_CHARS_MAX};
use base::{ObservationId, Result, Scope};
use guard::{Capability, Effect, Spec};
use knowledge::NewObservation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown;
use crate::refusals::refused;
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The observation, in words that another agent understands without context. Name files, symbols and reasons.
    #[schemars(length(min = 1, max = OBSERVATION_CHARS_MAX))]
    content: String,
    /// The kind of observation, such as `decision`, `pattern_discovered`, `error_encountered`, `convention` or `fact`.
    #[schemars(length(max = OBSERVATION_TYPE_CHARS_MAX))]
    r#type: Option<String>,
    /// How certain you are.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The observation: a new one, or an existing one with the same text.
    #[schemars(with = "String")]
    id: ObservationId,
    /// Whether a new observation was stored.
    stored: bool,
    /// Whether the same text was already stored.
    duplicate: bool,
    /// An observation that says nearly the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    near_duplicate_of: Option<ObservationId>,
}

impl Tool for Remember {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("af_memory_remember"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Remember an observation"),
        description: Cow::Borrowed(
            "Stores an observation for the agents of this project: a decision and its reason, a convention, a trap, how \
                      an error was solved. The server records the author and the time. The same text is not stored twice.",
        ),
        scope: Scope::MemoryWrite,
        needs: Capability::Memory,
        effect: Effect::Additive,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let (memory, author) = call.memory()?;
        let memory = memory.shown_as(shown::shown(&call, &input.content).await?);
        let new = NewObservation { content: input.content, kind: input.r#type, confidence: input.confidence };
        let kept = memory.remember(&author, new).await.map_err(refused)?;
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
