-- Policy, audit, and what follows from calls.

-- Every version of every policy: a deletion is a version without text.
CREATE TABLE policies (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    cedar TEXT,
    mode TEXT NOT NULL,
    statements BIGINT NOT NULL,
    is_current BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id, version)
);
CREATE INDEX policies_in_force ON policies (org_id, id) WHERE is_current = 1;

-- The public half in the clear, the private half encrypted under the master key, and gone when the key is retired.
CREATE TABLE audit_keys (
    org_id TEXT NOT NULL,
    kid TEXT NOT NULL,
    public_key TEXT NOT NULL,
    sealed_seed TEXT,
    created_at BIGINT NOT NULL,
    retired_at BIGINT,
    revoked_at BIGINT,
    revoked_reason TEXT,
    PRIMARY KEY (org_id, kid)
);

-- Gapless per org. `payload` is the canonical text that was hashed.
CREATE TABLE audit_events (
    org_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    id TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    event_type TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    request_id TEXT,
    payload TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    entry_hash TEXT NOT NULL,
    signature TEXT NOT NULL,
    kid TEXT NOT NULL,
    PRIMARY KEY (org_id, sequence)
);
CREATE INDEX audit_events_by_type ON audit_events (org_id, event_type, sequence);
CREATE INDEX audit_events_by_actor ON audit_events (org_id, actor_id, sequence);
CREATE INDEX audit_events_by_entity ON audit_events (org_id, entity_id, sequence);
CREATE INDEX audit_events_by_request ON audit_events (org_id, request_id, sequence);
CREATE INDEX audit_events_by_time ON audit_events (org_id, occurred_at, sequence);
