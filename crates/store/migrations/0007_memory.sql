-- Memory. Everything a project knows is numbered by one counter, and every change of it has the counter's next number, so that an
-- index that has seen all changes up to one reads on from there.
CREATE TABLE knowledge_changes (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id)
);

-- `number` is the change that made it, `change` its latest. What is forgotten has no text any more.
CREATE TABLE observations (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    change BIGINT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    content TEXT NOT NULL,
    hash TEXT NOT NULL,
    simhash BIGINT NOT NULL,
    type TEXT NOT NULL,
    confidence DOUBLE PRECISION,
    weight DOUBLE PRECISION NOT NULL,
    corroborations BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    forgotten_at BIGINT,
    forgotten_by TEXT,
    PRIMARY KEY (org_id, project_id, number)
);
CREATE UNIQUE INDEX observations_by_id ON observations (org_id, id);
CREATE INDEX observations_by_change ON observations (org_id, project_id, change);
CREATE INDEX observations_by_hash ON observations (org_id, project_id, hash);
CREATE INDEX observations_by_agent ON observations (org_id, project_id, agent_id, number);
CREATE INDEX observations_by_session ON observations (org_id, project_id, session_id, number);

-- What texts mean, by the model that was asked. Components are 16-bit integers.
CREATE TABLE vectors (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    change BIGINT NOT NULL,
    model TEXT NOT NULL,
    dimension BIGINT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (org_id, project_id, number)
);
CREATE INDEX vectors_by_change ON vectors (org_id, project_id, change);
CREATE INDEX vectors_by_model ON vectors (org_id, model);

-- Texts that no vector was made for yet.
CREATE TABLE unembedded (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, number)
);

-- What each session was given: it moves when the session ends, and is not news when the session sends it back.
CREATE TABLE recalls (
    org_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    hash TEXT NOT NULL,
    simhash BIGINT NOT NULL,
    recalled_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, session_id, project_id, number)
);
CREATE INDEX recalls_by_hash ON recalls (org_id, session_id, hash);

-- Every move of a weight: one for each session and thing.
CREATE TABLE weight_moves (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    weight_before DOUBLE PRECISION NOT NULL,
    weight_after DOUBLE PRECISION NOT NULL,
    moved_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, number, session_id)
);
