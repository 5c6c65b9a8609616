//! How fast an org's tools answer: true percentiles of the calls in a time window.
//!
//! The figures come from the rows of finished calls, so they cover every node and survive a restart. The rows are read newest
//! first in small pieces, so that a long window never holds a thread for long.

use std::collections::BTreeMap;

use base::limits::{COST_GROUPS_MAX, PERFORMANCE_CALLS_MAX};
use base::{Clock, Result, Timestamp};
use store::{OrgStore, Row, params};

use super::figures::advance;
use super::{FIGURES, sql};
use crate::admit::Permit;
use crate::{audit, change};

/// The number of calls read at once.
const ROWS_AT_ONCE: u32 = 5_000;
/// The most batches of events to process before an answer. The relay handles a longer backlog.
const LOOKS_MAX: usize = 4;
/// The name of calls of tools that do not exist. Their own names are the callers' text.
const UNKNOWN: &str = "unknown";
/// The name of all further tools.
const OTHER: &str = "other";

/// The calls of an org in a time window.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    /// The start of the window, or of the calls that were counted if there were more than [`PERFORMANCE_CALLS_MAX`].
    pub since: Timestamp,
    /// Calls up to this time are counted.
    pub as_of: Timestamp,
    /// Whether the window has more calls than were counted.
    pub truncated: bool,
    /// The number of calls.
    pub calls: u64,
    /// Calls that did not complete: failed, refused or cancelled.
    pub errors: u64,
    /// Calls per second of the window.
    pub calls_per_second: f64,
    /// The same per tool.
    pub tools: BTreeMap<String, ToolPerformance>,
    /// The number of errors per kind.
    pub error_kinds: BTreeMap<String, u64>,
}

/// The calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolPerformance {
    /// The number of calls.
    pub calls: u64,
    /// Calls that did not complete.
    pub errors: u64,
    /// The duration in milliseconds that half of the calls did not exceed.
    pub p50_ms: f64,
    /// The same for nine of ten calls.
    pub p90_ms: f64,
    /// The same for 99 of 100 calls.
    pub p99_ms: f64,
}

impl Permit {
    /// The performance of the caller's org in the last `window_ms` milliseconds.
    pub async fn performance(&self, clock: &Clock, window_ms: i64) -> Result<Performance> {
        measured(self.rows(), clock, window_ms).await
    }

    /// The number of entries of the org's audit trail that no figure counts yet.
    pub async fn entries_behind(&self) -> Result<u64> {
        behind(self.rows()).await
    }
}

async fn behind(rows: &OrgStore) -> Result<u64> {
    let last = rows.first(audit::sql::LAST, &[], |row| row.get::<i64>("sequence")).await?.unwrap_or(0);
    let seen = rows.first(sql::CURSOR, &params![FIGURES], |row| row.get::<i64>("sequence")).await?.unwrap_or(0);
    Ok(last.saturating_sub(seen).max(0).unsigned_abs())
}

async fn measured(rows: &OrgStore, clock: &Clock, window_ms: i64) -> Result<Performance> {
    let as_of = caught_up(rows, clock).await?;
    let since = clock.now().plus_ms(-window_ms);
    let mut tally = Tally::default();
    let mut before = i64::MAX;
    loop {
        let most = (PERFORMANCE_CALLS_MAX - tally.calls).min(u64::from(ROWS_AT_ONCE));
        let rows_max = u32::try_from(most).unwrap_or(ROWS_AT_ONCE);
        let some = rows.query(sql::FINISHED_CALLS, &params![before, rows_max], Finished::from_row).await?;
        before = some.last().map_or(before, |call| call.sequence);
        // Times increase with the sequence, unless a clock was set back.
        let is_last = (some.len() as u64) < most || some.last().is_none_or(|call| call.ended_at < since);
        some.into_iter().filter(|call| call.ended_at >= since).for_each(|call| tally.add(call));
        if is_last || tally.calls >= PERFORMANCE_CALLS_MAX {
            tally.truncated = !is_last;
            break;
        }
        // On SQLite a read does not wait for anything, so others get their turn here.
        tokio::task::yield_now().await;
    }
    store::compute(rows.org(), move || tally.summed(since, as_of)).await
}

