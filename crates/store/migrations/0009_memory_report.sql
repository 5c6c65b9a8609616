-- Which observations nobody was ever given: a report asks that of each.
CREATE INDEX recalls_by_observation ON recalls (org_id, project_id, number);
