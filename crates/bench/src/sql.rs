//! SQL that fills a database with rows, because creating them through the API would take hours.

pub(crate) const TRAIL_END: &str = "SELECT max(sequence) AS sequence FROM audit_events WHERE org_id = ?1";

pub(crate) const FILL_TRAIL: &str =
    "INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                               request_id, payload, prev_hash, entry_hash, signature, kid)
     VALUES (?1, ?2, ?3, ?4, ?5, 'session', ?6, 'tool', ?7, ?8, ?9, ?10, ?11, ?12, 'bench')";

/// Marks the trail as processed, so that followers of the trail do not run during the measurement.
pub(crate) const FOLLOWED: &str = "INSERT INTO hook_cursors (org_id, subscriber, sequence) VALUES (?1, 'figures', ?2)
     ON CONFLICT (org_id, subscriber) DO UPDATE SET sequence = excluded.sequence";