/// Does the relay's next work, and returns up to when all calls are counted.
async fn caught_up(rows: &OrgStore, clock: &Clock) -> Result<Timestamp> {
    for _ in 0..LOOKS_MAX {
        let now = clock.now();
        if advance(&change::upkeep(rows), now).await? == 0 {
            return Ok(now);
        }
    }
    let newest = rows.first(sql::NEWEST_CALL, &[], |row| row.get::<Timestamp>("ended_at")).await?;
    Ok(newest.unwrap_or_else(|| clock.now()))
}

/// A finished call.
struct Finished {
    sequence: i64,
    verb: String,
    /// Why it did not complete.
    error: Option<String>,
    duration_us: u32,
    ended_at: Timestamp,
}

impl Finished {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let (state, kind) = (row.text("state")?.to_owned(), row.get::<Option<String>>("error_kind")?);
        let (started_at, ended_at) = (row.get::<Timestamp>("started_at")?, row.get::<Timestamp>("ended_at")?);
        // Rows of older releases have only milliseconds.
        let duration = row.get::<Option<i64>>("duration_us")?;
        let duration = duration.unwrap_or_else(|| ended_at.ms().saturating_sub(started_at.ms()).saturating_mul(1_000));
        let error = match state.as_str() {
            "completed" => None,
            "cancelled" => Some(state),
            _ => Some(kind.unwrap_or_else(|| UNKNOWN.to_owned())),
        };
        let is_unknown = error.as_deref() == Some("tool_not_found");
        Ok(Self {
            sequence: row.get("sequence")?,
            verb: if is_unknown { UNKNOWN.to_owned() } else { row.get("verb")? },
            error,
            duration_us: u32::try_from(duration.max(0)).unwrap_or(u32::MAX),
            ended_at,
        })
    }
}

/// What was read so far.
#[derive(Default)]
struct Tally {
    calls: u64,
    errors: u64,
    truncated: bool,
    oldest: Option<Timestamp>,
    /// Durations and errors per tool.
    tools: BTreeMap<String, (Vec<u32>, u64)>,
    error_kinds: BTreeMap<String, u64>,
}

impl Tally {
    fn add(&mut self, call: Finished) {
        self.calls += 1;
        self.oldest = Some(call.ended_at);
        let is_full = self.tools.len() >= COST_GROUPS_MAX as usize && !self.tools.contains_key(&call.verb);
        let verb = if is_full { OTHER.to_owned() } else { call.verb };
        let (durations, errors) = self.tools.entry(verb).or_default();
        durations.push(call.duration_us);
        if let Some(kind) = call.error {
            self.errors += 1;
            *errors += 1;
            *self.error_kinds.entry(kind).or_default() += 1;
        }
    }

    fn summed(self, since: Timestamp, as_of: Timestamp) -> Performance {
        let since = self.oldest.filter(|_| self.truncated).unwrap_or(since);
        let seconds = (as_of.ms().saturating_sub(since.ms())).max(1) as f64 / 1_000.0;
        let tool = |(name, (mut durations, errors)): (String, (Vec<u32>, u64))| {
            durations.sort_unstable();
            let at = |percent| percentile(&durations, percent);
            let calls = durations.len() as u64;
            (name, ToolPerformance { calls, errors, p50_ms: at(50), p90_ms: at(90), p99_ms: at(99) })
        };
        Performance {
            since,
            as_of,
            truncated: self.truncated,
            calls: self.calls,
            errors: self.errors,
            calls_per_second: self.calls as f64 / seconds,
            tools: self.tools.into_iter().map(tool).collect(),
            error_kinds: self.error_kinds,
        }
    }
}

