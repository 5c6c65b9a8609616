//! Bricks as they are read: short in lists, in full one at a time.

use std::sync::Arc;

use base::{BrickId, BrickVersionId, Cursor, Error, Page, PageRequest, Result, Timestamp, limits};
use store::{Row, params};

use crate::{BrickType, Status, VersionStatus, Workshop, sql};

/// A brick in a list: no rule, no versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrickSummary {
    /// Its id.
    pub brick_id: BrickId,
    /// Its key, unique in the org and never changed.
    pub brick_key: String,
    /// Its name.
    pub brick_name: String,
    /// How far it has come.
    pub status: Status,
    /// The newest published version, or the newest draft while nothing is published.
    pub current_version_id: BrickVersionId,
    /// When it was created: what lists are ordered by.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A brick in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brick {
    /// What lists show.
    pub summary: BrickSummary,
    /// What it is for.
    pub description: Option<String>,
    /// What its rule answers with.
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
    /// How far it has come.
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

impl Workshop {
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
            None => self.rows.query_kept(sql::BRICKS, &params![time, id, rows], summary).await,
            Some(status) => self.rows.query_kept(sql::BRICKS_OF_STATUS, &params![time, id, rows, status.word()], summary).await,
        }
    }

    /// A brick in full; `None` when the org has none with this id, whatever the id looks like.
    pub async fn brick(&self, brick_id: &str) -> Result<Option<Brick>> {
        let Some(id) = BrickId::parse(brick_id) else { return Ok(None) };
        let read = self.rows.read(move |tx| {
            let brick = tx.first(sql::BRICK, &params![id], |row| {
                Ok(Brick {
                    summary: summary(row)?,
                    description: row.get(7)?,
                    brick_type: word(row, 8, BrickType::parse)?,
                    created_by: row.get(9)?,
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
        brick_id: BrickId::from_row(row.text(0)?),
        brick_key: row.get(1)?,
        brick_name: row.get(2)?,
        status: word(row, 3, Status::parse)?,
        current_version_id: BrickVersionId::from_row(row.text(4)?),
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
    })
}

fn version(row: &Row<'_>) -> Result<BrickVersion> {
    Ok(BrickVersion {
        brick_version_id: BrickVersionId::from_row(row.text(0)?),
        version: row.get(1)?,
        status: word(row, 2, VersionStatus::parse)?,
        evaluation_prompt: row.get(3)?,
        created_by: row.get(4)?,
        created_at: row.get(5)?,
        published_at: row.get(6)?,
    })
}

/// Where a list goes on: after `after`, or before every row there can be.
pub(crate) fn position(after: Option<&Cursor>) -> (i64, &str) {
    after.map_or((i64::MAX, ""), |cursor| (cursor.created_at.ms(), &cursor.id))
}

/// Column `index` as one of our words.
pub(crate) fn word<T>(row: &Row<'_>, index: usize, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    let text = row.text(index)?;
    parse(text).ok_or_else(|| Error::internal(format_args!("column {index} holds `{text}`")))
}
