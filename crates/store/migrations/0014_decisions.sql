-- Decisions that agents recorded. Each has an observation with the same text, so that recall finds it. The texts are deleted when the
-- observation is forgotten. `context` is a JSON object, `alternatives` a JSON array.
CREATE TABLE decisions (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    decision TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    context TEXT,
    confidence DOUBLE PRECISION,
    alternatives TEXT NOT NULL,
    impact TEXT,
    observation_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    forgotten_at BIGINT,
    forgotten_by TEXT,
    PRIMARY KEY (org_id, project_id, number)
);
CREATE UNIQUE INDEX decisions_by_id ON decisions (org_id, id);
CREATE INDEX decisions_by_agent ON decisions (org_id, project_id, agent_id, number);
CREATE INDEX decisions_by_session ON decisions (org_id, project_id, session_id, number);
CREATE INDEX decisions_by_observation ON decisions (org_id, project_id, observation_id);

-- Every merge of an entity into another, and every split. The entity itself keeps only its current state.
CREATE TABLE entity_merges (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    entity BIGINT NOT NULL,
    into_entity BIGINT NOT NULL,
    merged BIGINT NOT NULL,
    agent_id TEXT,
    session_id TEXT,
    happened_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, number)
);
CREATE INDEX entity_merges_by_entity ON entity_merges (org_id, project_id, entity, number);
CREATE INDEX entity_merges_by_target ON entity_merges (org_id, project_id, into_entity, number);
INSERT INTO entity_merges (org_id, project_id, number, entity, into_entity, merged, agent_id, session_id, happened_at)
    SELECT org_id, project_id, change, number, merged_into, 1, merged_agent, merged_session, merged_at FROM entities
    WHERE merged_into IS NOT NULL AND merged_at IS NOT NULL;

-- How long a call took, and why it failed. Times of calls have milliseconds, and most calls take less. Older rows have neither.
ALTER TABLE task_instances ADD COLUMN duration_us BIGINT;
ALTER TABLE task_instances ADD COLUMN error_kind TEXT;
