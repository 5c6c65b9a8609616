//! Cursors over the trail, tasks and costs, and webhooks.

/// Orgs with events that a subscriber has not seen, ordered by id. Each costs a few index lookups.
pub(crate) const ORGS_BEHIND: &str = "SELECT o.org_id FROM orgs o WHERE o.org_id > ?1 AND (
       EXISTS (SELECT 1 FROM audit_events e WHERE e.org_id = o.org_id AND e.sequence > COALESCE(
           (SELECT c.sequence FROM hook_cursors c WHERE c.org_id = o.org_id AND c.subscriber = ?2), 0))
       OR EXISTS (SELECT 1 FROM webhooks w JOIN hook_cursors c ON c.org_id = w.org_id AND c.subscriber = w.id
           WHERE w.org_id = o.org_id AND w.disabled = 0 AND EXISTS
             (SELECT 1 FROM audit_events e WHERE e.org_id = c.org_id AND e.sequence > c.sequence)))
     ORDER BY o.org_id LIMIT ?3";

pub(crate) const CURSOR: &str = "SELECT sequence FROM hook_cursors WHERE org_id = ?1 AND subscriber = ?2";

pub(crate) const SET_CURSOR: &str = "INSERT INTO hook_cursors (org_id, subscriber, sequence) VALUES (?1, ?2, ?3)
     ON CONFLICT (org_id, subscriber) DO UPDATE SET sequence = excluded.sequence";

/// Releases the lease of a changed webhook.
pub(crate) const REVOKE_LEASE: &str =
    "UPDATE hook_cursors SET leased_by = NULL, leased_until = NULL WHERE org_id = ?1 AND subscriber = ?2";

pub(crate) const DELETE_CURSOR: &str = "DELETE FROM hook_cursors WHERE org_id = ?1 AND subscriber = ?2";

/// Takes the lease if it is free, already held by this node, or expired.
pub(crate) const LEASE: &str = "UPDATE hook_cursors SET leased_by = ?3, leased_until = ?4
     WHERE org_id = ?1 AND subscriber = ?2 AND (leased_by IS NULL OR leased_by = ?3 OR leased_until < ?5)";

pub(crate) const MOVE_LEASED: &str = "UPDATE hook_cursors SET sequence = ?4, leased_by = ?5, leased_until = ?6
     WHERE org_id = ?1 AND subscriber = ?2 AND leased_by = ?3";

pub(crate) const INSERT_TASK: &str =
    "INSERT INTO task_instances (org_id, sequence, request_id, verb, session_id, agent_id, project_id, state, started_at, ended_at,
       duration_us, error_kind)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING";

/// Corrects the newest completed row of a request and verb in a range, because the call did not succeed after all.
pub(crate) const CORRECT_TASK: &str = "UPDATE task_instances SET state = ?6, ended_at = ?7,
       duration_us = ?8, error_kind = ?9 WHERE org_id = ?1 AND sequence =
     (SELECT max(sequence) FROM task_instances WHERE org_id = ?1 AND sequence > ?2 AND sequence < ?3 AND request_id = ?4 AND verb = ?5
        AND state = 'completed')";

/// Finished calls, newest first.
pub(crate) const FINISHED_CALLS: &str =
    "SELECT sequence, verb, state, started_at, ended_at, duration_us, error_kind FROM task_instances
     WHERE org_id = ?1 AND sequence < ?2 ORDER BY sequence DESC LIMIT ?3";

pub(crate) const NEWEST_CALL: &str = "SELECT ended_at FROM task_instances WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1";

pub(crate) const TASKS: &str =
    "SELECT sequence, request_id, verb, session_id, agent_id, project_id, state, started_at, ended_at FROM task_instances
     WHERE org_id = ?1 AND sequence < ?2 AND (CAST(?3 AS TEXT) IS NULL OR state = ?3) AND (CAST(?4 AS TEXT) IS NULL OR verb = ?4)
     ORDER BY sequence DESC LIMIT ?5";

/// The oldest row decides, because times increase with the sequence.
pub(crate) const ANY_OLD_TASK: &str = "SELECT ended_at FROM
     (SELECT ended_at FROM task_instances WHERE org_id = ?1 ORDER BY sequence LIMIT 1) AS oldest WHERE ended_at <= ?2";

pub(crate) const DELETE_SOME_OLD_TASKS: &str = "DELETE FROM task_instances WHERE org_id = ?1 AND ended_at <= ?2
     AND sequence < (SELECT min(sequence) FROM task_instances WHERE org_id = ?1) + ?3";

pub(crate) const ADD_COST: &str = "INSERT INTO cost_events (org_id, hour, verb, agent_id, project_id, calls, failed, duration_us)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
     ON CONFLICT (org_id, hour, verb, agent_id, project_id) DO UPDATE SET calls = cost_events.calls + excluded.calls,
       failed = cost_events.failed + excluded.failed, duration_us = cost_events.duration_us + excluded.duration_us";

/// Totals of the hours from `?2` and before `?3`, grouped by one column, as text.
macro_rules! costs {
    ($group:literal, $order:literal) => {
        concat!(
            "SELECT CAST(",
            $group,
            " AS TEXT) AS group_value, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(failed) AS BIGINT) AS failed,
                CAST(sum(duration_us) AS BIGINT) AS duration_us
             FROM cost_events WHERE org_id = ?1 AND hour >= ?2 AND hour < ?3 GROUP BY ",
            $group,
            " ORDER BY ",
            $order,
            " LIMIT ?4"
        )
    };
}

