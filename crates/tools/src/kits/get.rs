//! `kits.get`

use std::borrow::Cow;

use base::{BrickId, BrickVersionId, KitId, KitVersionId, Result, Scope, Timestamp};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::Answer;
use crate::rows::{self, Cell, Maybe};
use crate::tool::{Call, Tool};
use crate::workshop::{Status, refused};

pub(crate) struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Id of a kit in this workspace.
    kit_id: String,
    /// Include a summary of each brick.
    #[serde(default)]
    include_bricks: bool,
    /// Include whether the kit can be published, and what blocks it.
    #[serde(default)]
    include_publish_readiness: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    #[schemars(with = "String")]
    kit_id: KitId,
    kit_code: String,
    name: String,
    status: Status,
    #[schemars(with = "String")]
    current_version_id: KitVersionId,
    /// Number of the current version.
    current_version: i64,
    /// ISO 8601.
    #[schemars(with = "String")]
    updated_at: Timestamp,
    included_brick_count: usize,
    // An optional part is left out if the caller did not ask for it. It is never null, and the schema says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Brick>")]
    bricks: Option<Vec<Brick>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Readiness")]
    publish_readiness: Option<Readiness>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Brick {
    #[schemars(with = "String")]
    brick_id: BrickId,
    brick_key: String,
    brick_name: String,
    #[schemars(with = "String")]
    brick_version_id: BrickVersionId,
    brick_version: i64,
    /// `draft` or `published`.
    brick_version_status: &'static str,
    /// Publishing the kit would publish this version.
    will_promote_on_publish: bool,
    /// A newer version of the brick is published.
    update_available: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Readiness {
    publishable: bool,
    /// `Ready`, `Ready with warnings` or `Blocked`.
    status_badge: &'static str,
    blockers: Vec<Finding>,
    warnings: Vec<Finding>,
    included_bricks_count: usize,
    draft_bricks_to_promote: usize,
    published_bricks_included: usize,
    blockers_count: usize,
    warnings_count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    code: &'static str,
    #[schemars(with = "Option<String>")]
    brick_id: Option<BrickId>,
    #[schemars(with = "Option<String>")]
    brick_version_id: Option<BrickVersionId>,
}

impl Tool for Get {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("kits.get"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Get a kit"),
        description: Cow::Borrowed(
            "Shows one kit and, on request, its bricks and whether it can be published. Read-only: rules are \
                      not shown, and only a person publishes a kit (`toolcrib kit publish`).",
        ),
        scope: Scope::KitsRead,
        needs: Capability::Always,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let workshop = call.workshop();
        let kit = workshop.kit_summary(&input.kit_id, input.include_bricks, input.include_publish_readiness).await;
        let kit = kit.map_err(refused)?;
        let badge = kit.publish_readiness.as_ref().map(|readiness| format!(" {}.", readiness.status_badge().word()));
        let text = format!(
            "Kit {} ({}), version {}, {} brick(s).{}",
            Cell(&kit.summary.name),
            kit.summary.status.word(),
            kit.current_version,
            kit.summary.brick_count,
            badge.unwrap_or_default()
        );
        let kit = Output::from(kit);
        let rows = kit.rows();
        Ok(Answer::new(text, kit).with_rows(rows))
    }
}

impl Output {
    /// The values that are not in the first sentence, for clients that show their model only text.
    fn rows(&self) -> String {
        let mut text = String::new();
        rows::line(&mut text, format_args!("kit_id: {} | kit_code: {}", self.kit_id, self.kit_code));
        rows::line(&mut text, format_args!("current_version_id: {} | updated_at: {}", self.current_version_id, self.updated_at));
        if let Some(bricks) = &self.bricks {
            text.push_str(
                "\nbricks:\nbrick_id | brick_key | brick_name | brick_version_id | brick_version | brick_version_status",
            );
            text.push_str(" | will_promote_on_publish | update_available");
            for brick in bricks {
                let Brick { brick_id, brick_version_id, brick_version, brick_version_status, .. } = brick;
                let Brick { will_promote_on_publish, update_available, .. } = brick;
                let (key, name) = (Cell(&brick.brick_key), Cell(&brick.brick_name));
                rows::line(
                    &mut text,
                    format_args!(
                        "{brick_id} | {key} | {name} | {brick_version_id} | {brick_version} | {brick_version_status} | \
                         {will_promote_on_publish} | {update_available}"
                    ),
                );
            }
        }
        if let Some(readiness) = &self.publish_readiness {
            readiness.add_to(&mut text);
        }
        text
    }
}

impl Readiness {
    fn add_to(&self, text: &mut String) {
        let Self { publishable, status_badge, included_bricks_count, draft_bricks_to_promote, .. } = self;
        let Self { published_bricks_included, blockers_count, warnings_count, .. } = self;
        rows::line(
            text,
            format_args!(
                "publish_readiness: publishable: {publishable} | status_badge: {status_badge} | \
                 included_bricks_count: {included_bricks_count} | draft_bricks_to_promote: {draft_bricks_to_promote} | \
                 published_bricks_included: {published_bricks_included} | blockers_count: {blockers_count} | \
                 warnings_count: {warnings_count}"
            ),
        );
        for (title, findings) in [("blockers", &self.blockers), ("warnings", &self.warnings)] {
            if findings.is_empty() {
                continue;
            }
            rows::line(text, format_args!("{title}:\ncode | brick_id | brick_version_id"));
            for Finding { code, brick_id, brick_version_id } in findings {
                let (brick, version) = (Maybe(brick_id.as_ref()), Maybe(brick_version_id.as_ref()));
                rows::line(text, format_args!("{code} | {brick} | {version}"));
            }
        }
    }
}

impl From<::kits::KitInspection> for Output {
    fn from(kit: ::kits::KitInspection) -> Self {
        Self {
            kit_id: kit.summary.kit_id,
            kit_code: kit.summary.kit_code,
            name: kit.summary.name,
            status: kit.summary.status.into(),
            current_version_id: kit.summary.current_version_id,
            current_version: kit.current_version,
            updated_at: kit.summary.updated_at,
            included_brick_count: kit.summary.brick_count,
            bricks: kit.bricks.map(|bricks| bricks.into_iter().map(Brick::from).collect()),
            publish_readiness: kit.publish_readiness.map(Readiness::from),
        }
    }
}

impl From<::kits::KitBrick> for Brick {
    fn from(brick: ::kits::KitBrick) -> Self {
        Self {
            brick_id: brick.brick_id,
            brick_key: brick.brick_key,
            brick_name: brick.brick_name,
            brick_version_id: brick.brick_version_id,
            brick_version: brick.brick_version,
            brick_version_status: brick.brick_version_status.word(),
            will_promote_on_publish: brick.will_promote_on_publish,
            update_available: brick.update_available,
        }
    }
}

impl From<::kits::Readiness> for Readiness {
    fn from(readiness: ::kits::Readiness) -> Self {
        Self {
            publishable: readiness.publishable(),
            status_badge: readiness.status_badge().word(),
            blockers_count: readiness.blockers.len(),
            warnings_count: readiness.warnings.len(),
            blockers: readiness.blockers.into_iter().map(|finding| Finding::of(finding, ::kits::Blocker::word)).collect(),
            warnings: readiness.warnings.into_iter().map(|finding| Finding::of(finding, ::kits::Warning::word)).collect(),
            included_bricks_count: readiness.included_bricks_count,
            draft_bricks_to_promote: readiness.draft_bricks_to_promote,
            published_bricks_included: readiness.published_bricks_included,
        }
    }
}

impl Finding {
    fn of<C>(finding: ::kits::Finding<C>, word: impl Fn(C) -> &'static str) -> Self {
        Self { code: word(finding.code), brick_id: finding.brick_id, brick_version_id: finding.brick_version_id }
    }
}
