//! Filtered pages of the audit trail, newest first, at a bounded cost.
//!
//! One filter, with or without a time range, is a range of an index. With several filters, the most selective one finds the entries and
//! the others filter them. A page examines a limited number of entries. If that does not fill it, the next page continues from there.
//! So a page may be short or empty without being the last. A family of event types is listed as its types, merged.

use base::limits::AUDIT_LOOK_ROWS_MAX;
use base::{Cursor, EventChoice, Page, PageRequest, Result, Timestamp};
use store::{OrgTx, params};

use super::entry::entry_from_row;
use super::read::{Audit, AuditEntry};
use super::sql;

/// Which entries to list. `None` matches everything.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// The event type (`call.refused`), or a family of them (`call.*`).
    pub event_type: Option<EventChoice>,
    /// The actor.
    pub actor: Option<String>,
    /// The entity.
    pub entity: Option<String>,
    /// The request.
    pub request: Option<String>,
    /// At or after this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
}

/// A filter with an index.
struct Driver<'a> {
    value: &'a str,
    /// The statement for a page.
    entries: &'static str,
    /// The statement for the time of the n-th entry.
    reach: &'static str,
}

impl AuditFilter {
    fn is_nothing(&self) -> bool {
        let AuditFilter { event_type, actor, entity, request, since, until } = self;
        let has_value = event_type.is_some() || actor.is_some() || entity.is_some() || request.is_some();
        !has_value && since.is_none() && until.is_none()
    }

    /// The event types to look for. `None` stands for all.
    fn event_types(&self) -> Vec<Option<&'static str>> {
        match self.event_type {
            Some(choice) => choice.kinds().into_iter().map(|kind| Some(kind.word())).collect(),
            None => vec![None],
        }
    }
}

impl Audit<'_> {
    /// At most `rows` entries after the sequence number `number`, oldest first.
    pub async fn after(&self, number: u64, rows: u32) -> Result<Vec<AuditEntry>> {
        let org = *self.access.org();
        let (after, through) = (i64::try_from(number).unwrap_or(i64::MAX), i64::MAX);
        let params = params![after, through, rows];
        self.access.rows.query(sql::AFTER, &params, |row| entry_from_row(org.to_string(), row)).await
    }

    /// A page of entries, newest first.
    pub async fn list(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>> {
        let (rows, org) = (&self.access.rows, *self.access.org());
        let (before, at): (i64, _) = match &page.after {
            // There is nothing older than a position before the first entry.
            Some(cursor) => (cursor.id.parse().unwrap_or(0), cursor.created_at),
            None => (i64::MAX, Timestamp::from_ms(i64::MAX)),
        };
        let limit = page.rows.saturating_add(1);
        let cursor_of = |entry: &AuditEntry| Cursor { created_at: entry.event.occurred_at, id: entry.sequence.to_string() };
        if filter.is_nothing() {
            let entries = rows.query(sql::ENTRIES, &params![before, limit], |row| entry_from_row(org.to_string(), row)).await?;
            return Ok(Page::from_rows(entries, page.rows, cursor_of));
        }
        let since = filter.since.unwrap_or(Timestamp::from_ms(i64::MIN));
        // The cursor's time is also an upper bound for the index.
        let until = filter.until.unwrap_or(Timestamp::from_ms(i64::MAX)).min(Timestamp::from_ms(at.ms().saturating_add(1)));
        let filter = filter.clone();
        // One snapshot, so that an entry written in the meantime cannot hide an older one from every page.
        let looks = rows.read(move |tx| {
            let look = |event_type| Look { filter: &filter, event_type, since, until, before, at, limit };
            filter.event_types().into_iter().map(|event_type| look(event_type).run(tx)).collect::<Result<Vec<_>>>()
        });
        let Found { entries, floor } = Found::merged(looks.await?);
        let found = Page::from_rows(entries, page.rows, cursor_of);
        // Everything down to the floor was examined, and nothing below it.
        let next = found.next.or(floor.map(|floor| Cursor { created_at: floor, id: "0".to_owned() }));
        Ok(Page { items: found.items, next })
    }
}

/// Entries, newest first, and how far back the search went if it did not reach the end.
struct Found {
    entries: Vec<AuditEntry>,
    floor: Option<Timestamp>,
}

impl Found {
    /// Merges the entries of several event types. All of them are complete down to the highest floor.
    fn merged(found: Vec<Found>) -> Found {
        let floor = found.iter().filter_map(|found| found.floor).max();
        let entries = found.into_iter().flat_map(|found| found.entries);
        let mut entries: Vec<_> = entries.filter(|entry| floor.is_none_or(|floor| entry.event.occurred_at >= floor)).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse((entry.event.occurred_at, entry.sequence)));
        Found { entries, floor }
    }
}

/// A search for one event type, or for all.
struct Look<'a> {
    filter: &'a AuditFilter,
    event_type: Option<&'static str>,
    since: Timestamp,
    until: Timestamp,
    before: i64,
    at: Timestamp,
    limit: u32,
}

impl Look<'_> {
    fn run(&self, tx: &mut OrgTx<'_, '_>) -> Result<Found> {
        let (statement, floor) = self.choose(tx)?;
        let AuditFilter { actor, entity, request, .. } = self.filter;
        let Look { event_type, since, until, before, at, limit, .. } = self;
        let since = floor.unwrap_or(*since);
        let params = params![*before, *event_type, actor, entity, request, since, *until, *limit, *at];
        let org = *tx.org();
        let entries = tx.query(statement, &params, |row| entry_from_row(org.to_string(), row))?;
        Ok(Found { entries, floor })
    }

    /// Chooses the statement, and how far back it may look. There is no limit if nothing is filtered out.
    fn choose(&self, tx: &mut OrgTx<'_, '_>) -> Result<(&'static str, Option<Timestamp>)> {
        let drivers = self.drivers();
        let mut best = match drivers.as_slice() {
            [] => return Ok((sql::ENTRIES_BY_TIME, None)),
            [only] => return Ok((only.entries, None)),
            [first, ..] => (first.entries, Some(Timestamp::from_ms(i64::MAX))),
        };
        for Driver { value, entries, reach } in drivers {
            let params = params![value, self.since, self.until, AUDIT_LOOK_ROWS_MAX];
            let floor = tx.first(reach, &params, |row| row.get::<Timestamp>("occurred_at"))?;
            if floor.is_none() {
                return Ok((entries, None));
            }
            if floor < best.1 {
                best = (entries, floor);
            }
        }
        Ok(best)
    }

    /// The filters that are set, the usually most selective first.
    fn drivers(&self) -> Vec<Driver<'_>> {
        let AuditFilter { request, actor, entity, .. } = self.filter;
        let drivers = [
            (request.as_deref(), sql::ENTRIES_BY_REQUEST, sql::REACH_BY_REQUEST),
            (actor.as_deref(), sql::ENTRIES_BY_ACTOR, sql::REACH_BY_ACTOR),
            (entity.as_deref(), sql::ENTRIES_BY_ENTITY, sql::REACH_BY_ENTITY),
            (self.event_type, sql::ENTRIES_BY_TYPE, sql::REACH_BY_TYPE),
        ];
        let set = drivers.into_iter().filter_map(|(value, entries, reach)| value.map(|value| (value, entries, reach)));
        set.map(|(value, entries, reach)| Driver { value, entries, reach }).collect()
    }
}
