//! API types of kits.

use std::collections::HashSet;

use base::limits::KIT_BRICKS_MAX;
use kits::{Finding, Kit, KitBrick, KitSummary, KitVersion, Readiness};
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::wire::{BrickId, BrickVersionId, KitId, KitVersionId, Time};
use super::words::{Badge, Blocker, Status, VersionStatus, Warning};

/// A kit in a list.
#[derive(Serialize, ToSchema)]
#[schema(as = KitSummary)]
pub(super) struct SummaryView {
    kit_id: KitId,
    /// Eight upper-case hex digits, the same for all versions.
    kit_code: String,
    name: String,
    status: Status,
    /// The newest published version, or the newest draft if none is published.
    current_version_id: KitVersionId,
    created_at: Time,
    updated_at: Time,
    /// The number of bricks in the current version.
    brick_count: usize,
}

impl From<KitSummary> for SummaryView {
    fn from(kit: KitSummary) -> Self {
        Self {
            kit_id: kit.kit_id.into(),
            kit_code: kit.kit_code,
            name: kit.name,
            status: kit.status.into(),
            current_version_id: kit.current_version_id.into(),
            created_at: kit.created_at.into(),
            updated_at: kit.updated_at.into(),
            brick_count: kit.brick_count,
        }
    }
}

/// A kit in full.
#[derive(Serialize, ToSchema)]
#[schema(as = Kit)]
pub(super) struct KitView {
    #[serde(flatten)]
    summary: SummaryView,
    /// The number of the current version.
    current_version: i64,
    #[schema(required)]
    description: Option<String>,
    created_by: String,
    /// The newest versions, newest first.
    versions: Vec<VersionView>,
    publish_readiness: ReadinessView,
}

impl From<Kit> for KitView {
    fn from(kit: Kit) -> Self {
        Self {
            summary: kit.summary.into(),
            current_version: kit.current_version,
            description: kit.description,
            created_by: kit.created_by,
            versions: kit.versions.into_iter().map(VersionView::from).collect(),
            publish_readiness: kit.publish_readiness.into(),
        }
    }
}

/// A version of a kit.
#[derive(Serialize, ToSchema)]
#[schema(as = KitVersion)]
struct VersionView {
    kit_version_id: KitVersionId,
    version: i64,
    status: VersionStatus,
    #[schema(required)]
    notes: Option<String>,
    created_by: String,
    created_at: Time,
    #[schema(required)]
    published_at: Option<Time>,
    /// The pinned bricks, in order.
    bricks: Vec<PinView>,
}

impl From<KitVersion> for VersionView {
    fn from(version: KitVersion) -> Self {
        Self {
            kit_version_id: version.kit_version_id.into(),
            version: version.version,
            status: version.status.into(),
            notes: version.notes,
            created_by: version.created_by,
            created_at: version.created_at.into(),
            published_at: version.published_at.map(Time),
            bricks: version.bricks.into_iter().map(PinView::from).collect(),
        }
    }
}

/// A brick in a kit.
#[derive(Serialize, ToSchema)]
#[schema(as = KitBrick)]
struct PinView {
    brick_id: BrickId,
    brick_key: String,
    brick_name: String,
    brick_version_id: BrickVersionId,
    brick_version: i64,
    brick_version_status: VersionStatus,
    /// Whether publishing the kit also publishes this version.
    will_promote_on_publish: bool,
    /// Whether the brick has a newer published version.
    update_available: bool,
}

impl From<KitBrick> for PinView {
    fn from(brick: KitBrick) -> Self {
        Self {
            brick_id: brick.brick_id.into(),
            brick_key: brick.brick_key,
            brick_name: brick.brick_name,
            brick_version_id: brick.brick_version_id.into(),
            brick_version: brick.brick_version,
            brick_version_status: brick.brick_version_status.into(),
            will_promote_on_publish: brick.will_promote_on_publish,
            update_available: brick.update_available,
        }
    }
}

