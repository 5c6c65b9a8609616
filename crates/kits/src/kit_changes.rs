//! Changes to kits. Agents may only create drafts; the callers enforce that the rest is for people.

use base::{BrickId, BrickVersionId, EventKind, KitId, KitVersionId, Timestamp, secret};
use store::{Change, OrgTx, params};

use crate::input::kit_id;
use crate::kit::{Head, head, pins};
use crate::readiness::{Pin, PinnedBrick, Readiness};
use crate::{Error, NewKit, NewKitVersion, Result, Status, VersionStatus, Workshop, sql};

/// The maximum number of draws for a kit's code. Even with a million kits, only one draw in four thousand is taken.
const CODES_TRIED_MAX: u32 = 16;

/// A new draft kit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedKit {
    /// Its id.
    pub kit_id: KitId,
    /// The id of its first version.
    pub kit_version_id: KitVersionId,
    /// The number of bricks that it pins.
    pub brick_count: usize,
}

/// A published kit version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedKit {
    /// Its id.
    pub kit_version_id: KitVersionId,
    /// The drafts that were published with it.
    pub promoted: Vec<(BrickId, BrickVersionId)>,
}

impl Workshop<Change> {
    /// Creates a draft kit from existing bricks, in one transaction.
    pub async fn create_draft_kit(&self, kit: NewKit, created_by: &str) -> Result<CreatedKit> {
        let brick_ids = kit.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.change(move |tx| {
            // The time and the ids are taken inside the write, so their order is the order of the org's writes and of lists.
            let now = clock.now();
            let (id, version_id) = (KitId::new(now), KitVersionId::new(now));
            let code = free_code(tx)?;
            let NewKit { name, description, notes, .. } = &kit;
            tx.execute(sql::INSERT_KIT, &params![id, code, name, description, version_id, created_by, now])?;
            tx.execute(sql::INSERT_KIT_VERSION, &params![version_id, id, 1_i64, notes, created_by, now])?;
            pin(tx, &version_id, &brick_ids)?;
            Ok(CreatedKit { kit_id: id, kit_version_id: version_id, brick_count: brick_ids.len() })
        });
        write.await
    }

    /// Adds a draft version to a kit, which pins each brick's version that is current now.
    pub async fn new_kit_version(&self, id: &str, version: NewKitVersion, created_by: &str) -> Result<KitVersionId> {
        let id = kit_id(id)?;
        let brick_ids = version.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.change(move |tx| {
            let head = living_head(tx, &id)?;
            let now = clock.now();
            let version_id = KitVersionId::new(now);
            let number = head.version + 1;
            tx.execute(sql::INSERT_KIT_VERSION, &params![version_id, id, number, version.notes, created_by, now])?;
            pin(tx, &version_id, &brick_ids)?;
            tx.execute(sql::KIT_HAS_NEW_VERSION, &params![id, version_id, now])?;
            Ok(version_id)
        });
        write.await
    }

    /// Publishes a kit's newest version and the drafts that it pins. If it is blocked, [`Error::KitBlocked`] lists the blockers.
    pub async fn publish_kit(&self, id: &str) -> Result<PublishedKit> {
        let id = kit_id(id)?;
        let clock = self.clock.clone();
        let write = self.change(move |tx| {
            let head = living_head(tx, &id)?;
            if head.version_status == VersionStatus::Published {
                return Err(Error::KitPublished);
            }
            let pins = pins(tx, &head.version_id)?;
            refuse_blocked(Readiness::of(head.version_id, &pins))?;
            publish(tx, &id, &head.version_id, clock.now())?;
            let promoted: Vec<_> = pins.into_iter().filter(promotes).map(|pin| (pin.brick_id, pin.brick_version_id)).collect();
            promoted.iter().for_each(|(brick, _)| tx.tell(EventKind::BrickPublished, "brick", brick));
            Ok(PublishedKit { kit_version_id: head.version_id, promoted })
        });
        write.await
    }

    /// Deprecates a kit, which is final. Returns whether this call did it.
    pub async fn deprecate_kit(&self, id: &str) -> Result<bool> {
        let id = kit_id(id)?;
        let clock = self.clock.clone();
        let write = self.change(move |tx| {
            let touched = tx.execute(sql::DEPRECATE_KIT, &params![id, clock.now()])?;
            if touched == 0 && tx.first(sql::KIT_EXISTS, &params![id], |_| Ok(()))?.is_none() {
                return Err(Error::UnknownKit);
            }
            Ok(touched > 0)
        });
        write.await
    }
}

/// The head of a kit that is not deprecated.
fn living_head(tx: &mut OrgTx<'_, '_>, id: &KitId) -> Result<Head> {
    let head = head(tx, id)?.ok_or(Error::UnknownKit)?;
    if head.status == Status::Deprecated {
        return Err(Error::KitDeprecated);
    }
    Ok(head)
}

/// Pins the current version of each brick. The error names the first brick that the org does not have.
fn pin(tx: &mut OrgTx<'_, '_>, version_id: &KitVersionId, brick_ids: &[BrickId]) -> Result<()> {
    for ((position, brick_id), column) in brick_ids.iter().enumerate().zip(0_i64..) {
        if tx.execute(sql::PIN_BRICK, &params![version_id, column, brick_id])? == 0 {
            return Err(Error::UnknownListedBrick { position });
        }
    }
    Ok(())
}

fn refuse_blocked(readiness: Readiness) -> Result<()> {
    if readiness.publishable() { Ok(()) } else { Err(Error::KitBlocked(readiness.blockers)) }
}

fn promotes(pin: &Pin) -> bool {
    pin.brick.as_ref().is_some_and(PinnedBrick::will_promote_on_publish)
}

fn publish(tx: &mut OrgTx<'_, '_>, id: &KitId, version_id: &KitVersionId, now: Timestamp) -> Result<()> {
    tx.execute(sql::TOUCH_PROMOTED_BRICKS, &params![version_id, now])?;
    tx.execute(sql::PROMOTE_VERSIONS, &params![version_id, now])?;
    tx.execute(sql::SETTLE_PROMOTED_BRICKS, &params![version_id])?;
    tx.execute(sql::PUBLISH_KIT_VERSION, &params![version_id, now])?;
    tx.execute(sql::PUBLISH_KIT, &params![id, version_id, now])?;
    Ok(())
}

/// Eight upper-case hex digits that no other kit of the org has.
fn free_code(tx: &mut OrgTx<'_, '_>) -> Result<String> {
    for _ in 0..CODES_TRIED_MAX {
        let code = secret::hex(&secret::random_bytes::<4>()).to_ascii_uppercase();
        if tx.first(sql::KIT_OF_CODE, &params![code], |_| Ok(()))?.is_none() {
            return Ok(code);
        }
    }
    Err(base::Error::internal("no free kit code was found").into())
}
