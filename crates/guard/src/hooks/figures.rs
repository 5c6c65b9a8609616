//! Tasks and costs. Each call is counted exactly once, even if the relay restarts.

use std::collections::BTreeMap;

use base::{OrgId, Result, Timestamp, limits};
use store::{Change, OrgTx, params};

use super::happened::{self, Happened};
use super::{FIGURES, sql};
use crate::guard::Guard;

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// The most entries between a call's effect and its failure.
const CORRECTED_WITHIN: i64 = 100_000;

/// The start of the hour of a time.
pub(super) fn hour_of(time: Timestamp) -> i64 {
    time.ms().div_euclid(HOUR_MS).saturating_mul(HOUR_MS)
}

/// The key of a total.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CostKey {
    hour: i64,
    verb: String,
    agent: String,
    project: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    calls: i64,
    failed: i64,
    duration_us: i64,
}

impl Guard {
    /// Updates tasks and costs with the next events of an org. Returns the number of processed events, 0 if there was nothing to do.
    pub async fn advance_figures(&self, org: &OrgId) -> Result<usize> {
        advance(&self.upkeep(org), self.clock.now()).await
    }

    /// Orgs with events that a subscriber has not seen, ordered by id and starting after `after`.
    pub async fn orgs_behind(&self, after: Option<&OrgId>) -> Result<Vec<OrgId>> {
        let after = after.map_or("", OrgId::as_str);
        let params = params![after, FIGURES, limits::PAGE_ROWS_MAX];
        self.store.query(sql::ORGS_BEHIND, &params, |row| Ok(OrgId::from_row(row.text("org_id")?))).await
    }
}

pub(crate) async fn advance(change: &Change, now: Timestamp) -> Result<usize> {
    let rows = change.as_ref();
    let seen = rows.first(sql::CURSOR, &params![FIGURES], |row| row.get::<i64>("sequence")).await?;
    let events = happened::after(rows, seen.unwrap_or(0)).await?;
    let Some(through) = events.last().map(|event| event.sequence) else {
        return Ok(0);
    };
    let (passed, costs) = (events.len(), costs_of(&events));
    // Older tasks would be removed at once, as when the first release with tasks reads the whole trail.
    let kept_since = now.plus_ms(-limits::TASKS_KEPT_MS);
    let note = change.note(move |tx| {
        // Another node or a report was here in the meantime. Its events are not counted again.
        if tx.first(sql::CURSOR, &params![FIGURES], |row| row.get::<i64>("sequence"))? != seen {
            return Ok(());
        }
        for event in events.iter().filter(|event| event.at > kept_since) {
            insert_task(tx, event)?;
        }
        for (key, sums) in &costs {
            let CostKey { hour, verb, agent, project } = key;
            tx.execute(sql::ADD_COST, &params![hour, verb, agent, project, sums.calls, sums.failed, sums.duration_us])?;
        }
        tx.execute(sql::SET_CURSOR, &params![FIGURES, through]).map(drop)
    });
    note.await?;
    Ok(passed)
}

pub(super) fn insert_task(tx: &mut OrgTx<'_, '_>, event: &Happened) -> Result<()> {
    let Some(state) = event.call_state() else {
        return Ok(());
    };
    let verb = event.entity_id.as_deref().unwrap_or_default();
    let (duration_us, error) = (event.duration_us(), event.error_kind());
    let (session, agent, project) = (event.text("sessionId"), event.text("agentId"), event.text("projectId"));
    if event.effect_stands() {
        // The entry of its effect has already created the row.
        let from = event.sequence.saturating_sub(CORRECTED_WITHIN);
        let params = params![from, event.sequence, event.request_id, verb, state, event.at, duration_us, error];
        return tx.execute(sql::CORRECT_TASK, &params).map(drop);
    }
    let started_at = event.started_at();
    let whose = params![event.sequence, event.request_id, verb, session, agent, project];
    let how = params![state, started_at, event.at, duration_us, error];
    tx.execute(sql::INSERT_TASK, &[&whose[..], &how[..]].concat()).map(drop)
}

fn costs_of(events: &[Happened]) -> BTreeMap<CostKey, Sums> {
    let mut costs = BTreeMap::<CostKey, Sums>::new();
    for event in events {
        let Some(state) = event.call_state() else {
            continue;
        };
        // An unknown name is the caller's text and must not create rows.
        let verb = if event.error_kind() == Some("tool_not_found") { Some("unknown") } else { event.entity_id.as_deref() };
        let text = |member: &str| event.text(member).unwrap_or_default().to_owned();
        let key = CostKey {
            hour: hour_of(event.at),
            verb: verb.unwrap_or_default().to_owned(),
            agent: text("agentId"),
            project: text("projectId"),
        };
        let sums = costs.entry(key).or_default();
        sums.failed += i64::from(state != "completed");
        if event.effect_stands() {
            // The entry of its effect has already been counted.
            continue;
        }
        sums.calls += 1;
        sums.duration_us = sums.duration_us.saturating_add(event.duration_us());
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn call(state: &str, verb: &str, payload: Value) -> Happened {
        Happened {
            sequence: 1,
            id: "evt_1".to_owned(),
            at: Timestamp::from_ms(HOUR_MS + 5),
            event_type: format!("call.{state}"),
            actor_type: "session".to_owned(),
            actor_id: None,
            entity_type: None,
            entity_id: Some(verb.to_owned()),
            request_id: None,
            payload,
        }
    }

    #[test]
    fn calls_are_summed_by_hour_verb_agent_and_project() {
        let minted = Happened { event_type: "key.minted".to_owned(), ..call("completed", "key_1", json!({})) };
        let events = [
            call("completed", "kits.list", json!({"durationMs": 1.5})),
            call("cancelled", "kits.list", json!({"durationMs": 0.25})),
            call("completed", "kits.list", json!({"durationMs": 1.0, "agentId": "agt_1"})),
            call("refused", "made up", json!({"durationMs": 0.0, "error": {"kind": "tool_not_found"}})),
            call("failed", "kits.list", json!({"durationMs": 2.0, "agentId": "agt_1", "effectStands": true})),
            minted,
        ];
        let costs = costs_of(&events);
        let sums = |verb: &str, agent: &str| {
            let key = CostKey { hour: HOUR_MS, verb: verb.to_owned(), agent: agent.to_owned(), project: String::new() };
            costs[&key]
        };
        assert_eq!(costs.len(), 3);
        assert_eq!(sums("kits.list", ""), Sums { calls: 2, failed: 1, duration_us: 1_750 });
        assert_eq!(sums("kits.list", "agt_1"), Sums { calls: 1, failed: 1, duration_us: 1_000 });
        assert_eq!(sums("unknown", ""), Sums { calls: 1, failed: 1, duration_us: 0 });
    }
}
