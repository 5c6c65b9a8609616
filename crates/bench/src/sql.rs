//! Rows that a benchmark fills a database with, in place of the hours it would take to make them.

pub(crate) const TRAIL_END: &str = "SELECT max(sequence) FROM audit_events WHERE org_id = ?1";

pub(crate) const FILL_TRAIL: &str =
    "INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                               request_id, payload, prev_hash, entry_hash, signature, kid)
     VALUES (?1, ?2, ?3, ?4, ?5, 'session', ?6, 'tool', ?7, ?8, ?9, ?10, ?11, ?12, 'bench')";

/// Whatever follows the trail is not what is measured.
pub(crate) const FOLLOWED: &str = "INSERT INTO hook_cursors (org_id, subscriber, sequence) VALUES (?1, 'figures', ?2)
     ON CONFLICT (org_id, subscriber) DO UPDATE SET sequence = excluded.sequence";
