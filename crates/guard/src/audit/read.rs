//! Reads the whole trail: for an export, for verification, and for a checkpoint.

use std::sync::Arc;

use audit::{Checkpoint, Report, Verifier};
use base::{Error, EventKind, Kind, OrgId, Result};
use store::{OrgStore, OrgTx, params};

use super::entry::entry_from_row;
use super::event::Event;
use super::ledger::Ledger;
use super::sql;
use crate::access::Access;
use crate::change;
use crate::guard::Guard;

/// Entries per read of the whole trail.
const CHUNK_ROWS: u32 = 1_000;

/// An entry read from its row.
pub type AuditEntry = audit::Entry<'static>;

/// The part of a trail that is still to be read, up to its last entry at one moment. It includes all entries needed to verify its
/// start.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    next: u64,
    last: u64,
}

impl Extent {
    fn read(tx: &mut OrgTx<'_, '_>) -> Result<Self> {
        let first = tx.first(sql::FIRST, &[], |row| row.get::<i64>("sequence"))?.unwrap_or(1);
        let last = tx.first(sql::LAST, &[], |row| row.get::<i64>("sequence"))?.unwrap_or(0);
        Ok(Self { next: first.unsigned_abs(), last: last.unsigned_abs() })
    }
}

/// An org's trail, for a management call.
pub struct Audit<'a> {
    pub(super) access: &'a Access,
}

impl Guard {
    /// The trail of the caller's org. It covers every project, so a key limited to some projects may not read it.
    pub fn audit<'a>(&self, access: &'a Access) -> Result<Audit<'a>> {
        access.require_reach(None)?;
        Ok(Audit { access })
    }
}

impl Audit<'_> {
    /// Returns the next entries of `extent`, oldest first, and advances it. Empty at the end.
    pub async fn next(&self, extent: &mut Extent) -> Result<Vec<AuditEntry>> {
        let Extent { next, last } = *extent;
        if next > last {
            return Ok(Vec::new());
        }
        let (after, through) = (clamped(next.saturating_sub(1)), clamped(last));
        let org = *self.access.org();
        let chunk = params![after, through, CHUNK_ROWS];
        let entries = self.access.rows.query(sql::AFTER, &chunk, |row| entry_from_row(org.to_string(), row)).await?;
        // The gap is legitimate, but it would look like tampering.
        if entries.first().is_none_or(|entry| entry.sequence != next) && self.access.rows.read(Extent::read).await?.next > next {
            return Err(Error::new(Kind::Unavailable, "entries were removed by retention in the meantime; start again"));
        }
        extent.next = entries.last().map_or(last, |entry| entry.sequence) + 1;
        Ok(entries)
    }

    /// Audits that the whole trail is read, and returns its extent, which includes that entry.
    pub async fn begin_export(&self) -> Result<Extent> {
        let (ledger, by) = (self.access.ledger.clone(), self.access.by());
        let org = *self.access.org();
        let write = self.access.write(move |tx| {
            ledger.write(tx, &by, Event::new(EventKind::AuditExported, "audit", org))?;
            Extent::read(tx)
        });
        write.await
    }

    /// Verifies the stored trail, entry by entry.
    pub async fn verify(&self, guard: &Guard) -> Result<Report> {
        let turn = guard.turn().await?;
        // The keys are read after the extent, so that they include every key used in it.
        let mut extent = self.access.rows.read(Extent::read).await?;
        let jwks = guard.audit_keys(self.access.org().as_str()).await?;
        let mut verifier = Verifier::new(&jwks, None, Some(self.access.org().as_str()));
        loop {
            let entries = self.next(&mut extent).await?;
            if entries.is_empty() || verifier.is_broken() {
                return Ok(verifier.finish());
            }
            // Verification keeps a processor busy, so it does not run on a runtime thread.
            let turn = turn.clone();
            let work = move || {
                let _turn = turn;
                entries.iter().for_each(|entry| verifier.push(entry));
                verifier
            };
            verifier = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
        }
    }

    /// A signed statement of the trail's length and head, to be stored elsewhere.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        checkpoint(&self.access.ledger, &self.access.rows).await
    }
}

impl Guard {
    /// The length of an org's trail: the sequence number of its newest entry.
    pub async fn trail_size(&self, org: &OrgId) -> Result<u64> {
        let newest = self.rows_of(org).first(sql::LAST, &[], |row| row.get::<i64>("sequence")).await?;
        Ok(newest.unwrap_or(0).unsigned_abs())
    }

    /// A checkpoint for the server's own use.
    pub async fn checkpoint(&self, org: &OrgId) -> Result<Checkpoint> {
        checkpoint(&self.ledger, &self.rows_of(org)).await
    }
}

async fn checkpoint(ledger: &Arc<Ledger>, rows: &OrgStore) -> Result<Checkpoint> {
    let (ledger, org) = (Arc::clone(ledger), *rows.org());
    // The org may not have a key yet.
    let change = change::upkeep(rows);
    let write = change.write(move |tx| {
        let at = ledger.clock().now();
        ledger.with_active_key(tx, |key, size, head| Ok(Checkpoint::sign(org.as_str(), size, head, at, key)))
    });
    write.await
}

fn clamped(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
