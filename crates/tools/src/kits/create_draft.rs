//! `kits.create_draft`

use base::{KitId, KitVersionId, Result, Scope};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct CreateDraft;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Kit name.
    #[schemars(length(min = 1, max = 120))]
    name: String,
    /// Short description.
    #[schemars(length(max = 500))]
    description: Option<String>,
    /// Notes on the first version.
    #[schemars(length(max = 500))]
    notes: Option<String>,
    /// Existing bricks of the workspace, each once, in the order the kit keeps.
    #[schemars(length(min = 1, max = 500), extend("uniqueItems" = true))]
    brick_ids: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Created kit.
    #[schemars(with = "String")]
    kit_id: KitId,
    /// Its first version, a draft.
    #[schemars(with = "String")]
    kit_version_id: KitVersionId,
    /// How many bricks it includes.
    brick_count: usize,
}

impl Tool for CreateDraft {
    const SPEC: Spec = Spec {
        name: "kits.create_draft",
        title: "Create a draft kit",
        description: "Creates a draft kit from existing bricks, pinning each brick's current version. It creates no bricks and \
                      publishes nothing: people do that in the console.",
        scope: Scope::KitsCreateDraft,
        needs: Capability::Always,
        effect: Effect::Additive,
        idempotent: false,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let kit =
            ::kits::NewKit { name: input.name, description: input.description, notes: input.notes, brick_ids: input.brick_ids };
        let made = call.workshop().create_draft_kit(kit, call.permit.principal().author()).await?;
        let text = format!("Created draft kit {} with {} brick(s).", made.kit_id, made.brick_count);
        let output = Output { kit_id: made.kit_id, kit_version_id: made.kit_version_id, brick_count: made.brick_count };
        Ok(Answer::new(text, output).with_rows(format!("kit_version_id: {}", made.kit_version_id)))
    }
}
