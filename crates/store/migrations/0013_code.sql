-- The current files of projects without a root. Contents are compressed.
CREATE TABLE project_files (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    path TEXT NOT NULL,
    version BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (org_id, project_id, path)
);

-- Every version of a file. `state` is 0 while its file is being written, 1 when that is done, 2 if it was not done. Versions that
-- were not done have numbers below zero. `steps` counts the changes to apply after the last whole content: 0 is a whole content,
-- and a version without a kept content has none. A deleted file has no `sha256_after`.
CREATE TABLE file_versions (
    org_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    path TEXT NOT NULL,
    version BIGINT NOT NULL,
    id TEXT NOT NULL,
    state BIGINT NOT NULL,
    change_type TEXT NOT NULL,
    source TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    label TEXT,
    reason TEXT,
    moved_from TEXT,
    parent_id TEXT,
    sha256_before TEXT,
    sha256_after TEXT,
    size BIGINT,
    lines_added BIGINT,
    lines_removed BIGINT,
    created_at BIGINT NOT NULL,
    steps BIGINT,
    content BYTEA,
    PRIMARY KEY (org_id, project_id, path, version)
);
CREATE UNIQUE INDEX file_versions_by_id ON file_versions (org_id, id);
CREATE INDEX file_versions_by_time ON file_versions (org_id, project_id, created_at, id);
CREATE INDEX file_versions_by_session ON file_versions (org_id, project_id, session_id, path);
CREATE INDEX file_versions_by_agent ON file_versions (org_id, project_id, agent_id, path);
CREATE INDEX file_versions_in_progress ON file_versions (org_id, project_id, path) WHERE state = 0;
