-- Who opened a session that no key opened: a person, or the instance admin by the hash of that key. The session's key dies with
-- what its opener had.
ALTER TABLE keys ADD COLUMN opened_by TEXT;
CREATE INDEX keys_by_opener ON keys (opened_by, org_id) WHERE opened_by IS NOT NULL;

-- An agent that is locked out leaves no session behind.
CREATE INDEX sessions_of_agents ON sessions (org_id, agent_id) WHERE agent_id IS NOT NULL AND ended_at IS NULL;
