//! `kits.create_draft`

use std::borrow::Cow;

use base::limits::{DESCRIPTION_CHARS_MAX, KIT_BRICKS_MAX, NAME_CHARS_MAX};
use base::{KitId, KitVersionId, Result, Scope};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::tool::{Call, Tool};
use crate::workshop::refused;

pub(crate) struct CreateDraft;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Kit name.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    name: String,
    /// Short description.
    #[schemars(length(max = DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    /// Notes on the first version.
    #[schemars(length(max = DESCRIPTION_CHARS_MAX))]
    notes: Option<String>,
    /// Ids of existing bricks of the workspace, without duplicates. The kit keeps their order.
    #[schemars(length(min = 1, max = KIT_BRICKS_MAX), extend("uniqueItems" = true))]
    brick_ids: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The new kit.
    #[schemars(with = "String")]
    kit_id: KitId,
    /// Its first version, a draft.
    #[schemars(with = "String")]
    kit_version_id: KitVersionId,
    /// The number of bricks in the kit.
    brick_count: usize,
}

impl Tool for CreateDraft {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("kits.create_draft"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Create a draft kit"),
        description: Cow::Borrowed(
            "Creates a draft kit from existing bricks, pinning each brick's current version. It does not create bricks. \
                      A person publishes the kit (`toolcrib kit publish`).",
        ),
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
        let made = call.workshop().create_draft_kit(kit, call.permit.principal().author()).await.map_err(refused)?;
        let text = format!("Created draft kit {} with {} brick(s).", made.kit_id, made.brick_count);
        let output = Output { kit_id: made.kit_id, kit_version_id: made.kit_version_id, brick_count: made.brick_count };
        Ok(Answer::new(text, output).with_rows(format!("kit_version_id: {}", made.kit_version_id)))
    }
}
