//! Reading bricks: summaries in lists, and one brick in full.

use std::sync::Arc;

use base::{BrickId, BrickVersionId, Cursor, Error, Page, PageRequest, Result, Timestamp, limits};
use store::{OrgStore, Row, params};

use crate::{BrickType, Status, VersionStatus, Workshop, sql};

/// A brick in a list, without its rule and versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrickSummary {
    /// Its id.
    pub brick_id: BrickId,
    /// Its key, unique in the org. It never changes.
    pub brick_key: String,
    /// Its name.
    pub brick_name: String,
    /// Its status.
    pub status: Status,
    /// The newest published version, or the newest draft while nothing is published.
    pub current_version_id: BrickVersionId,
    /// When it was created. Lists are in this order.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A brick in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brick {
    /// The same fields as in a list.
    pub summary: BrickSummary,
    /// Its description.
    pub description: Option<String>,
    /// The kind of answer that its rule gives.
    pub brick_type: BrickType,
    /// Who created it.
    pub created_by: String,
    /// Its newest versions, newest first, at most [`limits::PAGE_ROWS_DEFAULT`].
    pub versions: Vec<BrickVersion>,
}

/// One version of a brick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrickVersion {
    /// Its id.
    pub brick_version_id: BrickVersionId,
    /// Its number, from 1.
    pub version: i64,
    /// Its status.
    pub status: VersionStatus,
    /// The rule.
    pub evaluation_prompt: String,
    /// Who wrote it.
    pub created_by: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was published.
    pub published_at: Option<Timestamp>,
}

impl<R: AsRef<OrgStore>> Workshop<R> {
    /// The newest bricks, newest first.
    pub async fn list_bricks(&self, status: Option<Status>, limit: u32) -> Result<Arc<Vec<BrickSummary>>> {
        self.brick_rows(status, None, limit.min(limits::PAGE_ROWS_MAX)).await
    }

    /// One page of all bricks, newest first.
    pub async fn bricks_page(&self, status: Option<Status>, page: &PageRequest) -> Result<Page<BrickSummary>> {
        let rows = page.rows.clamp(1, limits::PAGE_ROWS_MAX);
        let found = self.brick_rows(status, page.after.as_ref(), rows + 1).await?;
        let cursor_of = |brick: &BrickSummary| Cursor { created_at: brick.created_at, id: brick.brick_id.as_str().to_owned() };
        Ok(Page::from_rows(Arc::unwrap_or_clone(found), rows, cursor_of))
    }

    async fn brick_rows(&self, status: Option<Status>, after: Option<&Cursor>, rows: u32) -> Result<Arc<Vec<BrickSummary>>> {
        let (time, id) = position(after);
        match status {
            None => self.rows().query_kept(sql::BRICKS, &params![time, id, rows], summary).await,
            Some(status) => self.rows().query_kept(sql::BRICKS_OF_STATUS, &params![time, id, rows, status.word()], summary).await,
        }
    }

    /// A brick in full, or `None` if the org has no brick with this id. A malformed id is `None` too.
    pub async fn brick(&self, brick_id: &str) -> Result<Option<Brick>> {
        let Some(id) = BrickId::parse(brick_id) else { return Ok(None) };
        let read = self.rows().read(move |tx| {
            let brick = tx.first(sql::BRICK, &params![id], |row| {
                Ok(Brick {
                    summary: summary(row)?,
                    description: row.get("description")?,
                    brick_type: word(row, "type", BrickType::parse)?,
                    created_by: row.get("created_by")?,
                    versions: Vec::new(),
                })
            })?;
            let Some(mut brick) = brick else { return Ok(None) };
            brick.versions = tx.query(sql::BRICK_VERSIONS, &params![id, limits::PAGE_ROWS_DEFAULT], version)?;
            Ok(Some(brick))
        });
        read.await
    }
}

fn summary(row: &Row<'_>) -> Result<BrickSummary> {
    Ok(BrickSummary {
        brick_id: BrickId::from_row(row.text("id")?),
        brick_key: row.get("brick_key")?,
        brick_name: row.get("name")?,
        status: word(row, "status", Status::parse)?,
        current_version_id: BrickVersionId::from_row(row.text("current_version_id")?),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

fn version(row: &Row<'_>) -> Result<BrickVersion> {
    Ok(BrickVersion {
        brick_version_id: BrickVersionId::from_row(row.text("id")?),
        version: row.get("version")?,
        status: word(row, "status", VersionStatus::parse)?,
        evaluation_prompt: row.get("evaluation_prompt")?,
        created_by: row.get("created_by")?,
        created_at: row.get("created_at")?,
        published_at: row.get("published_at")?,
    })
}

/// The position where a list continues: after `after`, or at the start.
pub(crate) fn position(after: Option<&Cursor>) -> (i64, &str) {
    after.map_or((i64::MAX, ""), |cursor| (cursor.created_at.ms(), &cursor.id))
}

/// Column `name` as a value of one of our closed sets.
pub(crate) fn word<T>(row: &Row<'_>, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    let text = row.text(name)?;
    parse(text).ok_or_else(|| Error::internal(format_args!("column `{name}` holds `{text}`")))
}
