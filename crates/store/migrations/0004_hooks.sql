-- What follows from events: who has seen how much of each org's trail, and what they made of it.

-- Each subscriber's place in the trail. A lease keeps a webhook with one node at a time.
CREATE TABLE hook_cursors (
    org_id TEXT NOT NULL,
    subscriber TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    leased_by TEXT,
    leased_until BIGINT,
    PRIMARY KEY (org_id, subscriber)
);

-- One row for each call that is over, by its place in the trail.
CREATE TABLE task_instances (
    org_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    request_id TEXT,
    verb TEXT NOT NULL,
    session_id TEXT,
    agent_id TEXT,
    project_id TEXT,
    state TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, sequence)
);

-- Sums over an hour. An empty agent or project is none.
CREATE TABLE cost_events (
    org_id TEXT NOT NULL,
    hour BIGINT NOT NULL,
    verb TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    calls BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    duration_us BIGINT NOT NULL,
    PRIMARY KEY (org_id, hour, verb, agent_id, project_id)
);

-- `part` counts the messages of the event after the cursor that have arrived, `tries` the failed deliveries of the next one.
CREATE TABLE webhooks (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    sealed_secret TEXT NOT NULL,
    disabled BIGINT NOT NULL,
    part BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    next_try_at BIGINT NOT NULL,
    last_success_at BIGINT,
    last_error TEXT,
    last_error_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX webhooks_by_time ON webhooks (org_id, created_at, id);

-- Messages that were given up, by their place among those of their event.
CREATE TABLE webhook_dead_letters (
    org_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    part BIGINT NOT NULL,
    message_type TEXT NOT NULL,
    error TEXT NOT NULL,
    failed_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, webhook_id, sequence, part)
);
