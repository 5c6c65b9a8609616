//! Retention: the oldest entries are removed, and the trail says so itself, signed. What is left verifies on its own.
//!
//! The first transaction writes the announcement (`audit.pruned`) together with the first deletion, later ones only delete what
//! was announced. Whatever happens in between, a trail that begins later than it says nowhere is never left behind, and what was
//! announced and not yet removed goes the next time. Nothing is removed that somebody who follows the trail has not read, and
//! never the newest entry, on which the chain hangs: that is the announcement.

use std::sync::Arc;

use audit::{EntryHash, announce};
use base::limits::{RELAY_EVENTS_MAX, SWEEP_ROWS_MAX};
use base::{Error, OrgId, Result, Timestamp};
use serde_json::Value;
use store::{OrgStore, OrgTx, params};

use super::event::{By, Event};
use super::ledger::Ledger;
use super::read::Audit;
use super::sql;
use crate::access::Access;
use crate::guard::Guard;
use crate::hooks;
use crate::standing::Standing;

/// How much of the trail is looked at at once, for the first entry that is young enough to stay.
const LOOK_ROWS: i64 = 10_000;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// What pruning came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many entries are gone.
    pub removed: u64,
    /// The number of the first entry that is left.
    pub first: Option<u64>,
    /// A subscriber (a webhook's id) that has not read everything that was to go, which therefore stayed.
    pub held_by: Option<String>,
}

impl Audit<'_> {
    /// Removes the entries from before `before`, as far as everybody has read them. Only an owner who is logged in and the
    /// instance admin may do so, and entries of the last `keep_days_min` days stay.
    pub async fn prune(&self, before: Timestamp, keep_days_min: u32) -> Result<Pruned> {
        self.access.require_owner()?;
        let now = self.access.clock.now();
        if before > now {
            return Err(Error::invalid("before", "this time is yet to come: name one that has passed"));
        }
        let latest = now.plus_ms(-i64::from(keep_days_min) * DAY_MS);
        if before > latest {
            let message = format!(
                "entries of the last {keep_days_min} days are kept (--audit-keep-days-min): name a time up to {}",
                latest.rfc3339()
            );
            return Err(Error::invalid("before", message));
        }
        let Access { ledger, rows, standing, .. } = self.access;
        prune(ledger, rows, (standing, self.access.by()), before).await
    }
}

impl Guard {
    /// The same for the operator's own rule, which holds for every org. Says how many entries are gone.
    pub(crate) async fn prune_org(&self, org: &OrgId, before: Timestamp) -> Result<u64> {
        Ok(prune(&self.ledger, &self.rows_of(org), (&Standing::Server, By::system()), before).await?.removed)
    }
}

async fn prune(ledger: &Arc<Ledger>, rows: &OrgStore, (standing, by): (&Standing, By), before: Timestamp) -> Result<Pruned> {
    let old = old_through(rows, before).await?;
    let mut pruned = Pruned::default();
    // Asked first, because a write costs a commit even when it finds nothing, and most orgs have nothing.
    if old > 0 || rows.read(announced).await? >= rows.read(first).await?.unwrap_or(i64::MAX) {
        // Tasks and costs can catch up at once, as far as it matters here; webhooks wait for others.
        for _ in 0..=old / i64::from(RELAY_EVENTS_MAX) {
            if hooks::advance_figures(rows, ledger.clock().now()).await? == 0 {
                break;
            }
        }
        loop {
            let (ledger, by, standing) = (Arc::clone(ledger), by.clone(), standing.clone());
            let write = rows.write(move |tx| {
                standing.check(tx, ledger.clock().now())?;
                step(&ledger, tx, &by, old, before)
            });
            let (removed, held_by) = write.await?;
            pruned.removed += removed;
            pruned.held_by = pruned.held_by.or(held_by);
            if removed == 0 {
                break;
            }
        }
    }
    pruned.first = rows.read(first).await?.map(i64::unsigned_abs);
    Ok(pruned)
}

/// The number of the last entry before which, itself included, all are older than `before`; 0 when there is none. Times need not
/// rise with the numbers, and one that is young keeps all that come after it.
async fn old_through(rows: &OrgStore, before: Timestamp) -> Result<i64> {
    let Some(first) = rows.read(first).await? else {
        return Ok(0);
    };
    let mut seen = first - 1;
    loop {
        let until = seen.saturating_add(LOOK_ROWS);
        let look = move |tx: &mut OrgTx<'_, '_>| {
            let young = tx.first(sql::FIRST_YOUNG, &params![seen, until, before], |row| row.get::<i64>(0))?;
            let newest = tx.first(sql::LAST, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
            Ok((young, newest))
        };
        match rows.read(look).await? {
            (Some(young), _) => return Ok(if young == first { 0 } else { young - 1 }),
            (None, newest) if until >= newest => return Ok(newest),
            (None, _) => seen = until,
        }
    }
}

/// One transaction: announces what may go, unless that was said, and removes some of what was announced.
fn step(ledger: &Ledger, tx: &mut OrgTx<'_, '_>, by: &By, old: i64, before: Timestamp) -> Result<(u64, Option<String>)> {
    let Some(first) = first(tx)? else {
        return Ok((0, None));
    };
    let slowest = tx.first(sql::SLOWEST, &params![hooks::FIGURES], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)))?;
    let (subscriber, read) = slowest.unwrap_or_else(|| (hooks::FIGURES.to_owned(), 0));
    let (through, announced) = (old.min(read), announced(tx)?);
    if through >= first && through > announced {
        let head = tx.first(sql::HASH_AT, &params![through], |row| row.get::<String>(0))?;
        let head = head.as_deref().and_then(EntryHash::parse).ok_or_else(|| Error::internal("an entry has no hash"))?;
        let org = *tx.org();
        let event = Event::new(announce::PRUNED, "audit", org)
            .with_all(announce::pruned(through.unsigned_abs(), &head))
            .with("before", before.rfc3339());
        ledger.write(tx, by, event)?;
    }
    // What was announced has been read, and the announcement came after it.
    let through = through.max(announced).min(first.saturating_add(i64::from(SWEEP_ROWS_MAX)) - 1);
    let removed = if through >= first { tx.execute(sql::DELETE_THROUGH, &params![through])? } else { 0 };
    Ok((removed, Some(subscriber).filter(|_| read < old)))
}

/// The number of the first entry that is there.
fn first(tx: &mut OrgTx<'_, '_>) -> Result<Option<i64>> {
    tx.first(sql::FIRST, &[], |row| row.get(0))
}

/// Up to where entries were last said to be removed; 0 when none ever were.
fn announced(tx: &mut OrgTx<'_, '_>) -> Result<i64> {
    let payload = tx.first(sql::NEWEST_PAYLOAD_OF, &params![announce::PRUNED], |row| row.get::<String>(0))?;
    let Some(payload) = payload else {
        return Ok(0);
    };
    let said: Value = serde_json::from_str(&payload).map_err(Error::internal)?;
    Ok(said.get("throughSequence").and_then(Value::as_i64).unwrap_or(0))
}
