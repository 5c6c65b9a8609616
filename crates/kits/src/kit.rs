//! Kits as they are read: short in lists, inspected by agents, in full for people.

use std::sync::Arc;

use base::{BrickId, BrickVersionId, Cursor, KitId, KitVersionId, Page, PageRequest, Result, Timestamp, limits};
use store::{OrgTx, Row, params};

use crate::brick::{position, word};
use crate::input::{kit_id, unknown_kit};
use crate::readiness::{Pin, PinnedBrick};
use crate::{Readiness, Status, VersionStatus, Workshop, sql};

/// A kit in a list: no notes, no versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitSummary {
    /// Its id.
    pub kit_id: KitId,
    /// Eight upper-case hex digits, unique in the org, the same for all versions.
    pub kit_code: String,
    /// Its name.
    pub name: String,
    /// How far it has come.
    pub status: Status,
    /// The newest published version, or the newest draft while nothing is published.
    pub current_version_id: KitVersionId,
    /// When it was created: what lists are ordered by.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Bricks in its current version.
    pub brick_count: usize,
}

/// A kit as an agent may inspect it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitInspection {
    /// What lists show.
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
    /// What lists show.
    pub summary: KitSummary,
    /// The number of its current version.
    pub current_version: i64,
    /// What it is for.
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
    /// How far it has come.
    pub status: VersionStatus,
    /// Notes on it.
    pub notes: Option<String>,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// What it pins, in order.
    pub bricks: Vec<KitBrick>,
}

/// A brick in a kit. One that is gone from the rows is left out here, and counted and named by [`Readiness`].
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
    /// How far that version has come.
    pub brick_version_status: VersionStatus,
    /// Whether publishing the kit would publish that version.
    pub will_promote_on_publish: bool,
    /// Whether the brick has a newer published version.
    pub update_available: bool,
}

/// A kit's row, with what only the full view shows.
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

impl Workshop {
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
            None => self.rows.query_kept(sql::KITS, &params![time, id, rows], summary).await,
            Some(status) => self.rows.query_kept(sql::KITS_OF_STATUS, &params![time, id, rows, status.word()], summary).await,
        }
    }

    /// A kit as an agent may inspect it.
    pub async fn kit_summary(&self, id: &str, include_bricks: bool, include_publish_readiness: bool) -> Result<KitInspection> {
        let id = kit_id(id)?;
        if !include_bricks && !include_publish_readiness {
            // One statement needs no snapshot.
            let row = self.rows.first(sql::KIT, &params![id], kit_row).await?.ok_or_else(unknown_kit)?;
            let KitRow { summary, current_version, .. } = row;
            return Ok(KitInspection { summary, current_version, bricks: None, publish_readiness: None });
        }
        let read = self.rows.read(move |tx| {
            let row = tx.first(sql::KIT, &params![id], kit_row)?.ok_or_else(unknown_kit)?;
            let KitRow { summary, current_version, .. } = row;
            let current = &summary.current_version_id;
            let pins = include_bricks.then(|| pins(tx, current)).transpose()?;
            let publish_readiness =
                include_publish_readiness.then(|| readiness(tx, &id, current, pins.as_deref())).transpose()?;
            let bricks = pins.map(bricks);
            Ok(KitInspection { summary, current_version, bricks, publish_readiness })
        });
        read.await
    }

    /// A kit in full; `None` when the org has none with this id, whatever the id looks like.
    pub async fn kit(&self, id: &str) -> Result<Option<Kit>> {
        let Some(id) = KitId::parse(id) else { return Ok(None) };
        let read = self.rows.read(move |tx| {
            let Some(row) = tx.first(sql::KIT, &params![id], kit_row)? else { return Ok(None) };
            let KitRow { summary, current_version, description, created_by } = row;
            let versions = tx.query(sql::KIT_VERSIONS, &params![id, limits::PAGE_ROWS_DEFAULT], version)?;
            let publish_readiness = readiness(tx, &id, &summary.current_version_id, None)?;
            Ok(Some(Kit { summary, current_version, description, created_by, versions, publish_readiness }))
        });
        let Some(mut kit) = read.await? else { return Ok(None) };
        // Fifty versions of five hundred bricks are read on the caller's thread where the store is a file: others get a turn
        // after each. What a version pins never changes, so this needs no snapshot.
        for version in &mut kit.versions {
            version.bricks = bricks(self.rows.query(sql::PINS, &params![version.kit_version_id], pin).await?);
            tokio::task::yield_now().await;
        }
        Ok(Some(kit))
    }
}

fn kit_row(row: &Row<'_>) -> Result<KitRow> {
    Ok(KitRow { summary: summary(row)?, current_version: row.get(8)?, description: row.get(9)?, created_by: row.get(10)? })
}

/// The readiness of what publishing would take: the newest version if it is a draft, else the current one, whose pins the
/// caller may have read already.
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
            status: word(row, 0, Status::parse)?,
            version_id: KitVersionId::from_row(row.text(1)?),
            version: row.get(2)?,
            version_status: word(row, 3, VersionStatus::parse)?,
        })
    })
}

/// What a kit version pins, in order.
pub(crate) fn pins(tx: &mut OrgTx<'_, '_>, version_id: &KitVersionId) -> Result<Vec<Pin>> {
    tx.query(sql::PINS, &params![version_id], pin)
}

fn pin(row: &Row<'_>) -> Result<Pin> {
    Ok(Pin {
        brick_id: BrickId::from_row(row.text(0)?),
        brick_version_id: BrickVersionId::from_row(row.text(1)?),
        brick: pinned_brick(row)?,
    })
}

fn pinned_brick(row: &Row<'_>) -> Result<Option<PinnedBrick>> {
    let (Some(key), Some(version)) = (row.get::<Option<String>>(2)?, row.get::<Option<i64>>(5)?) else { return Ok(None) };
    let current: Option<i64> = row.get(8)?;
    let current_is_published = row.get::<Option<String>>(9)?.as_deref() == Some(VersionStatus::Published.word());
    Ok(Some(PinnedBrick {
        key,
        name: row.get(3)?,
        status: word(row, 4, Status::parse)?,
        version,
        version_status: word(row, 6, VersionStatus::parse)?,
        rule_is_empty: row.get(7)?,
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
        kit_id: KitId::from_row(row.text(0)?),
        kit_code: row.get(1)?,
        name: row.get(2)?,
        status: word(row, 3, Status::parse)?,
        current_version_id: KitVersionId::from_row(row.text(4)?),
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
        brick_count: usize::try_from(row.get::<i64>(7)?).unwrap_or(0),
    })
}

fn version(row: &Row<'_>) -> Result<KitVersion> {
    Ok(KitVersion {
        kit_version_id: KitVersionId::from_row(row.text(0)?),
        version: row.get(1)?,
        status: word(row, 2, VersionStatus::parse)?,
        notes: row.get(3)?,
        created_by: row.get(4)?,
        created_at: row.get(5)?,
        published_at: row.get(6)?,
        bricks: Vec::new(),
    })
}
