//! The audit trail and its keys.

/// The head of the chain and the active key, in one statement.
pub(crate) const HEAD: &str = "SELECT kid, sealed_seed,
            (SELECT sequence FROM audit_events WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1) AS sequence,
            (SELECT entry_hash FROM audit_events WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1) AS entry_hash
     FROM audit_keys WHERE org_id = ?1 AND retired_at IS NULL AND revoked_at IS NULL
     ORDER BY created_at DESC LIMIT 1";

pub(crate) const APPEND: &str =
    "INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                               request_id, payload, prev_hash, entry_hash, signature, kid)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

pub(crate) const INSERT_KEY: &str =
    "INSERT INTO audit_keys (org_id, kid, public_key, sealed_seed, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";

/// A retired key signs nothing any more, so its private key is deleted.
pub(crate) const RETIRE_KEY: &str =
    "UPDATE audit_keys SET retired_at = ?3, sealed_seed = NULL WHERE org_id = ?1 AND kid = ?2 AND retired_at IS NULL";

pub(crate) const REVOKE_KEY: &str = "UPDATE audit_keys SET revoked_at = ?3, revoked_reason = ?4, sealed_seed = NULL
     WHERE org_id = ?1 AND kid = ?2 AND revoked_at IS NULL";

pub(crate) const KEYS: &str = "SELECT kid, public_key, created_at, retired_at, revoked_at, revoked_reason FROM audit_keys
     WHERE org_id = ?1 ORDER BY created_at, kid";

/// The latest time in the trail. It may not be the time of the last entry, because the nodes' clocks differ.
pub(crate) const LATEST: &str = "SELECT max(occurred_at) AS latest FROM audit_events WHERE org_id = ?1";

pub(crate) const FIRST: &str = "SELECT sequence FROM audit_events WHERE org_id = ?1 ORDER BY sequence LIMIT 1";

/// The first entry in a range of the trail that is not older than a time.
pub(crate) const FIRST_YOUNG: &str = "SELECT sequence FROM audit_events
     WHERE org_id = ?1 AND sequence > ?2 AND sequence <= ?3 AND occurred_at >= ?4 ORDER BY sequence LIMIT 1";

/// The lowest cursor of the subscribers that must not miss anything. A disabled webhook starts at the end when it is enabled again.
pub(crate) const SLOWEST: &str = "SELECT subscriber, sequence FROM (
       SELECT CAST(?2 AS TEXT) AS subscriber, COALESCE(
         (SELECT sequence FROM hook_cursors WHERE org_id = ?1 AND subscriber = ?2), 0) AS sequence
       UNION ALL SELECT c.subscriber, c.sequence FROM hook_cursors c
         JOIN webhooks w ON w.org_id = c.org_id AND w.id = c.subscriber WHERE c.org_id = ?1 AND w.disabled = 0) AS readers
     ORDER BY sequence LIMIT 1";

pub(crate) const HASH_AT: &str = "SELECT entry_hash FROM audit_events WHERE org_id = ?1 AND sequence = ?2";

pub(crate) const NEWEST_PAYLOAD_OF: &str = "SELECT payload FROM audit_events WHERE org_id = ?1 AND event_type = ?2
     ORDER BY occurred_at DESC, sequence DESC LIMIT 1";

/// The restore that is already recorded in every org's trail.
pub(crate) const RESTORE_TOLD: &str = "SELECT value FROM instance WHERE name = 'restore_told'";

pub(crate) const REMEMBER_RESTORE_TOLD: &str = "INSERT INTO instance (name, value) VALUES ('restore_told', ?1)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";

pub(crate) const DELETE_THROUGH: &str = "DELETE FROM audit_events WHERE org_id = ?1 AND sequence <= ?2";

pub(crate) const LAST: &str = "SELECT sequence, entry_hash FROM audit_events WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1";

/// The columns that `entry_from_row` needs.
macro_rules! columns {
    () => {
        "SELECT sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                request_id, payload, prev_hash, entry_hash, signature, kid FROM audit_events WHERE org_id = ?1 AND "
    };
}

/// Entries after a sequence number, up to another one, oldest first.
pub(crate) const AFTER: &str = concat!(columns!(), "sequence > ?2 AND sequence <= ?3 ORDER BY sequence LIMIT ?4");

/// Entries, newest first.
pub(crate) const ENTRIES: &str = concat!(columns!(), "sequence < ?2 ORDER BY sequence DESC LIMIT ?3");

/// Entries that match all filters, newest first. `$driver` names the index range. It is a pair, because with an equality and a range
/// SQLite would use only the index of time. If a clock was set back, the order by time differs from the order by sequence. The `+`
/// signs keep SQLite from using the cursor as an index range.
macro_rules! entries {
    ($driver:literal, $order:literal) => {
        concat!(
            columns!(),
            $driver,
            " AND (CAST(?3 AS TEXT) IS NULL OR event_type = ?3) AND (CAST(?4 AS TEXT) IS NULL OR actor_id = ?4)
              AND (CAST(?5 AS TEXT) IS NULL OR entity_id = ?5) AND (CAST(?6 AS TEXT) IS NULL OR request_id = ?6)
              AND (+occurred_at < ?10 OR (+occurred_at = ?10 AND sequence < ?2))
             ORDER BY ",
            $order,
            "occurred_at DESC, sequence DESC LIMIT ?9"
        )
    };
}

