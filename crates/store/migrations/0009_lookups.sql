-- Which observations nobody was ever given: a report asks that of each.
CREATE INDEX recalls_by_observation ON recalls (org_id, project_id, number);

-- One lookup finds whether an agent has said a text before. Without the agent in it, a planner that knows no statistics may go
-- through everything that the agent ever said.
DROP INDEX observations_by_hash;
CREATE INDEX observations_by_hash ON observations (org_id, project_id, hash, agent_id);

-- The same of a token among all that an org has.
DROP INDEX agent_tokens_by_hash;
CREATE INDEX agent_tokens_by_hash ON agent_tokens (hash, org_id);
