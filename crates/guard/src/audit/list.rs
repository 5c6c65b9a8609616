//! Filtered pages of the trail, newest first, at a bounded price.
//!
//! One filter, with or without a stretch of time, is a range of an index. Of several filters the one that leaves least to look
//! through finds the entries and the others sort them out; a page looks through so many entries and no more, and where that did
//! not fill it, the next page goes on from there. A page may therefore be short, or empty, and not be the last.

use base::{Cursor, Page, PageRequest, Result, Timestamp};
use store::{OrgStore, params};

use super::read::{Audit, AuditEntry, entry_from_row};
use super::sql;

/// Entries that a page with several filters looks through at most.
const LOOKED_AT_MAX: u32 = 5_000;

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

/// A filter that has an index.
struct Driver<'a> {
    value: &'a str,
    /// The page that it finds.
    entries: &'static str,
    /// How far back so many of its entries reach.
    reach: &'static str,
}

impl AuditFilter {
    /// The filters that are set, those that usually leave least first.
    fn drivers(&self) -> Vec<Driver<'_>> {
        let drivers = [
            (&self.request, sql::ENTRIES_BY_REQUEST, sql::REACH_BY_REQUEST),
            (&self.actor, sql::ENTRIES_BY_ACTOR, sql::REACH_BY_ACTOR),
            (&self.entity, sql::ENTRIES_BY_ENTITY, sql::REACH_BY_ENTITY),
            (&self.event_type, sql::ENTRIES_BY_TYPE, sql::REACH_BY_TYPE),
        ];
        let set = drivers.into_iter().filter_map(|(value, entries, reach)| value.as_deref().map(|value| (value, entries, reach)));
        set.map(|(value, entries, reach)| Driver { value, entries, reach }).collect()
    }

    fn is_nothing(&self) -> bool {
        self.drivers().is_empty() && self.since.is_none() && self.until.is_none()
    }
}

impl Audit<'_> {
    /// At most `rows` entries with a higher number than `number`, oldest first.
    pub async fn after(&self, number: u64, rows: u32) -> Result<Vec<AuditEntry>> {
        let org = *self.access.org();
        let (after, through) = (i64::try_from(number).unwrap_or(i64::MAX), i64::MAX);
        let params = params![after, through, rows];
        self.access.rows.query(sql::AFTER, &params, |row| entry_from_row(&org, row)).await
    }

    /// A page of entries, newest first.
    pub async fn list(&self, filter: &AuditFilter, page: &PageRequest) -> Result<Page<AuditEntry>> {
        let (rows, org) = (&self.access.rows, *self.access.org());
        let (before, at): (i64, _) = match &page.after {
            // A place that no entry ever had has nothing older.
            Some(cursor) => (cursor.id.parse().unwrap_or(0), cursor.created_at),
            None => (i64::MAX, Timestamp::from_ms(i64::MAX)),
        };
        let limit = page.rows.saturating_add(1);
        let cursor_of = |entry: &AuditEntry| Cursor { created_at: entry.event.occurred_at, id: entry.sequence.to_string() };
        if filter.is_nothing() {
            let entries = rows.query(sql::ENTRIES, &params![before, limit], |row| entry_from_row(&org, row)).await?;
            return Ok(Page::from_rows(entries, page.rows, cursor_of));
        }
        let since = filter.since.unwrap_or(Timestamp::from_ms(i64::MIN));
        // Where the cursor stands is an end too, which an index can be entered at.
        let until = filter.until.unwrap_or(Timestamp::from_ms(i64::MAX)).min(Timestamp::from_ms(at.ms().saturating_add(1)));
        let (statement, floor) = choose(rows, filter, since, until).await?;
        let AuditFilter { event_type, actor, entity, request, .. } = filter;
        let since = floor.unwrap_or(since);
        let params = params![before, event_type, actor, entity, request, since, until, limit, at];
        let entries = rows.query(statement, &params, |row| entry_from_row(&org, row)).await?;
        let found = Page::from_rows(entries, page.rows, cursor_of);
        // Everything down to the floor was looked at, and nothing below it.
        let next = found.next.or(floor.map(|floor| Cursor { created_at: floor, id: "0".to_owned() }));
        Ok(Page { items: found.items, next })
    }
}

/// The statement that finds the entries, and how far back it may look: as far as it likes, where nothing is sorted out.
async fn choose(
    rows: &OrgStore,
    filter: &AuditFilter,
    since: Timestamp,
    until: Timestamp,
) -> Result<(&'static str, Option<Timestamp>)> {
    let drivers = filter.drivers();
    let mut best = match drivers.as_slice() {
        [] => return Ok((sql::ENTRIES_BY_TIME, None)),
        [only] => return Ok((only.entries, None)),
        [first, ..] => (first.entries, Some(Timestamp::from_ms(i64::MAX))),
    };
    for Driver { value, entries, reach } in drivers {
        let params = params![value, since, until, LOOKED_AT_MAX];
        let floor = rows.first(reach, &params, |row| row.get::<Timestamp>(0)).await?;
        if floor.is_none() {
            return Ok((entries, None));
        }
        if floor < best.1 {
            best = (entries, floor);
        }
    }
    Ok(best)
}
