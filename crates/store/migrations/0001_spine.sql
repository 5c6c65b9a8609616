-- The spine: tenants, credentials, sessions, people, bricks and kits.
-- Times are milliseconds, switches 0 or 1, lists JSON. org_id leads every key, so that tenants can be sharded.

CREATE TABLE instance (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE instance_keys (
    hash TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE changes (
    org_id TEXT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL
);

CREATE TABLE orgs (
    org_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    plan_has_graph BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX orgs_by_slug ON orgs (slug);

CREATE TABLE projects (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    root TEXT,
    memory_enabled BIGINT NOT NULL,
    graph_enabled BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX projects_by_name ON projects (org_id, name);

CREATE TABLE keys (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    prefix TEXT NOT NULL,
    scopes TEXT NOT NULL,
    project_ids TEXT,
    session_id TEXT,
    parent_key_id TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX keys_by_hash ON keys (hash);
CREATE INDEX keys_by_session ON keys (org_id, session_id);
CREATE INDEX keys_by_time ON keys (org_id, created_at, id) WHERE session_id IS NULL;

CREATE TABLE sessions (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    agent_id TEXT,
    agent_label TEXT,
    work_type TEXT,
    tools TEXT,
    tool_names TEXT NOT NULL,
    outcome TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX sessions_by_id ON sessions (id);
CREATE INDEX sessions_by_time ON sessions (org_id, created_at, id);

CREATE TABLE agents (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    project_id TEXT,
    agent_key TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    scopes TEXT NOT NULL,
    tools TEXT NOT NULL,
    tool_names TEXT NOT NULL,
    calls_per_minute BIGINT,
    disabled BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX agents_by_agent_key ON agents (agent_key);

CREATE TABLE agent_tokens (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX agent_tokens_by_hash ON agent_tokens (hash);
CREATE INDEX agent_tokens_by_agent ON agent_tokens (org_id, agent_id);

CREATE TABLE users (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    disabled BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX users_by_email ON users (email);

CREATE TABLE logins (
    org_id TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, token_hash)
);
CREATE INDEX logins_by_token ON logins (token_hash);

CREATE TABLE bricks (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    brick_key TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    current_version_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX bricks_by_key ON bricks (org_id, brick_key);
CREATE INDEX bricks_by_time ON bricks (org_id, created_at, id);
CREATE INDEX bricks_by_status ON bricks (org_id, status, created_at, id);

CREATE TABLE brick_versions (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    brick_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    status TEXT NOT NULL,
    evaluation_prompt TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    published_at BIGINT,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX brick_versions_by_brick ON brick_versions (org_id, brick_id, version);

CREATE TABLE kits (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kit_code TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    current_version_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX kits_by_code ON kits (org_id, kit_code);
CREATE INDEX kits_by_time ON kits (org_id, created_at, id);
CREATE INDEX kits_by_status ON kits (org_id, status, created_at, id);

CREATE TABLE kit_versions (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kit_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    status TEXT NOT NULL,
    notes TEXT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    published_at BIGINT,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX kit_versions_by_kit ON kit_versions (org_id, kit_id, version);

CREATE TABLE kit_version_bricks (
    org_id TEXT NOT NULL,
    kit_version_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    brick_id TEXT NOT NULL,
    brick_version_id TEXT NOT NULL,
    PRIMARY KEY (org_id, kit_version_id, position)
);
