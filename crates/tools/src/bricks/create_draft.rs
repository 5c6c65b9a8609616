//! `bricks.create_draft`

use base::{BrickId, BrickVersionId, Result, Scope};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct CreateDraft;

/// What a brick's rule answers with.
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
    #[schemars(length(min = 1, max = 120))]
    name: String,
    /// Short description.
    #[schemars(length(max = 500))]
    description: Option<String>,
    /// What the rule answers with.
    r#type: BrickType,
    /// The rule: the prompt that evaluates.
    #[schemars(length(max = 10_000))]
    evaluation_prompt: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Created brick.
    #[schemars(with = "String")]
    brick_id: BrickId,
    /// Its first version, a draft.
    #[schemars(with = "String")]
    brick_version_id: BrickVersionId,
}

impl Tool for CreateDraft {
    const SPEC: Spec = Spec {
        name: "bricks.create_draft",
        title: "Create a draft brick",
        description: "Creates a draft brick: a named rule that answers a boolean or a score. Drafts are evaluated by nobody \
                      until a person publishes them in the console; this tool neither runs nor publishes anything.",
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
        let (brick_id, brick_version_id) = call.workshop().create_draft_brick(brick, call.permit.principal().author()).await?;
        let answer = Answer::new(format!("Created draft brick {brick_id}."), Output { brick_id, brick_version_id });
        Ok(answer.with_rows(format!("brick_version_id: {brick_version_id}")))
    }
}
