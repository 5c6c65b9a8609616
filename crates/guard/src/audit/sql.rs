//! The audit trail and its keys.

/// The head of the chain and the key that signs next, in one look.
pub(crate) const HEAD: &str = "SELECT kid, sealed_seed,
            (SELECT sequence FROM audit_events WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1),
            (SELECT entry_hash FROM audit_events WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1)
     FROM audit_keys WHERE org_id = ?1 AND retired_at IS NULL AND revoked_at IS NULL
     ORDER BY created_at DESC LIMIT 1";

pub(crate) const APPEND: &str =
    "INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                               request_id, payload, prev_hash, entry_hash, signature, kid)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

pub(crate) const INSERT_KEY: &str =
    "INSERT INTO audit_keys (org_id, kid, public_key, sealed_seed, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";

/// A retired key signs no more: its private half is not kept.
pub(crate) const RETIRE_KEY: &str =
    "UPDATE audit_keys SET retired_at = ?3, sealed_seed = NULL WHERE org_id = ?1 AND kid = ?2 AND retired_at IS NULL";

pub(crate) const REVOKE_KEY: &str = "UPDATE audit_keys SET revoked_at = ?3, revoked_reason = ?4, sealed_seed = NULL
     WHERE org_id = ?1 AND kid = ?2 AND revoked_at IS NULL";

pub(crate) const KEYS: &str = "SELECT kid, public_key, created_at, retired_at, revoked_at, revoked_reason FROM audit_keys
     WHERE org_id = ?1 ORDER BY created_at, kid";

pub(crate) const AFTER: &str = "SELECT sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
            request_id, payload, prev_hash, entry_hash, signature, kid
     FROM audit_events WHERE org_id = ?1 AND sequence > ?2 AND sequence <= ?3 ORDER BY sequence LIMIT ?4";

/// The latest time on the record, which is not always that of the last entry: clocks differ between nodes.
pub(crate) const LATEST: &str = "SELECT max(occurred_at) FROM audit_events WHERE org_id = ?1";

pub(crate) const LAST: &str = "SELECT sequence, entry_hash FROM audit_events WHERE org_id = ?1 ORDER BY sequence DESC LIMIT 1";

/// Entries that pass every filter that is set, newest first. `$driver` names the index that finds them.
macro_rules! entries {
    ($driver:literal, $order:literal) => {
        concat!(
            "SELECT sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                    request_id, payload, prev_hash, entry_hash, signature, kid
             FROM audit_events WHERE org_id = ?1 AND ",
            $driver,
            " AND (CAST(?3 AS TEXT) IS NULL OR event_type = ?3) AND (CAST(?4 AS TEXT) IS NULL OR actor_id = ?4)
              AND (CAST(?5 AS TEXT) IS NULL OR entity_id = ?5) AND (CAST(?6 AS TEXT) IS NULL OR request_id = ?6)
              AND occurred_at >= ?7 AND occurred_at < ?8 ",
            $order,
            " LIMIT ?9"
        )
    };
}

pub(crate) const ENTRIES: &str = entries!("sequence < ?2", "ORDER BY sequence DESC");
pub(crate) const ENTRIES_BY_TYPE: &str = entries!("event_type = ?3 AND sequence < ?2", "ORDER BY sequence DESC");
pub(crate) const ENTRIES_BY_ACTOR: &str = entries!("actor_id = ?4 AND sequence < ?2", "ORDER BY sequence DESC");
pub(crate) const ENTRIES_BY_ENTITY: &str = entries!("entity_id = ?5 AND sequence < ?2", "ORDER BY sequence DESC");
pub(crate) const ENTRIES_BY_REQUEST: &str = entries!("request_id = ?6 AND sequence < ?2", "ORDER BY sequence DESC");
/// Where only the time is known, time is also the order: it differs from the sequence only where the clock was set back.
pub(crate) const ENTRIES_BY_TIME: &str =
    entries!("(occurred_at < ?10 OR (occurred_at = ?10 AND sequence < ?2))", "ORDER BY occurred_at DESC, sequence DESC");
