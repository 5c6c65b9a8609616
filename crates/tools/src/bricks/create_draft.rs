//! `bricks.create_draft`

use std::borrow::Cow;

use base::limits::{DESCRIPTION_CHARS_MAX, EVALUATION_PROMPT_CHARS_MAX, NAME_CHARS_MAX};
use base::{BrickId, BrickVersionId, Result, Scope};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::tool::{Call, Tool};
use crate::workshop::refused;

pub(crate) struct CreateDraft;

/// The kind of answer that a brick's rule gives.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BrickType {
    Boolean,
    Score,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Brick name.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    name: String,
    /// Short description.
    #[schemars(length(max = DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    /// The kind of answer that the rule gives.
    r#type: BrickType,
    /// The rule: the prompt to evaluate.
    #[schemars(length(max = EVALUATION_PROMPT_CHARS_MAX))]
    evaluation_prompt: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The new brick.
    #[schemars(with = "String")]
    brick_id: BrickId,
    /// Its first version, a draft.
    #[schemars(with = "String")]
    brick_version_id: BrickVersionId,
}

impl Tool for CreateDraft {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("bricks.create_draft"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Create a draft brick"),
        description: Cow::Borrowed(
            "Creates a draft brick: a named rule that answers a boolean or a score. A draft is not evaluated \
                      until a person publishes it (`toolcrib brick publish`). This tool neither evaluates nor publishes.",
        ),
        scope: Scope::BricksCreateDraft,
        needs: Capability::Always,
        effect: Effect::Additive,
        idempotent: false,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let brick = ::kits::NewBrick {
            name: input.name,
            description: input.description,
            brick_type: match input.r#type {
                BrickType::Boolean => ::kits::BrickType::Boolean,
                BrickType::Score => ::kits::BrickType::Score,
            },
            evaluation_prompt: input.evaluation_prompt,
        };
        let made = call.workshop().create_draft_brick(brick, call.permit.principal().author()).await;
        let (brick_id, brick_version_id) = made.map_err(refused)?;
        let answer = Answer::new(format!("Created draft brick {brick_id}."), Output { brick_id, brick_version_id });
        Ok(answer.with_rows(format!("brick_version_id: {brick_version_id}")))
    }
}