/// Whether a kit can be published.
#[derive(Serialize, ToSchema)]
#[schema(as = PublishReadiness)]
struct ReadinessView {
    /// The version that would be published.
    kit_version_id: KitVersionId,
    publishable: bool,
    status_badge: Badge,
    blockers: Vec<BlockerView>,
    warnings: Vec<WarningView>,
    included_bricks_count: usize,
    draft_bricks_to_promote: usize,
    published_bricks_included: usize,
    blockers_count: usize,
    warnings_count: usize,
}

/// A reason why a kit cannot be published.
#[derive(Serialize, ToSchema)]
#[schema(as = KitBlocker)]
pub(super) struct BlockerView {
    code: Blocker,
    #[schema(required)]
    brick_id: Option<BrickId>,
    #[schema(required)]
    brick_version_id: Option<BrickVersionId>,
}

/// Something to know before publishing a kit.
#[derive(Serialize, ToSchema)]
#[schema(as = KitWarning)]
struct WarningView {
    code: Warning,
    #[schema(required)]
    brick_id: Option<BrickId>,
    #[schema(required)]
    brick_version_id: Option<BrickVersionId>,
}

impl From<Finding<kits::Blocker>> for BlockerView {
    fn from(found: Finding<kits::Blocker>) -> Self {
        let (brick_id, brick_version_id) = (found.brick_id.map(BrickId), found.brick_version_id.map(BrickVersionId));
        Self { code: found.code.into(), brick_id, brick_version_id }
    }
}

impl From<Finding<kits::Warning>> for WarningView {
    fn from(found: Finding<kits::Warning>) -> Self {
        let (brick_id, brick_version_id) = (found.brick_id.map(BrickId), found.brick_version_id.map(BrickVersionId));
        Self { code: found.code.into(), brick_id, brick_version_id }
    }
}

impl From<Readiness> for ReadinessView {
    fn from(readiness: Readiness) -> Self {
        Self {
            publishable: readiness.publishable(),
            status_badge: readiness.status_badge().into(),
            kit_version_id: readiness.kit_version_id.into(),
            included_bricks_count: readiness.included_bricks_count,
            draft_bricks_to_promote: readiness.draft_bricks_to_promote,
            published_bricks_included: readiness.published_bricks_included,
            blockers_count: readiness.blockers.len(),
            warnings_count: readiness.warnings.len(),
            blockers: readiness.blockers.into_iter().map(BlockerView::from).collect(),
            warnings: readiness.warnings.into_iter().map(WarningView::from).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct KitAnswer {
    pub(super) kit: KitView,
}

/// A kit, and the version that the request created or published.
#[derive(Serialize, ToSchema)]
pub(super) struct KitVersionAnswer {
    pub(super) kit_version_id: KitVersionId,
    pub(super) kit: KitView,
}

#[derive(Serialize, ToSchema)]
pub(super) struct KitsAnswer {
    pub(super) kits: Vec<SummaryView>,
    #[serde(rename = "nextCursor")]
    #[schema(required)]
    pub(super) next_cursor: Option<String>,
}

/// The bricks of a kit: at least one, each only once.
pub(super) struct BrickList(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for BrickList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = Vec::<base::BrickId>::deserialize(deserializer)?;
        let each_once = ids.iter().collect::<HashSet<_>>().len() == ids.len();
        if !(1..=KIT_BRICKS_MAX).contains(&ids.len()) || !each_once {
            return Err(de::Error::custom(format_args!("a kit must have 1 to {KIT_BRICKS_MAX} bricks, each only once")));
        }
        Ok(Self(ids.iter().map(ToString::to_string).collect()))
    }
}

impl PartialSchema for BrickList {
    fn schema() -> RefOr<Schema> {
        let ids = ArrayBuilder::new().items(Ref::from_schema_name("BrickId")).unique_items(true);
        ids.min_items(Some(1)).max_items(Some(KIT_BRICKS_MAX)).into()
    }
}

impl ToSchema for BrickList {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((BrickId::name().into_owned(), BrickId::schema()));
    }
}