pub(crate) const COSTS_BY_VERB: &str = costs!("verb", "sum(calls) DESC, verb");
pub(crate) const COSTS_BY_AGENT: &str = costs!("agent_id", "sum(calls) DESC, agent_id");
pub(crate) const COSTS_BY_PROJECT: &str = costs!("project_id", "sum(calls) DESC, project_id");
pub(crate) const COSTS_BY_HOUR: &str = costs!("hour", "hour DESC");

pub(crate) const COSTS_TOTAL: &str = "SELECT CAST('' AS TEXT) AS group_value, CAST(COALESCE(sum(calls), 0) AS BIGINT) AS calls,
            CAST(COALESCE(sum(failed), 0) AS BIGINT) AS failed, CAST(COALESCE(sum(duration_us), 0) AS BIGINT) AS duration_us
     FROM cost_events WHERE org_id = ?1 AND hour >= ?2 AND hour < ?3";

pub(crate) const COUNT_WEBHOOKS: &str = "SELECT count(*) AS count FROM webhooks WHERE org_id = ?1";

pub(crate) const INSERT_WEBHOOK: &str =
    "INSERT INTO webhooks (org_id, id, url, events, sealed_secret, disabled, part, tries, next_try_at, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, 0, ?6, ?6)";

pub(crate) const WEBHOOK: &str =
    "SELECT id, url, events, disabled, created_at, updated_at FROM webhooks WHERE org_id = ?1 AND id = ?2";

pub(crate) const LIST_WEBHOOKS: &str = "SELECT id, url, events, disabled, created_at, updated_at FROM webhooks
     WHERE org_id = ?1 AND (created_at < ?2 OR (created_at = ?2 AND id < ?3)) ORDER BY created_at DESC, id DESC LIMIT ?4";

/// A changed webhook is retried at once.
pub(crate) const UPDATE_WEBHOOK: &str =
    "UPDATE webhooks SET url = ?3, events = ?4, disabled = ?5, part = 0, tries = 0, next_try_at = 0, updated_at = ?6
     WHERE org_id = ?1 AND id = ?2";

pub(crate) const ROTATE_WEBHOOK: &str =
    "UPDATE webhooks SET sealed_secret = ?3, next_try_at = 0, updated_at = ?4 WHERE org_id = ?1 AND id = ?2";

pub(crate) const DELETE_WEBHOOK: &str = "DELETE FROM webhooks WHERE org_id = ?1 AND id = ?2";

pub(crate) const WEBHOOK_HEALTH: &str = "SELECT w.last_success_at, w.last_error, w.last_error_at, w.tries, w.next_try_at,
            c.sequence, (SELECT count(*) FROM webhook_dead_letters d WHERE d.org_id = ?1 AND d.webhook_id = ?2) AS dead_letters
     FROM webhooks w JOIN hook_cursors c ON c.org_id = w.org_id AND c.subscriber = w.id WHERE w.org_id = ?1 AND w.id = ?2";

/// Webhooks with something to deliver.
pub(crate) const DUE_WEBHOOKS: &str = "SELECT w.id, w.next_try_at
     FROM webhooks w JOIN hook_cursors c ON c.org_id = w.org_id AND c.subscriber = w.id
     WHERE w.org_id = ?1 AND w.disabled = 0
       AND EXISTS (SELECT 1 FROM audit_events e WHERE e.org_id = ?1 AND e.sequence > c.sequence)";

pub(crate) const OUTBOX: &str = "SELECT w.url, w.events, w.sealed_secret, w.part, w.tries, w.next_try_at, c.sequence
     FROM webhooks w JOIN hook_cursors c ON c.org_id = w.org_id AND c.subscriber = w.id
     WHERE w.org_id = ?1 AND w.id = ?2 AND w.disabled = 0";

pub(crate) const ADDRESS: &str = "SELECT url, events, sealed_secret FROM webhooks WHERE org_id = ?1 AND id = ?2";

pub(crate) const SETTLE_WEBHOOK: &str = "UPDATE webhooks SET part = ?3, tries = ?4, next_try_at = ?5,
       last_success_at = COALESCE(?6, last_success_at), last_error = COALESCE(?7, last_error),
       last_error_at = COALESCE(?8, last_error_at)
     WHERE org_id = ?1 AND id = ?2";

pub(crate) const INSERT_DEAD_LETTER: &str =
    "INSERT INTO webhook_dead_letters (org_id, webhook_id, sequence, part, message_type, error, failed_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";

pub(crate) const DEAD_LETTERS: &str = "SELECT sequence, part, message_type, error, failed_at FROM webhook_dead_letters
     WHERE org_id = ?1 AND webhook_id = ?2 AND (sequence < ?3 OR (sequence = ?3 AND part < ?4))
     ORDER BY sequence DESC, part DESC LIMIT ?5";

pub(crate) const DEAD_LETTERS_AT: &str =
    "SELECT message_type FROM webhook_dead_letters WHERE org_id = ?1 AND webhook_id = ?2 AND sequence = ?3";

pub(crate) const DELETE_DEAD_LETTER: &str =
    "DELETE FROM webhook_dead_letters WHERE org_id = ?1 AND webhook_id = ?2 AND sequence = ?3 AND message_type = ?4";

pub(crate) const DELETE_DEAD_LETTERS: &str = "DELETE FROM webhook_dead_letters WHERE org_id = ?1 AND webhook_id = ?2";
