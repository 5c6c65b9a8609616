//! `bricks.list`

use std::borrow::Cow;

use base::limits::{TOOL_ROWS_DEFAULT, TOOL_ROWS_MAX};
use base::{BrickId, BrickVersionId, Result, Scope, Timestamp};
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
    /// Only bricks with this status.
    status: Option<Status>,
    /// The maximum number of bricks, newest first. 20 by default.
    #[schemars(range(min = 1, max = TOOL_ROWS_MAX))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Newest first, without rules or prompts.
    bricks: Vec<Brick>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Brick {
    #[schemars(with = "String")]
    brick_id: BrickId,
    brick_key: String,
    brick_name: String,
    status: Status,
    #[schemars(with = "String")]
    current_version_id: BrickVersionId,
    /// ISO 8601.
    #[schemars(with = "String")]
    updated_at: Timestamp,
}

impl Tool for List {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("bricks.list"),
        aliases: Vec::new(),
        title: Cow::Borrowed("List bricks"),
        description: Cow::Borrowed(
            "Lists the workspace's bricks, newest first: ids, keys, names and status, without their rules.",
        ),
        scope: Scope::BricksRead,
        needs: Capability::Always,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let limit = input.limit.unwrap_or(TOOL_ROWS_DEFAULT);
        let bricks = call.workshop().list_bricks(input.status.map(Into::into), limit).await?;
        let text = format!("Listed {} brick(s).", bricks.len());
        Ok(Answer::new(text, Output { bricks: bricks.iter().map(Brick::from).collect() }).with_rows(rows_of(&bricks)))
    }
}

fn rows_of(bricks: &[::kits::BrickSummary]) -> String {
    let heading = "brick_id | brick_key | brick_name | status | current_version_id | updated_at";
    rows::table(heading, bricks, |text, brick| {
        let ::kits::BrickSummary { brick_id, brick_key, brick_name, status, current_version_id, updated_at, .. } = brick;
        let (key, name, status) = (Cell(brick_key), Cell(brick_name), status.word());
        rows::line(text, format_args!("{brick_id} | {key} | {name} | {status} | {current_version_id} | {updated_at}"));
    })
}

impl From<&::kits::BrickSummary> for Brick {
    fn from(brick: &::kits::BrickSummary) -> Self {
        Self {
            brick_id: brick.brick_id,
            brick_key: brick.brick_key.clone(),
            brick_name: brick.brick_name.clone(),
            status: brick.status.into(),
            current_version_id: brick.current_version_id,
            updated_at: brick.updated_at,
        }
    }
}