/// The smallest duration that `percent` of the calls do not exceed, in milliseconds.
fn percentile(sorted_us: &[u32], percent: usize) -> f64 {
    let place = (sorted_us.len() * percent).div_ceil(100).saturating_sub(1);
    sorted_us.get(place).map_or(0.0, |us| f64::from(*us) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::Happened;
    use crate::hooks::figures::insert_task;
    use serde_json::{Value, json};
    use store::Change;
    use testkit::{Engine, TestStore, both_engines};

    const HOUR_MS: i64 = 60 * 60 * 1_000;

    fn call(sequence: i64, at: Timestamp, state: &str, verb: &str, payload: Value) -> Happened {
        Happened {
            sequence,
            id: format!("evt_{sequence}"),
            at,
            event_type: format!("call.{state}"),
            actor_type: "session".to_owned(),
            actor_id: None,
            entity_type: None,
            entity_id: Some(verb.to_owned()),
            request_id: Some(format!("req_{}", sequence / 2)),
            payload,
        }
    }

    async fn happen(rows: &Change, events: Vec<Happened>) {
        let write = move |tx: &mut store::OrgTx<'_, '_>| events.iter().try_for_each(|event| insert_task(tx, event));
        rows.write(write).await.unwrap();
    }

    #[test]
    fn percentiles_are_calls_that_happened() {
        let hundred: Vec<u32> = (1..=100).collect();
        assert_eq!([50, 90, 99].map(|percent| percentile(&hundred, percent)), [0.05, 0.09, 0.099]);
        assert_eq!([50, 90, 99].map(|percent| percentile(&[7], percent)), [0.007; 3]);
        assert_eq!([50, 90, 99].map(|percent| percentile(&[1, 2_500], percent)), [0.001, 2.5, 2.5]);
        assert_eq!(percentile(&[], 50), 0.0);
    }

    #[test]
    fn a_window_with_too_many_calls_starts_later() {
        let mut tally = Tally { truncated: true, ..Tally::default() };
        for second in (0..10).rev() {
            let (verb, ended_at) = ("a".to_owned(), Timestamp::from_ms(second * 1_000));
            tally.add(Finished { sequence: second, verb, error: None, duration_us: 1, ended_at });
        }
        let found = tally.summed(Timestamp::from_ms(-HOUR_MS), Timestamp::from_ms(10_000));
        assert_eq!((found.since.ms(), found.calls_per_second, found.truncated), (0, 1.0, true));
    }

    both_engines! {
        async fn calls_of_the_window_are_counted_with_fractions_of_a_millisecond(engine: Engine) {
            let test = TestStore::open(engine).await;
            let (rows, other, now) = (test.new_org(), test.new_org(), test.clock.now());
            let failed = |kind: &str| json!({"durationMs": 1.5, "error": {"kind": kind}});
            let ago = |seconds: i64| now.plus_ms(-seconds * 1_000);
            happen(&rows, vec![
                call(2, ago(2 * 3_600), "completed", "kits.list", json!({"durationMs": 900.0})),
                call(4, ago(30), "completed", "kits.list", json!({"durationMs": 0.25})),
                call(6, ago(20), "completed", "kits.list", json!({"durationMs": 0.75})),
                call(8, ago(15), "cancelled", "bricks.list", json!({"durationMs": 0.125})),
                call(10, ago(10), "failed", "bricks.list", failed("unavailable")),
                call(12, ago(5), "refused", "made up by a caller", failed("tool_not_found")),
                call(14, ago(2), "completed", "kits.get", json!({"durationMs": 0.5})),
                call(15, ago(1), "failed", "kits.get", json!({"durationMs": 3.0, "effectStands": true, "error": {"kind": "timeout"}})),
            ]).await;
            happen(&other, vec![call(2, ago(1), "completed", "secret.tool", json!({"durationMs": 9.0}))]).await;
            let found = measured(rows.as_ref(), &test.clock, HOUR_MS).await.unwrap();
            assert_eq!((found.calls, found.errors, found.truncated), (6, 4, false));
            assert_eq!((found.since, found.as_of), (now.plus_ms(-HOUR_MS), now));
            assert!((found.calls_per_second - 6.0 / 3_600.0).abs() < 1e-12);
            assert_eq!(found.tools.keys().collect::<Vec<_>>(), ["bricks.list", "kits.get", "kits.list", "unknown"]);
            let listed = found.tools["kits.list"];
            assert_eq!((listed.calls, listed.errors, listed.p50_ms, listed.p90_ms, listed.p99_ms), (2, 0, 0.25, 0.75, 0.75));
            // The failure corrects the row that its effect made.
            assert_eq!((found.tools["kits.get"].calls, found.tools["kits.get"].errors, found.tools["kits.get"].p50_ms), (1, 1, 3.0));
            let kinds: Vec<(&str, u64)> = found.error_kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
            assert_eq!(kinds, [("cancelled", 1), ("timeout", 1), ("tool_not_found", 1), ("unavailable", 1)]);
            let nothing = measured(test.new_org().as_ref(), &test.clock, HOUR_MS).await.unwrap();
            assert_eq!((nothing.calls, nothing.calls_per_second, nothing.tools.len()), (0, 0.0, 0));
            assert_eq!(behind(rows.as_ref()).await.unwrap(), 0);
        }
    }
}
