//! Reading kits: summaries in lists, the inspection for agents, and the full view for people.

use std::sync::Arc;

use base::{BrickId, BrickVersionId, Cursor, KitId, KitVersionId, Page, PageRequest, Result, Timestamp, limits};
use store::{OrgStore, OrgTx, Row, params};

use crate::brick::{position, word};
use crate::input::kit_id;
use crate::readiness::{Pin, PinnedBrick};
use crate::{Error, Readiness, Status, VersionStatus, Workshop, sql};

/// A kit in a list, without notes and versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitSummary {
    /// Its id.
    pub kit_id: KitId,
    /// Eight upper-case hex digits, unique in the org, the same for all versions.
    pub kit_code: String,
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: Status,
    /// The newest published version, or the newest draft while nothing is published.
    pub current_version_id: KitVersionId,
    /// When it was created. Lists are in this order.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Bricks in its current version.
    pub brick_count: usize,
}

/// A kit as agents see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitInspection {
    /// The same fields as in a list.
    pub summary: KitSummary,
    /// The number of its current version.
    pub current_version: i64,
    /// The bricks of its current version, if asked for.
    pub bricks: Option<Vec<KitBrick>>,
    /// Whether it can be published, if asked for.
    pub publish_readiness: Option<Readiness>,
}

/// A kit in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kit {
    /// The same fields as in a list.
    pub summary: KitSummary,
    /// The number of its current version.
    pub current_version: i64,
    /// Its description.
    pub description: Option<String>,
    /// Who created it.
    pub created_by: String,
    /// Its newest versions, newest first, at most [`limits::PAGE_ROWS_DEFAULT`].
    pub versions: Vec<KitVersion>,
    /// Whether it can be published.
    pub publish_readiness: Readiness,
}

/// One version of a kit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitVersion {
    /// Its id.
    pub kit_version_id: KitVersionId,
    /// Its number, from 1.
    pub version: i64,
    /// Its status.
    pub status: VersionStatus,
    /// Its notes.
    pub notes: Option<String>,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// The bricks that it pins, in order.
    pub bricks: Vec<KitBrick>,
}

/// A brick in a kit. A brick that is missing from the store is left out here, and [`Readiness`] counts and names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitBrick {
    /// The brick.
    pub brick_id: BrickId,
    /// Its key.
    pub brick_key: String,
    /// Its name.
    pub brick_name: String,
    /// The pinned version.
    pub brick_version_id: BrickVersionId,
    /// That version's number.
    pub brick_version: i64,
    /// The status of that version.
    pub brick_version_status: VersionStatus,
    /// Whether publishing the kit would publish that version.
    pub will_promote_on_publish: bool,
    /// Whether the brick has a newer published version.
    pub update_available: bool,
}

/// A kit's row, with the fields that only the full view shows.
struct KitRow {
    summary: KitSummary,
    current_version: i64,
    description: Option<String>,
    created_by: String,
}

/// A kit's status and its newest version.
pub(crate) struct Head {
    pub(crate) status: Status,
    pub(crate) version_id: KitVersionId,
    pub(crate) version: i64,
    pub(crate) version_status: VersionStatus,
}

impl<R: AsRef<OrgStore>> Workshop<R> {
    /// The newest kits, newest first.
    pub async fn list_kits(&self, status: Option<Status>, limit: u32) -> Result<Arc<Vec<KitSummary>>> {
        self.kit_rows(status, None, limit.min(limits::PAGE_ROWS_MAX)).await
    }

    /// One page of all kits, newest first.
    pub async fn kits_page(&self, status: Option<Status>, page: &PageRequest) -> Result<Page<KitSummary>> {
        let rows = page.rows.clamp(1, limits::PAGE_ROWS_MAX);
        let found = self.kit_rows(status, page.after.as_ref(), rows + 1).await?;
        let cursor_of = |kit: &KitSummary| Cursor { created_at: kit.created_at, id: kit.kit_id.as_str().to_owned() };
        Ok(Page::from_rows(Arc::unwrap_or_clone(found), rows, cursor_of))
    }

    async fn kit_rows(&self, status: Option<Status>, after: Option<&Cursor>, rows: u32) -> Result<Arc<Vec<KitSummary>>> {
        let (time, id) = position(after);
        match status {
            None => self.rows().query_kept(sql::KITS, &params![time, id, rows], summary).await,
            Some(status) => self.rows().query_kept(sql::KITS_OF_STATUS, &params![time, id, rows, status.word()], summary).await,
        }
    }

    /// A kit as agents see it.
    pub async fn kit_summary(
        &self,
        id: &str,
        include_bricks: bool,
        include_publish_readiness: bool,
    ) -> Result<KitInspection, Error> {
        let id = kit_id(id)?;
        if !include_bricks && !include_publish_readiness {
            // A single statement needs no snapshot.
            let row = self.rows().first(sql::KIT, &params![id], kit_row).await?.ok_or(Error::UnknownKit)?;
            let KitRow { summary, current_version, .. } = row;
            return Ok(KitInspection { summary, current_version, bricks: None, publish_readiness: None });
        }
        let read = self.rows().read(move |tx| {
            let Some(row) = tx.first(sql::KIT, &params![id], kit_row)? else { return Ok(None) };
            let KitRow { summary, current_version, .. } = row;
            let current = &summary.current_version_id;
            let pins = include_bricks.then(|| pins(tx, current)).transpose()?;
            let publish_readiness =
                include_publish_readiness.then(|| readiness(tx, &id, current, pins.as_deref())).transpose()?;
            let bricks = pins.map(bricks);
            Ok(Some(KitInspection { summary, current_version, bricks, publish_readiness }))
        });
        read.await?.ok_or(Error::UnknownKit)
    }

