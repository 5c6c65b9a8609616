//! Changes to bricks. Agents may only create drafts; the callers enforce that the rest is for people.

use base::{BrickId, BrickVersionId};
use store::{Change, OrgTx, params};

use crate::brick::word;
use crate::input::brick_id;
use crate::readiness::Finding;
use crate::{Blocker, Error, NewBrick, NewBrickVersion, Result, Status, VersionStatus, Workshop, key, sql};

/// A brick's status and its newest version, read inside the transaction that acts on them.
struct Head {
    status: Status,
    version_id: BrickVersionId,
    version: i64,
    version_status: VersionStatus,
    rule_is_empty: bool,
}

impl Workshop<Change> {
    /// Creates a draft brick with a unique key.
    pub async fn create_draft_brick(&self, mut brick: NewBrick, created_by: &str) -> Result<(BrickId, BrickVersionId)> {
        brick.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.change(move |tx| {
            // The time and the ids are taken inside the write, so their order is the order of the org's writes and of lists.
            let now = clock.now();
            let (id, version_id) = (BrickId::new(now), BrickVersionId::new(now));
            let brick_key = key::first_free(&key::snake_case(&brick.name), |key| {
                Ok(tx.first(sql::BRICK_OF_KEY, &params![key], |_| Ok(()))?.is_some())
            })?;
            let NewBrick { name, description, brick_type, evaluation_prompt } = &brick;
            tx.execute(
                sql::INSERT_BRICK,
                &params![id, brick_key, name, description, brick_type.word(), version_id, created_by, now],
            )?;
            tx.execute(sql::INSERT_BRICK_VERSION, &params![version_id, id, 1_i64, evaluation_prompt, created_by, now])?;
            Ok((id, version_id))
        });
        write.await
    }

    /// Adds a draft version to a brick.
    pub async fn new_brick_version(&self, id: &str, mut version: NewBrickVersion, created_by: &str) -> Result<BrickVersionId> {
        let id = brick_id(id)?;
        version.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.change(move |tx| {
            let head = living_head(tx, &id)?;
            let now = clock.now();
            let version_id = BrickVersionId::new(now);
            let NewBrickVersion { evaluation_prompt, description } = &version;
            let number = head.version + 1;
            tx.execute(sql::INSERT_BRICK_VERSION, &params![version_id, id, number, evaluation_prompt, created_by, now])?;
            tx.execute(sql::BRICK_HAS_NEW_VERSION, &params![id, version_id, description, now])?;
            Ok(version_id)
        });
        write.await
    }

    /// Publishes a brick's newest version and returns its id.
    pub async fn publish_brick(&self, id: &str) -> Result<BrickVersionId> {
        let id = brick_id(id)?;
        let clock = self.clock.clone();
        let write = self.change(move |tx| {
            let head = living_head(tx, &id)?;
            if head.version_status == VersionStatus::Published {
                return Err(Error::BrickPublished);
            }
            if head.rule_is_empty {
                return Err(Error::BrickRuleEmpty(Finding::about(Blocker::BrickRuleEmpty, &id, &head.version_id)));
            }
            let now = clock.now();
            tx.execute(sql::PUBLISH_BRICK_VERSION, &params![head.version_id, now])?;
            tx.execute(sql::PUBLISH_BRICK, &params![id, head.version_id, now])?;
            Ok(head.version_id)
        });
        write.await
    }

    /// Deprecates a brick, which is final. Returns whether this call did it.
    pub async fn deprecate_brick(&self, id: &str) -> Result<bool> {
        let id = brick_id(id)?;
        let clock = self.clock.clone();
        let write = self.change(move |tx| {
            let touched = tx.execute(sql::DEPRECATE_BRICK, &params![id, clock.now()])?;
            if touched == 0 && tx.first(sql::BRICK_EXISTS, &params![id], |_| Ok(()))?.is_none() {
                return Err(Error::UnknownBrick);
            }
            Ok(touched > 0)
        });
        write.await
    }
}

/// The head of a brick that is not deprecated.
fn living_head(tx: &mut OrgTx<'_, '_>, id: &BrickId) -> Result<Head> {
    let head = tx.first(sql::BRICK_HEAD, &params![id], |row| {
        Ok(Head {
            status: word(row, "status", Status::parse)?,
            version_id: BrickVersionId::from_row(row.text("version_id")?),
            version: row.get("version")?,
            version_status: word(row, "version_status", VersionStatus::parse)?,
            rule_is_empty: row.get("rule_is_empty")?,
        })
    })?;
    let head = head.ok_or(Error::UnknownBrick)?;
    if head.status == Status::Deprecated {
        return Err(Error::BrickDeprecated);
    }
    Ok(head)
}
