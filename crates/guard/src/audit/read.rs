//! Reading the trail whole: for an export, for its verification, and where it ends for a checkpoint.

use std::borrow::Cow;
use std::sync::Arc;

use audit::{Checkpoint, Report, Verifier};
use base::{Error, Kind, OrgId, Result};
use store::{OrgStore, OrgTx, Row, params};

use super::event::Event;
use super::ledger::Ledger;
use super::sql;
use crate::access::Access;
use crate::guard::Guard;

/// Entries read at once when the whole trail passes through.
const CHUNK_ROWS: u32 = 1_000;

/// An entry as it was read from its row.
pub type AuditEntry = audit::Entry<'static>;

/// What of a trail is still to be read, from its first entry to its last at one moment. On that stretch stands everything that
/// vouches for its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    next: u64,
    last: u64,
}

impl Extent {
    fn read(tx: &mut OrgTx<'_, '_>) -> Result<Self> {
        let first = tx.first(sql::FIRST, &[], |row| row.get::<i64>(0))?.unwrap_or(1);
        let last = tx.first(sql::LAST, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
        Ok(Self { next: first.unsigned_abs(), last: last.unsigned_abs() })
    }
}

/// An org's trail, for a management call.
pub struct Audit<'a> {
    pub(super) access: &'a Access,
}

impl Guard {
    /// The trail of the org that `access` was let into. It tells of every project, so a key for some does not read it.
    pub fn audit<'a>(&self, access: &'a Access) -> Result<Audit<'a>> {
        access.require_reach(None)?;
        Ok(Audit { access })
    }
}

impl Audit<'_> {
    /// The next entries of what is left of `extent`, oldest first, which is then without them. None are left when this is empty.
    pub async fn next(&self, extent: &mut Extent) -> Result<Vec<AuditEntry>> {
        let Extent { next, last } = *extent;
        if next > last {
            return Ok(Vec::new());
        }
        let (after, through) = (clamped(next.saturating_sub(1)), clamped(last));
        let org = *self.access.org();
        let chunk = params![after, through, CHUNK_ROWS];
        let entries = self.access.rows.query(sql::AFTER, &chunk, |row| entry_from_row(&org, row)).await?;
        // A trail with a hole that is nobody's fault looks like one that somebody has made.
        if entries.first().is_none_or(|entry| entry.sequence != next) && self.access.rows.read(Extent::read).await?.next > next {
            return Err(Error::new(Kind::Unavailable, "entries were removed meanwhile, as retention asks for: begin again"));
        }
        extent.next = entries.last().map_or(last, |entry| entry.sequence) + 1;
        Ok(entries)
    }

    /// Says on the record that the trail is read whole, which is part of it, and what that is.
    pub async fn begin_export(&self) -> Result<Extent> {
        let (ledger, by) = (self.access.ledger.clone(), self.access.by());
        let org = *self.access.org();
        let write = self.access.write(move |tx| {
            ledger.write(tx, &by, Event::new("audit.exported", "audit", org))?;
            Extent::read(tx)
        });
        write.await
    }

    /// Verifies what is there now, entry by entry.
    pub async fn verify(&self, guard: &Guard) -> Result<Report> {
        let _turn = guard.turn().await?;
        // The keys after the end: one that came in between is known then.
        let mut extent = self.access.rows.read(Extent::read).await?;
        let jwks = guard.audit_keys(self.access.org().as_str()).await?;
        let mut verifier = Verifier::new(&jwks, None, Some(self.access.org().as_str()));
        loop {
            let entries = self.next(&mut extent).await?;
            if entries.is_empty() || verifier.is_broken() {
                return Ok(verifier.finish());
            }
            // Signatures take the processor for a while: not on a thread that serves others.
            let work = move || {
                entries.iter().for_each(|entry| verifier.push(entry));
                verifier
            };
            verifier = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
        }
    }

    /// A signed statement of how long the trail is and where it ends, to be kept elsewhere.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        checkpoint(&self.access.ledger, &self.access.rows).await
    }
}

impl Guard {
    /// How long an org's trail is: the number of its newest entry.
    pub async fn trail_size(&self, org: &OrgId) -> Result<u64> {
        let newest = self.rows_of(org).first(sql::LAST, &[], |row| row.get::<i64>(0)).await?;
        Ok(newest.unwrap_or(0).unsigned_abs())
    }

    /// A checkpoint that the server takes by itself.
    pub async fn checkpoint(&self, org: &OrgId) -> Result<Checkpoint> {
        checkpoint(&self.ledger, &self.rows_of(org)).await
    }
}

async fn checkpoint(ledger: &Arc<Ledger>, rows: &OrgStore) -> Result<Checkpoint> {
    let (ledger, org) = (Arc::clone(ledger), *rows.org());
    let write = rows.write(move |tx| {
        let at = ledger.clock().now();
        ledger.with_active_key(tx, |key, size, head| Ok(Checkpoint::sign(org.as_str(), size, head, at, key)))
    });
    write.await
}

/// An entry of `org`'s trail.
pub(super) fn entry_from_row(org: &OrgId, row: &Row<'_>) -> Result<AuditEntry> {
    let text = |index| row.get::<String>(index).map(Cow::Owned);
    let maybe = |index| Ok::<_, Error>(row.get::<Option<String>>(index)?.map(Cow::Owned));
    let event = audit::Event {
        id: text(1)?,
        workspace: Cow::Owned(org.to_string()),
        occurred_at: row.get(2)?,
        event_type: text(3)?,
        actor_type: text(4)?,
        actor_id: maybe(5)?,
        entity_type: maybe(6)?,
        entity_id: maybe(7)?,
        request_id: maybe(8)?,
        payload: text(9)?,
    };
    Ok(AuditEntry {
        event,
        sequence: row.get::<i64>(0)?.unsigned_abs(),
        prev_hash: text(10)?,
        entry_hash: text(11)?,
        signature: text(12)?,
        kid: text(13)?,
    })
}

fn clamped(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
