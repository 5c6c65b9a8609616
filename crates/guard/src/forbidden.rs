//! Audits refusals with 403, at a door or at the management API. The first few of a credential in a minute get an entry each. The rest
//! of that minute gets one entry with their number, so that refusals cannot fill a trail.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use base::limits::{FORBIDDEN_A_MINUTE, LIMITER_CACHE_MAX};
use base::{EventKind, OrgId, RequestId, Result, Timestamp};
use store::OrgStore;

use crate::access::Access;
use crate::audit::{By, Event};
use crate::guard::Guard;

const MINUTE_MS: i64 = 60_000;

/// The caller of a management call, and the org whose trail records it. It gives no access to the org's rows.
#[derive(Clone)]
pub struct Requester {
    pub(crate) rows: OrgStore,
    pub(crate) by: By,
}

impl fmt::Debug for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Requester").field(&self.by).finish()
    }
}

impl Access {
    /// The caller of this access.
    pub fn requester(&self) -> Requester {
        Requester { rows: self.rows.clone(), by: self.by() }
    }
}

/// Recent refusals by credential.
#[derive(Default)]
pub(crate) struct Forbidden(Mutex<HashMap<(OrgId, String), Window>>);

/// The current minute of one credential in one org.
struct Window {
    since: Timestamp,
    recorded: u32,
    counted: u64,
    actor_type: &'static str,
}

/// Refusals that were counted instead of audited.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    org: OrgId,
    actor_type: &'static str,
    actor_id: String,
    since: Timestamp,
    count: u64,
}

impl Forbidden {
    /// Whether this refusal gets its own entry. Otherwise it is counted.
    fn is_recorded(&self, org: &OrgId, by: &By, now: Timestamp) -> bool {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (*org, by.actor_id.clone());
        if windows.len() >= LIMITER_CACHE_MAX && !windows.contains_key(&name) {
            windows.retain(|_, window| window.counted > 0 || window.is_of(now));
            if windows.len() >= LIMITER_CACHE_MAX {
                return false;
            }
        }
        let fresh = Window { since: now, recorded: 0, counted: 0, actor_type: by.actor_type };
        let window = windows.entry(name).or_insert(fresh);
        // A minute with an unwritten count is extended, so that the count is not lost.
        if !window.is_of(now) && window.counted == 0 {
            (window.since, window.recorded) = (now, 0);
        }
        if window.recorded < FORBIDDEN_A_MINUTE {
            window.recorded += 1;
            return true;
        }
        window.counted += 1;
        false
    }

    /// Takes the count of one credential's last minute, if that is over.
    fn take_last(&self, org: &OrgId, by: &By, now: Timestamp) -> Option<Counted> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (*org, by.actor_id.clone());
        let window = windows.get(&name).filter(|window| !window.is_of(now) && window.counted > 0)?;
        let (actor_type, since, count) = (window.actor_type, window.since, window.counted);
        windows.remove(&name);
        Some(Counted { org: *org, actor_type, actor_id: name.1, since, count })
    }

    /// Takes the counts of the minutes that are over, or all of them.
    fn take(&self, now: Timestamp, all: bool) -> Vec<Counted> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        windows.retain(|(org, actor_id), window| {
            if window.is_of(now) && !all {
                return true;
            }
            if window.counted > 0 {
                let (actor_type, since, count) = (window.actor_type, window.since, window.counted);
                taken.push(Counted { org: *org, actor_type, actor_id: actor_id.clone(), since, count });
            }
            false
        });
        taken
    }

    /// Puts a count back that could not be written.
    fn give_back(&self, counted: Counted) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Counted { org, actor_type, actor_id, since, count } = counted;
        let window =
            windows.entry((org, actor_id)).or_insert(Window { since, recorded: FORBIDDEN_A_MINUTE, counted: 0, actor_type });
        window.counted += count;
    }
}

impl Window {
    fn is_of(&self, now: Timestamp) -> bool {
        now >= self.since && now < self.since.plus_ms(MINUTE_MS)
    }
}

impl Guard {
    /// Audits a refused management call (403) in the trail of its org, or counts it.
    pub async fn record_forbidden_call(&self, by: &Requester, request: RequestId, route: &str, reason: &str) -> Result<()> {
        let event = Event::new(EventKind::ApiForbidden, "route", route).with("reason", reason);
        self.note_forbidden(&by.rows, &By { request: Some(request), ..by.by.clone() }, event).await
    }

    /// Audits that a caller read agents' data through the management API: `what` (memory, graph), the project, the route, and the id if
    /// the route has one.
    pub async fn record_read(
        &self,
        by: &Requester,
        request: RequestId,
        what: &'static str,
        project: &str,
        route: &str,
        ids: Vec<(String, String)>,
    ) -> Result<()> {
        let mut event = Event::new(EventKind::DataRead, what, project).with("route", route);
        for (name, id) in ids {
            event = event.with(&name, id);
        }
        self.ledger.note(&by.rows, &By { request: Some(request), ..by.by.clone() }, event)?.await
    }

    pub(crate) async fn note_forbidden(&self, rows: &OrgStore, by: &By, event: Event) -> Result<()> {
        let now = self.clock.now();
        // The count of the previous minute comes first, to keep the trail in chronological order.
        if let Some(counted) = self.forbidden.take_last(rows.org(), by, now) {
            self.record_count(counted).await?;
        }
        if !self.forbidden.is_recorded(rows.org(), by, now) {
            return Ok(());
        }
        self.ledger.note(rows, by, event)?.await
    }

    /// Writes the counts of minutes that are over, or all counts, to the audit trail. A count that cannot be written is kept.
    pub async fn record_counted(&self, until_now: bool) -> Result<()> {
        let mut failed = Ok(());
        for counted in self.forbidden.take(self.clock.now(), until_now) {
            if let Err(error) = self.record_count(counted).await {
                failed = Err(error);
            }
        }
        failed
    }

    async fn record_count(&self, counted: Counted) -> Result<()> {
        let by = By { actor_type: counted.actor_type, actor_id: counted.actor_id.clone(), request: None };
        let event = Event::new(EventKind::RefusalsCounted, counted.actor_type, &counted.actor_id)
            .with("count", counted.count)
            .with("since", counted.since.rfc3339());
        let noted = match self.ledger.note(&self.rows_of(&counted.org), &by, event) {
            Ok(noted) => noted.await,
            Err(error) => Err(error),
        };
        if noted.is_err() {
            self.forbidden.give_back(counted);
        }
        noted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_refusals_per_minute_are_recorded_and_the_rest_counted() {
        let (forbidden, start) = (Forbidden::default(), Timestamp::from_ms(1_000_000));
        let org = OrgId::new(start);
        let by = |id: &str| By { actor_type: "key", actor_id: id.to_owned(), request: None };
        let recorded = (0..1_000).filter(|_| forbidden.is_recorded(&org, &by("key_1"), start)).count();
        assert_eq!(recorded, FORBIDDEN_A_MINUTE as usize);
        assert!(forbidden.is_recorded(&org, &by("key_2"), start), "another credential has its own limit");
        assert!(forbidden.take(start, false).is_empty());
        let later = start.plus_ms(MINUTE_MS);
        let counted = forbidden.take(later, false).pop().unwrap();
        assert_eq!((counted.actor_id.as_str(), counted.count, counted.since), ("key_1", 990, start));
        forbidden.give_back(counted);
        assert_eq!(forbidden.take(later, false).pop().unwrap().count, 990);
        assert!(forbidden.is_recorded(&org, &by("key_1"), later));
    }
}
