-- The knowledge graph. Entities and triplets are numbered by the counter of the project, like everything it knows: `number` is the
-- change that made it, `change` its latest, and `worded` the latest that changed the text it is found by.
CREATE TABLE entities (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    change BIGINT NOT NULL,
    worded BIGINT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    text TEXT NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    merged_into BIGINT,
    merged_agent TEXT,
    merged_session TEXT,
    merged_at BIGINT,
    kept_apart BIGINT NOT NULL DEFAULT 0,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, number)
);
CREATE UNIQUE INDEX entities_by_id ON entities (org_id, id);
CREATE INDEX entities_by_change ON entities (org_id, project_id, change);
CREATE INDEX entities_by_words ON entities (org_id, project_id, worded);
-- Who merged it is kept, so that it can be undone with what else they stated. What people have split stays apart.
CREATE INDEX entities_by_merge ON entities (org_id, project_id, merged_into) WHERE merged_into IS NOT NULL;

-- What entities are called: each name and alias in every folded form.
CREATE TABLE entity_names (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    folded TEXT NOT NULL,
    entity BIGINT NOT NULL,
    name TEXT NOT NULL,
    alias BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, folded, entity)
);
CREATE INDEX entity_names_by_entity ON entity_names (org_id, project_id, entity);

-- A triplet is never changed into another and never deleted: a newer one supersedes it. It names the entities it was said of, and a
-- merge is looked up when it is read.
CREATE TABLE triplets (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    change BIGINT NOT NULL,
    worded BIGINT NOT NULL,
    id TEXT NOT NULL,
    source BIGINT NOT NULL,
    relationship TEXT NOT NULL,
    target BIGINT NOT NULL,
    description TEXT NOT NULL,
    text TEXT NOT NULL,
    functional BIGINT NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    observation_id TEXT,
    learned_at BIGINT NOT NULL,
    superseded_at BIGINT,
    superseded_by BIGINT,
    retracted_by TEXT,
    valid_from BIGINT,
    valid_to BIGINT,
    PRIMARY KEY (org_id, project_id, number)
);
CREATE UNIQUE INDEX triplets_by_id ON triplets (org_id, id);
CREATE INDEX triplets_by_change ON triplets (org_id, project_id, change);
CREATE INDEX triplets_by_words ON triplets (org_id, project_id, worded);
CREATE INDEX triplets_by_source ON triplets (org_id, project_id, source, relationship, target, number);
CREATE INDEX triplets_by_agent ON triplets (org_id, project_id, agent_id, number);
CREATE INDEX triplets_by_session ON triplets (org_id, project_id, session_id, number);
CREATE INDEX triplets_by_observation ON triplets (org_id, project_id, observation_id) WHERE observation_id IS NOT NULL;
CREATE INDEX triplets_by_successor ON triplets (org_id, project_id, superseded_by) WHERE superseded_by IS NOT NULL;

-- Who said a triplet, and how they described it: the first who did, and everyone after.
CREATE TABLE triplet_mentions (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    description TEXT NOT NULL,
    said_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, number, agent_id, session_id)
);

-- Every move of a weight: one for each session, triplet, and thing that it moved (the triplet itself and its two entities).
CREATE TABLE graph_moves (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    triplet BIGINT NOT NULL,
    change BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    signal DOUBLE PRECISION NOT NULL,
    weight_before DOUBLE PRECISION NOT NULL,
    weight_after DOUBLE PRECISION NOT NULL,
    moved_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, project_id, number, session_id, triplet)
);

-- Vectors of observations and of the graph are read apart.
ALTER TABLE vectors ADD COLUMN kind TEXT NOT NULL DEFAULT 'observation';
ALTER TABLE unembedded ADD COLUMN kind TEXT NOT NULL DEFAULT 'observation';
-- The change that made it wait: when a text is changed meanwhile, a vector of the older text is not taken for it.
ALTER TABLE unembedded ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
DROP INDEX vectors_by_change;
CREATE INDEX vectors_by_change ON vectors (org_id, project_id, kind, change);
