-- A list of bricks is the call that agents make most. With all that it shows in the index, it reads no rows: on SQLite each would
-- cost a second search, by rowid.
DROP INDEX bricks_by_time;
CREATE INDEX bricks_by_time ON bricks (org_id, created_at, id, brick_key, name, status, current_version_id, updated_at);
-- The same for one status, so that the planner has no reason to look through those of all others.
DROP INDEX bricks_by_status;
CREATE INDEX bricks_by_status ON bricks (org_id, status, created_at, id, brick_key, name, current_version_id, updated_at);
