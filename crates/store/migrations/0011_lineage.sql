-- Which registered agents a key may open sessions for: NULL for all, else a JSON array. Keys that may do everything keep all
-- agents, other keys get none.
ALTER TABLE keys ADD COLUMN agent_ids TEXT DEFAULT '[]';
UPDATE keys SET agent_ids = NULL WHERE scopes = '*' OR scopes LIKE '* %';

-- Who made a key: a key, a person or the instance admin. The audit trail tells who made the keys that are there already.
ALTER TABLE keys ADD COLUMN created_by TEXT;
UPDATE keys SET created_by =
    (SELECT e.actor_id FROM audit_events e
     WHERE e.org_id = keys.org_id AND e.entity_id = keys.id AND e.event_type = 'key.minted' LIMIT 1)
WHERE session_id IS NULL;
CREATE INDEX keys_by_maker ON keys (org_id, created_by) WHERE created_by IS NOT NULL;
