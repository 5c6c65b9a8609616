//! Retention: removes the oldest entries. A signed entry announces the removal, and the remaining trail verifies by itself.
//!
//! The first transaction writes the announcement (`audit.pruned`), and later ones delete the announced entries. So a trail never begins
//! later than its announcements say, whatever happens in between. Announced entries that are still there are deleted the next time.
//! Entries that a subscriber has not read are kept. The newest entry is always kept, because the chain continues from it: it is the
//! announcement.

use std::sync::Arc;

use audit::{EntryHash, announce};
use base::limits::{RELAY_EVENTS_MAX, SWEEP_ROWS_MAX};
use base::{Error, EventKind, Kind, OrgId, Result, Timestamp};
use serde_json::Value;
use store::{Change, OrgStore, OrgTx, params};

use super::event::{By, Event};
use super::ledger::Ledger;
use super::read::Audit;
use super::sql;
use crate::change;
use crate::guard::Guard;
use crate::hooks;

/// How many entries to examine at once for the first one that is young enough to stay.
const LOOK_ROWS: i64 = 10_000;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The result of pruning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The number of removed entries.
    pub removed: u64,
    /// The sequence number of the first remaining entry.
    pub first: Option<u64>,
    /// A subscriber (a webhook's id) that has not read all entries to remove, so that some were kept.
    pub held_by: Option<String>,
}

impl Audit<'_> {
    /// Removes entries older than `before` that all subscribers have read. Only an owner's login and the instance admin may do this.
    /// Entries of the last `keep_days_min` days are kept.
    pub async fn prune(&self, before: Timestamp, keep_days_min: u32) -> Result<Pruned> {
        self.access.require_owner()?;
        let now = self.access.clock.now();
        if before > now {
            return Err(Error::new(Kind::InvalidParams, "`before` must be in the past"));
        }
        let latest = now.plus_ms(-i64::from(keep_days_min) * DAY_MS);
        if before > latest {
            let message = format!(
                "entries of the last {keep_days_min} days are kept (--audit-keep-days-min); `before` may be at most {}",
                latest.rfc3339()
            );
            return Err(Error::new(Kind::InvalidParams, message));
        }
        prune(&self.access.ledger, &self.access.change(), &self.access.by(), before).await
    }
}

impl Guard {
    /// Prunes for the operator's retention setting, in any org. Returns the number of removed entries.
    pub(crate) async fn prune_org(&self, org: &OrgId, before: Timestamp) -> Result<u64> {
        Ok(prune(&self.ledger, &self.own_change(org), &By::system(), before).await?.removed)
    }
}

async fn prune(ledger: &Arc<Ledger>, change: &Change, by: &By, before: Timestamp) -> Result<Pruned> {
    let rows = change.as_ref();
    let old = old_through(rows, before).await?;
    let mut pruned = Pruned::default();
    // Checked first, because a write costs a commit even if it finds nothing, and most orgs have nothing to remove.
    if old > 0 || rows.read(announced).await? >= rows.read(first).await?.unwrap_or(i64::MAX) {
        // Tasks and costs can be brought up to date here. Webhooks depend on their receivers.
        for _ in 0..=old / i64::from(RELAY_EVENTS_MAX) {
            if hooks::advance_figures(&change::upkeep(rows), ledger.clock().now()).await? == 0 {
                break;
            }
        }
        let (ledger, by) = (Arc::clone(ledger), by.clone());
        pruned.held_by = change.write(move |tx| announce(&ledger, tx, &by, old, before)).await?;
        // Announced entries are deleted now or after a crash, without another request.
        let upkeep = change::upkeep(rows);
        loop {
            let removed = upkeep.write(remove_some).await?;
            pruned.removed += removed;
            if removed == 0 {
                break;
            }
        }
    }
    pruned.first = rows.read(first).await?.map(i64::unsigned_abs);
    Ok(pruned)
}

/// The sequence number of the last entry such that it and all before it are older than `before`, or 0. Times may not increase with the
/// sequence numbers, so a young entry keeps all later ones.
async fn old_through(rows: &OrgStore, before: Timestamp) -> Result<i64> {
    let Some(first) = rows.read(first).await? else {
        return Ok(0);
    };
    let mut seen = first - 1;
    loop {
        let until = seen.saturating_add(LOOK_ROWS);
        let look = move |tx: &mut OrgTx<'_, '_>| {
            let young = tx.first(sql::FIRST_YOUNG, &params![seen, until, before], |row| row.get::<i64>("sequence"))?;
            let newest = tx.first(sql::LAST, &[], |row| row.get::<i64>("sequence"))?.unwrap_or(0);
            Ok((young, newest))
        };
        match rows.read(look).await? {
            (Some(young), _) => return Ok(if young == first { 0 } else { young - 1 }),
            (None, newest) if until >= newest => return Ok(newest),
            (None, _) => seen = until,
        }
    }
}

/// Announces which entries will be removed, unless that was done before. Returns a subscriber that has not read all of them.
fn announce(ledger: &Ledger, tx: &mut OrgTx<'_, '_>, by: &By, old: i64, before: Timestamp) -> Result<Option<String>> {
    let Some(first) = first(tx)? else {
        return Ok(None);
    };
    let slowest = tx.first(sql::SLOWEST, &params![hooks::FIGURES], |row| {
        Ok((row.get::<String>("subscriber")?, row.get::<i64>("sequence")?))
    })?;
    let (subscriber, read) = slowest.unwrap_or_else(|| (hooks::FIGURES.to_owned(), 0));
    let through = old.min(read);
    if through >= first && through > announced(tx)? {
        let head = tx.first(sql::HASH_AT, &params![through], |row| row.get::<String>("entry_hash"))?;
        let head = head.as_deref().and_then(EntryHash::parse).ok_or_else(|| Error::internal("the entry has no hash"))?;
        let org = *tx.org();
        let event = Event::new(EventKind::AuditPruned, "audit", org)
            .with_all(announce::pruned(through.unsigned_abs(), &head))
            .with("before", before.rfc3339());
        ledger.write(tx, by, event)?;
    }
    Ok(Some(subscriber).filter(|_| read < old))
}

/// Deletes some of the announced entries. Everyone has read them, and the announcement is newer than all of them.
fn remove_some(tx: &mut OrgTx<'_, '_>) -> Result<u64> {
    let Some(first) = first(tx)? else {
        return Ok(0);
    };
    let through = announced(tx)?.min(first.saturating_add(i64::from(SWEEP_ROWS_MAX)) - 1);
    if through >= first { tx.execute(sql::DELETE_THROUGH, &params![through]) } else { Ok(0) }
}

/// The sequence number of the first stored entry.
fn first(tx: &mut OrgTx<'_, '_>) -> Result<Option<i64>> {
    tx.first(sql::FIRST, &[], |row| row.get("sequence"))
}

/// The last announced sequence number, or 0 without an announcement.
fn announced(tx: &mut OrgTx<'_, '_>) -> Result<i64> {
    let payload = tx.first(sql::NEWEST_PAYLOAD_OF, &params![announce::PRUNED], |row| row.get::<String>("payload"))?;
    let Some(payload) = payload else {
        return Ok(0);
    };
    let said: Value = serde_json::from_str(&payload).map_err(Error::internal)?;
    Ok(said.get("throughSequence").and_then(Value::as_i64).unwrap_or(0))
}
