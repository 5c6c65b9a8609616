//! Reading the trail: filtered pages, the whole of it for export, its verification and its checkpoint.

use std::borrow::Cow;

use audit::{Checkpoint, Report, Verifier};
use base::{Cursor, Error, Page, PageRequest, Result, Timestamp};
use store::{Row, params};

use super::event::Event;
use super::sql;
use crate::access::Access;
use crate::guard::Guard;

/// Entries read at once when the whole trail passes through.
const CHUNK_ROWS: u32 = 1_000;

/// An entry as it was read from its row.
pub type AuditEntry = audit::Entry<'static>;

/// Which entries are asked for; what is `None` does not matter.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// What happened (`call.refused`).
    pub event_type: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// To what.
    pub entity: Option<String>,
    /// In which request.
    pub request: Option<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// The statement whose index leaves least to look through.
    fn statement(&self) -> &'static str {
        match self {
            Self { request: Some(_), .. } => sql::ENTRIES_BY_REQUEST,
            Self { entity: Some(_), actor: None, .. } => sql::ENTRIES_BY_ENTITY,
            Self { actor: Some(_), .. } => sql::ENTRIES_BY_ACTOR,
            Self { event_type: Some(_), .. } => sql::ENTRIES_BY_TYPE,
            Self { since: Some(_), .. } | Self { until: Some(_), .. } => sql::ENTRIES_BY_TIME,
            _ => sql::ENTRIES,
        }
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
    /// A page of entries, newest first.
    pub async fn list(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>> {
        let (before, until): (i64, _) = match &page.after {
            // A place that no entry ever had has nothing older.
            Some(cursor) => (cursor.id.parse().unwrap_or(0), cursor.created_at),
            None => (i64::MAX, Timestamp::from_ms(i64::MAX)),
        };
        let rows = page.rows.saturating_add(1);
        let AuditFilter { event_type, actor, entity, request, .. } = filter;
        let (since, end) =
            (filter.since.unwrap_or(Timestamp::from_ms(i64::MIN)), filter.until.unwrap_or(Timestamp::from_ms(i64::MAX)));
        let statement = filter.statement();
        let entries = if statement == sql::ENTRIES_BY_TIME {
            let params = params![before, event_type, actor, entity, request, since, end, rows, until];
            self.access.rows.query(statement, &params, |row| self.entry(row)).await?
        } else {
            let params = params![before, event_type, actor, entity, request, since, end, rows];
            self.access.rows.query(statement, &params, |row| self.entry(row)).await?
        };
        let cursor_of = |entry: &AuditEntry| Cursor { created_at: entry.event.occurred_at, id: entry.sequence.to_string() };
        Ok(Page::from_rows(entries, page.rows, cursor_of))
    }

    /// The entries after `sequence` and up to `through`, oldest first, as many as are read at once.
    pub async fn after(&self, sequence: u64, through: u64) -> Result<Vec<AuditEntry>> {
        let (after, through) = (clamped(sequence), clamped(through));
        self.access.rows.query(sql::AFTER, &params![after, through, CHUNK_ROWS], |row| self.entry(row)).await
    }

    /// The number of the newest entry, 0 when there is none.
    pub async fn newest(&self) -> Result<u64> {
        let newest = self.access.rows.first(sql::LAST, &[], |row| row.get::<i64>(0)).await?;
        Ok(newest.unwrap_or(0).unsigned_abs())
    }

    /// Says on the record that the trail is read whole, and how far it reaches: that reading is part of it.
    pub async fn begin_export(&self) -> Result<u64> {
        let (ledger, by) = (self.access.ledger.clone(), self.access.by());
        let org = *self.access.org();
        let write = self.access.rows.write(move |tx| {
            ledger.write(tx, &by, Event::new("audit.exported", "audit", org))?;
            tx.first(sql::LAST, &[], |row| row.get::<i64>(0))
        });
        Ok(write.await?.unwrap_or(0).unsigned_abs())
    }

    /// Verifies what is there now, entry by entry.
    pub async fn verify(&self, guard: &Guard) -> Result<Report> {
        let _turn = guard.turn().await?;
        // The keys after the end: one that came in between is known then.
        let (mut sequence, through) = (0, self.newest().await?);
        let jwks = guard.audit_keys(self.access.org().as_str()).await?;
        let mut verifier = Verifier::new(&jwks, None, Some(self.access.org().as_str()));
        loop {
            let entries = self.after(sequence, through).await?;
            let Some(last) = entries.last().filter(|_| !verifier.is_broken()) else {
                return Ok(verifier.finish());
            };
            sequence = last.sequence;
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
        let (ledger, org) = (self.access.ledger.clone(), *self.access.org());
        let write = self.access.rows.write(move |tx| {
            let at = ledger.clock().now();
            ledger.with_active_key(tx, |key, size, head| Ok(Checkpoint::sign(org.as_str(), size, head, at, key)))
        });
        write.await
    }

    fn entry(&self, row: &Row<'_>) -> Result<AuditEntry> {
        let text = |index| row.get::<String>(index).map(Cow::Owned);
        let maybe = |index| Ok::<_, Error>(row.get::<Option<String>>(index)?.map(Cow::Owned));
        let event = audit::Event {
            id: text(1)?,
            workspace: Cow::Owned(self.access.org().to_string()),
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
}

fn clamped(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}
