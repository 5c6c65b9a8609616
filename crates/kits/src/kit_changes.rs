//! What changes kits. Agents may only draft; the rest is for people, which the callers see to.

use base::{BrickId, BrickVersionId, Error, Kind, KitId, KitVersionId, Result, Timestamp, secret};
use store::{OrgTx, params};

use crate::input::{brick_ids_at, kit_id, no_such_brick, unknown_kit};
use crate::kit::{Head, head, pins};
use crate::readiness::{Pin, PinnedBrick, Readiness};
use crate::{NewKit, NewKitVersion, Status, VersionStatus, Workshop, sql};

/// How often a kit's code is drawn again. Even with a million kits one draw in four thousand is taken.
const CODES_TRIED_MAX: u32 = 16;

/// A kit that was drafted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedKit {
    /// Its id.
    pub kit_id: KitId,
    /// The id of its first version.
    pub kit_version_id: KitVersionId,
    /// How many bricks it pins.
    pub brick_count: usize,
}

/// A kit version that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedKit {
    /// Which.
    pub kit_version_id: KitVersionId,
    /// The drafts that were published with it.
    pub promoted: Vec<(BrickId, BrickVersionId)>,
}

impl Workshop {
    /// Drafts a kit from bricks that exist: all of it, or nothing.
    pub async fn create_draft_kit(&self, kit: NewKit, created_by: &str) -> Result<CreatedKit> {
        let brick_ids = kit.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.rows.write(move |tx| {
            // The time and the ids are taken in the order in which an org's writes run, which is the order lists show.
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

    /// Drafts a further version of a kit, pinning each brick's current version anew.
    pub async fn new_kit_version(&self, id: &str, version: NewKitVersion, created_by: &str) -> Result<KitVersionId> {
        let id = kit_id(id)?;
        let brick_ids = version.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.rows.write(move |tx| {
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

    /// Publishes a kit's newest version, and with it the drafts it pins. What stands in the way is in the error's
    /// `blockers`.
    pub async fn publish_kit(&self, id: &str) -> Result<PublishedKit> {
        let id = kit_id(id)?;
        let clock = self.clock.clone();
        let write = self.rows.write(move |tx| {
            let head = living_head(tx, &id)?;
            if head.version_status == VersionStatus::Published {
                return Err(Error::new(Kind::Conflict, "the newest version of this kit is published already"));
            }
            let pins = pins(tx, &head.version_id)?;
            refuse_blocked(&Readiness::of(head.version_id, &pins))?;
            publish(tx, &id, &head.version_id, clock.now())?;
            let promoted: Vec<_> = pins.into_iter().filter(promotes).map(|pin| (pin.brick_id, pin.brick_version_id)).collect();
            promoted.iter().for_each(|(brick, _)| tx.tell("brick.published", "brick", brick));
            Ok(PublishedKit { kit_version_id: head.version_id, promoted })
        });
        write.await
    }

    /// Retires a kit for good; says whether this call did it.
    pub async fn deprecate_kit(&self, id: &str) -> Result<bool> {
        let id = kit_id(id)?;
        let clock = self.clock.clone();
        let write = self.rows.write(move |tx| {
            let touched = tx.execute(sql::DEPRECATE_KIT, &params![id, clock.now()])?;
            if touched == 0 && tx.first(sql::KIT_EXISTS, &params![id], |_| Ok(()))?.is_none() {
                return Err(unknown_kit());
            }
            Ok(touched > 0)
        });
        write.await
    }
}

/// The head of a kit that may still change.
fn living_head(tx: &mut OrgTx<'_, '_>, id: &KitId) -> Result<Head> {
    let head = head(tx, id)?.ok_or_else(unknown_kit)?;
    if head.status == Status::Deprecated {
        return Err(Error::new(Kind::Conflict, "this kit is deprecated"));
    }
    Ok(head)
}

/// Pins the current version of each brick, or names the first that the org does not have.
fn pin(tx: &mut OrgTx<'_, '_>, version_id: &KitVersionId, brick_ids: &[BrickId]) -> Result<()> {
    for ((position, brick_id), column) in brick_ids.iter().enumerate().zip(0_i64..) {
        if tx.execute(sql::PIN_BRICK, &params![version_id, column, brick_id])? == 0 {
            return Err(no_such_brick(&brick_ids_at(position)));
        }
    }
    Ok(())
}

fn refuse_blocked(readiness: &Readiness) -> Result<()> {
    if readiness.publishable() {
        return Ok(());
    }
    let blockers: Vec<_> = readiness.blockers.iter().map(|blocker| blocker.json()).collect();
    Err(Error::new(Kind::Conflict, "this kit cannot be published: see its blockers").with("blockers", blockers))
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
    Err(Error::internal("no free kit code was found"))
}
