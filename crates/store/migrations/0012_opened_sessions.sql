-- Revoking a key ends the sessions it opened, which are found by the keys of those sessions.
CREATE INDEX keys_by_parent ON keys (org_id, parent_key_id) WHERE parent_key_id IS NOT NULL;