pub(crate) const ENTRIES_BY_TYPE: &str =
    entries!("(event_type, occurred_at) >= (?3, ?7) AND (event_type, occurred_at) < (?3, ?8)", "event_type DESC, ");
pub(crate) const ENTRIES_BY_ACTOR: &str =
    entries!("(actor_id, occurred_at) >= (?4, ?7) AND (actor_id, occurred_at) < (?4, ?8)", "actor_id DESC, ");
pub(crate) const ENTRIES_BY_ENTITY: &str =
    entries!("(entity_id, occurred_at) >= (?5, ?7) AND (entity_id, occurred_at) < (?5, ?8)", "entity_id DESC, ");
pub(crate) const ENTRIES_BY_REQUEST: &str =
    entries!("(request_id, occurred_at) >= (?6, ?7) AND (request_id, occurred_at) < (?6, ?8)", "request_id DESC, ");
pub(crate) const ENTRIES_BY_TIME: &str = entries!("occurred_at >= ?7 AND occurred_at < ?8", "");

/// The time of the n-th newest entry in a range of time, if there are that many.
macro_rules! reach {
    ($column:literal) => {
        concat!(
            "SELECT occurred_at FROM audit_events WHERE org_id = ?1 AND (",
            $column,
            ", occurred_at) >= (?2, ?3) AND (",
            $column,
            ", occurred_at) < (?2, ?4) ORDER BY ",
            $column,
            " DESC, occurred_at DESC, sequence DESC LIMIT 1 OFFSET ?5"
        )
    };
}

pub(crate) const REACH_BY_TYPE: &str = reach!("event_type");
pub(crate) const REACH_BY_ACTOR: &str = reach!("actor_id");
pub(crate) const REACH_BY_ENTITY: &str = reach!("entity_id");
pub(crate) const REACH_BY_REQUEST: &str = reach!("request_id");

#[cfg(test)]
mod tests {
    use store::{Param, params};
    use testkit::{Engine, TestStore};

    use super::*;

    /// Every page is read from an index, in order, without a table scan or sorting.
    #[tokio::test]
    async fn pages_are_read_from_an_index() {
        let test = TestStore::open(Engine::Sqlite).await;
        let page = params![i64::MAX, "t", "a", "e", "r", 0_i64, i64::MAX, 20_u32, i64::MAX];
        let reach = params!["x", 0_i64, i64::MAX, 20_u32];
        let statements: [(&str, &[Param<'_>], &str); 11] = [
            (ENTRIES, &params![i64::MAX, 20_u32], "sequence<?"),
            (
                ENTRIES_BY_TYPE,
                &page,
                "INDEX audit_events_by_type (org_id=? AND (event_type,occurred_at)>(?,?) AND (event_type,occurred_at)<(?,?)",
            ),
            (
                ENTRIES_BY_ACTOR,
                &page,
                "INDEX audit_events_by_actor (org_id=? AND (actor_id,occurred_at)>(?,?) AND (actor_id,occurred_at)<(?,?)",
            ),
            (
                ENTRIES_BY_ENTITY,
                &page,
                "INDEX audit_events_by_entity (org_id=? AND (entity_id,occurred_at)>(?,?) AND (entity_id,occurred_at)<(?,?)",
            ),
            (
                ENTRIES_BY_REQUEST,
                &page,
                "INDEX audit_events_by_request (org_id=? AND (request_id,occurred_at)>(?,?) AND (request_id,occurred_at)<(?,?)",
            ),
            (ENTRIES_BY_TIME, &page, "audit_events_by_time (org_id=? AND occurred_at>? AND occurred_at<?"),
            (REACH_BY_TYPE, &reach, "COVERING INDEX audit_events_by_type (org_id=? AND (event_type,occurred_at)>(?,?)"),
            (REACH_BY_ACTOR, &reach, "COVERING INDEX audit_events_by_actor (org_id=? AND (actor_id,occurred_at)>(?,?)"),
            (REACH_BY_ENTITY, &reach, "COVERING INDEX audit_events_by_entity (org_id=? AND (entity_id,occurred_at)>(?,?)"),
            (REACH_BY_REQUEST, &reach, "COVERING INDEX audit_events_by_request (org_id=? AND (request_id,occurred_at)>(?,?)"),
            (NEWEST_PAYLOAD_OF, &params!["t"], "audit_events_by_type (org_id=? AND event_type=?"),
        ];
        for (statement, params, index) in statements {
            let explain = Box::leak(format!("EXPLAIN QUERY PLAN {statement}").into_boxed_str());
            let plan = test.new_org().query(explain, params, |row| row.get::<String>("detail")).await.unwrap().join("\n");
            assert!(plan.contains(index) && !plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{statement}: {plan}");
        }
    }
}
