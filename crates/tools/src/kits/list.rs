//! `kits.list`

use std::borrow::Cow;

use base::limits::{TOOL_ROWS_DEFAULT, TOOL_ROWS_MAX};
use base::{KitId, KitVersionId, Result, Scope, Timestamp};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::rows::{self, Cell};
use crate::tool::{Call, Tool};
use crate::workshop::Status;

pub(crate) struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Only kits with this status.
    status: Option<Status>,
    /// The maximum number of kits, newest first. 20 by default.
    #[schemars(range(min = 1, max = TOOL_ROWS_MAX))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Newest first, without notes or versions.
    kits: Vec<Kit>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Kit {
    #[schemars(with = "String")]
    kit_id: KitId,
    /// Eight upper-case hex digits, the same across versions.
    kit_code: String,
    name: String,
    status: Status,
    #[schemars(with = "String")]
    current_version_id: KitVersionId,
    /// ISO 8601.
    #[schemars(with = "String")]
    updated_at: Timestamp,
    brick_count: usize,
}

impl Tool for List {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("kits.list"),
        aliases: Vec::new(),
        title: Cow::Borrowed("List kits"),
        description: Cow::Borrowed("Lists the workspace's kits, newest first: ids, codes, names, status and number of bricks."),
        scope: Scope::KitsRead,
        needs: Capability::Always,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let limit = input.limit.unwrap_or(TOOL_ROWS_DEFAULT);
        let kits = call.workshop().list_kits(input.status.map(Into::into), limit).await?;
        let text = format!("Listed {} kit(s).", kits.len());
        Ok(Answer::new(text, Output { kits: kits.iter().map(Kit::from).collect() }).with_rows(rows_of(&kits)))
    }
}

fn rows_of(kits: &[::kits::KitSummary]) -> String {
    let heading = "kit_id | kit_code | name | status | current_version_id | updated_at | brick_count";
    rows::table(heading, kits, |text, kit| {
        let ::kits::KitSummary { kit_id, kit_code, name, status, current_version_id, updated_at, brick_count, .. } = kit;
        let (name, status) = (Cell(name), status.word());
        rows::line(
            text,
            format_args!("{kit_id} | {kit_code} | {name} | {status} | {current_version_id} | {updated_at} | {brick_count}"),
        );
    })
}

impl From<&::kits::KitSummary> for Kit {
    fn from(kit: &::kits::KitSummary) -> Self {
        Self {
            kit_id: kit.kit_id,
            kit_code: kit.kit_code.clone(),
            name: kit.name.clone(),
            status: kit.status.into(),
            current_version_id: kit.current_version_id,
            updated_at: kit.updated_at,
            brick_count: kit.brick_count,
        }
    }
}
