//! SQL that fills a database with rows, because creating them through the API would take hours.

pub(crate) const TRAIL_END: &str = "SELECT max(sequence) AS sequence FROM audit_events WHERE org_id = ?1";

pub(crate) const FILL_TRAIL: &str =
    "INSERT INTO audit_events (org_id, sequence, id, occurred_at, event_type, actor_type, actor_id, entity_type, entity_id,
                               request_id, payload, prev_hash, entry_hash, signature, kid)
     VALUES (?1, ?2, ?3, ?4, ?5, 'session', ?6, 'tool', ?7, ?8, ?9, ?10, ?11, ?12, 'bench')";

/// Marks the trail as processed, so that followers of the trail do not run during the measurement.
pub(crate) const FOLLOWED: &str = "INSERT INTO hook_cursors (org_id, subscriber, sequence) VALUES (?1, 'figures', ?2)
     ON CONFLICT (org_id, subscriber) DO UPDATE SET sequence = excluded.sequence";

pub(crate) const FILL_CHANGES: &str = "INSERT INTO knowledge_changes (org_id, project_id, number) VALUES (?1, ?2, ?3)";

pub(crate) const FILL_ENTITY: &str =
    "INSERT INTO entities (org_id, project_id, number, change, worded, id, name, type, text, weight, agent_id, session_id, created_at)
     VALUES (?1, ?2, ?3, ?3, ?3, ?4, ?5, 'component', ?5, 0.5, 'bench', 'bench', ?6)";

pub(crate) const FILL_NAME: &str = "INSERT INTO entity_names (org_id, project_id, folded, entity, name, alias)
     VALUES (?1, ?2, ?3, ?4, ?3, 0)";

pub(crate) const FILL_TRIPLET: &str =
    "INSERT INTO triplets (org_id, project_id, number, change, worded, id, source, relationship, target, description, text,
       functional, weight, agent_id, session_id, learned_at)
     VALUES (?1, ?2, ?3, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, 0.5, 'bench', 'bench', ?10)";

pub(crate) const FILL_VECTOR: &str = "INSERT INTO vectors (org_id, project_id, number, kind, change, model, dimension, vector)
     VALUES (?1, ?2, ?3, 'graph', ?4, ?5, ?6, ?7)";
