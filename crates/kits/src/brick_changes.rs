//! What changes bricks. Agents may only draft; the rest is for people, which the callers see to.

use base::{BrickId, BrickVersionId, Error, Kind, Result};
use store::{OrgTx, params};

use crate::brick::word;
use crate::input::{brick_id, unknown_brick};
use crate::readiness::Finding;
use crate::{Blocker, NewBrick, NewBrickVersion, Status, VersionStatus, Workshop, key, sql};

/// A brick's status and its newest version, read inside the transaction that acts on them.
struct Head {
    status: Status,
    version_id: BrickVersionId,
    version: i64,
    version_status: VersionStatus,
    rule_is_empty: bool,
}

impl Workshop {
    /// Drafts a brick, with a key of its own.
    pub async fn create_draft_brick(&self, mut brick: NewBrick, created_by: &str) -> Result<(BrickId, BrickVersionId)> {
        brick.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.rows.write(move |tx| {
            // The time and the ids are taken in the order in which an org's writes run, which is the order lists show.
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

    /// Drafts a further version of a brick.
    pub async fn new_brick_version(&self, id: &str, mut version: NewBrickVersion, created_by: &str) -> Result<BrickVersionId> {
        let id = brick_id(id)?;
        version.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.rows.write(move |tx| {
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

    /// Publishes a brick's newest version and says which that was.
    pub async fn publish_brick(&self, id: &str) -> Result<BrickVersionId> {
        let id = brick_id(id)?;
        let clock = self.clock.clone();
        let write = self.rows.write(move |tx| {
            let head = living_head(tx, &id)?;
            if head.version_status == VersionStatus::Published {
                return Err(Error::new(Kind::Conflict, "the newest version of this brick is published already"));
            }
            if head.rule_is_empty {
                let blocker = Finding::about(Blocker::BrickRuleEmpty, &id, &head.version_id);
                return Err(Error::new(Kind::Conflict, "the newest version of this brick has no rule")
                    .with("blockers", vec![blocker.json()]));
            }
            let now = clock.now();
            tx.execute(sql::PUBLISH_BRICK_VERSION, &params![head.version_id, now])?;
            tx.execute(sql::PUBLISH_BRICK, &params![id, head.version_id, now])?;
            Ok(head.version_id)
        });
        write.await
    }

    /// Retires a brick for good; says whether this call did it.
    pub async fn deprecate_brick(&self, id: &str) -> Result<bool> {
        let id = brick_id(id)?;
        let clock = self.clock.clone();
        let write = self.rows.write(move |tx| {
            let touched = tx.execute(sql::DEPRECATE_BRICK, &params![id, clock.now()])?;
            if touched == 0 && tx.first(sql::BRICK_EXISTS, &params![id], |_| Ok(()))?.is_none() {
                return Err(unknown_brick());
            }
            Ok(touched > 0)
        });
        write.await
    }
}

/// The head of a brick that may still change.
fn living_head(tx: &mut OrgTx<'_, '_>, id: &BrickId) -> Result<Head> {
    let head = tx.first(sql::BRICK_HEAD, &params![id], |row| {
        Ok(Head {
            status: word(row, 0, Status::parse)?,
            version_id: BrickVersionId::from_row(row.text(1)?),
            version: row.get(2)?,
            version_status: word(row, 3, VersionStatus::parse)?,
            rule_is_empty: row.get(4)?,
        })
    })?;
    let head = head.ok_or_else(unknown_brick)?;
    if head.status == Status::Deprecated {
        return Err(Error::new(Kind::Conflict, "this brick is deprecated"));
    }
    Ok(head)
}