    /// A kit in full, or `None` if the org has no kit with this id. A malformed id is `None` too.
    pub async fn kit(&self, id: &str) -> Result<Option<Kit>> {
        let Some(id) = KitId::parse(id) else { return Ok(None) };
        let read = self.rows().read(move |tx| {
            let Some(row) = tx.first(sql::KIT, &params![id], kit_row)? else { return Ok(None) };
            let KitRow { summary, current_version, description, created_by } = row;
            let versions = tx.query(sql::KIT_VERSIONS, &params![id, limits::PAGE_ROWS_DEFAULT], version)?;
            let publish_readiness = readiness(tx, &id, &summary.current_version_id, None)?;
            Ok(Some(Kit { summary, current_version, description, created_by, versions, publish_readiness }))
        });
        let Some(mut kit) = read.await? else { return Ok(None) };
        // On SQLite these reads run on the caller's thread and can be fifty versions of five hundred bricks, so other tasks get
        // a turn after each version. The pins of a version never change, so no snapshot is needed.
        for version in &mut kit.versions {
            version.bricks = bricks(self.rows().query(sql::PINS, &params![version.kit_version_id], pin).await?);
            tokio::task::yield_now().await;
        }
        Ok(Some(kit))
    }
}

fn kit_row(row: &Row<'_>) -> Result<KitRow> {
    Ok(KitRow {
        summary: summary(row)?,
        current_version: row.get("current_version")?,
        description: row.get("description")?,
        created_by: row.get("created_by")?,
    })
}

/// The readiness of the version that publishing would take: the newest version if it is a draft, else the current one. The
/// caller may have read the pins of the current one already.
fn readiness(tx: &mut OrgTx<'_, '_>, id: &KitId, current: &KitVersionId, current_pins: Option<&[Pin]>) -> Result<Readiness> {
    let head = head(tx, id)?.filter(|head| head.version_status == VersionStatus::Draft);
    let version_id = head.map_or_else(|| *current, |head| head.version_id);
    match current_pins {
        Some(pins) if version_id == *current => Ok(Readiness::of(version_id, pins)),
        _ => {
            let pins = pins(tx, &version_id)?;
            Ok(Readiness::of(version_id, &pins))
        }
    }
}

pub(crate) fn head(tx: &mut OrgTx<'_, '_>, id: &KitId) -> Result<Option<Head>> {
    tx.first(sql::KIT_HEAD, &params![id], |row| {
        Ok(Head {
            status: word(row, "status", Status::parse)?,
            version_id: KitVersionId::from_row(row.text("version_id")?),
            version: row.get("version")?,
            version_status: word(row, "version_status", VersionStatus::parse)?,
        })
    })
}

/// The pins of a kit version, in order.
pub(crate) fn pins(tx: &mut OrgTx<'_, '_>, version_id: &KitVersionId) -> Result<Vec<Pin>> {
    tx.query(sql::PINS, &params![version_id], pin)
}

fn pin(row: &Row<'_>) -> Result<Pin> {
    Ok(Pin {
        brick_id: BrickId::from_row(row.text("brick_id")?),
        brick_version_id: BrickVersionId::from_row(row.text("brick_version_id")?),
        brick: pinned_brick(row)?,
    })
}

fn pinned_brick(row: &Row<'_>) -> Result<Option<PinnedBrick>> {
    let (Some(key), Some(version)) = (row.get::<Option<String>>("brick_key")?, row.get::<Option<i64>>("version")?) else {
        return Ok(None);
    };
    let current: Option<i64> = row.get("current_version")?;
    let current_is_published =
        row.get::<Option<String>>("current_version_status")?.as_deref() == Some(VersionStatus::Published.word());
    Ok(Some(PinnedBrick {
        key,
        name: row.get("name")?,
        status: word(row, "status", Status::parse)?,
        version,
        version_status: word(row, "version_status", VersionStatus::parse)?,
        rule_is_empty: row.get("rule_is_empty")?,
        newest_published: current.filter(|_| current_is_published),
    }))
}

fn bricks(pins: Vec<Pin>) -> Vec<KitBrick> {
    pins.into_iter().filter_map(kit_brick).collect()
}

fn kit_brick(pin: Pin) -> Option<KitBrick> {
    let brick = pin.brick?;
    Some(KitBrick {
        will_promote_on_publish: brick.will_promote_on_publish(),
        update_available: brick.update_available(),
        brick_id: pin.brick_id,
        brick_version_id: pin.brick_version_id,
        brick_key: brick.key,
        brick_name: brick.name,
        brick_version: brick.version,
        brick_version_status: brick.version_status,
    })
}

fn summary(row: &Row<'_>) -> Result<KitSummary> {
    Ok(KitSummary {
        kit_id: KitId::from_row(row.text("id")?),
        kit_code: row.get("kit_code")?,
        name: row.get("name")?,
        status: word(row, "status", Status::parse)?,
        current_version_id: KitVersionId::from_row(row.text("current_version_id")?),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        brick_count: usize::try_from(row.get::<i64>("brick_count")?).unwrap_or(0),
    })
}

fn version(row: &Row<'_>) -> Result<KitVersion> {
    Ok(KitVersion {
        kit_version_id: KitVersionId::from_row(row.text("id")?),
        version: row.get("version")?,
        status: word(row, "status", VersionStatus::parse)?,
        notes: row.get("notes")?,
        created_by: row.get("created_by")?,
        created_at: row.get("created_at")?,
        published_at: row.get("published_at")?,
        bricks: Vec::new(),
    })
}
