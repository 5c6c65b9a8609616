-- Filters of the audit trail are read off an index in the order of time, so that a filter and a stretch of time are one range.
DROP INDEX audit_events_by_type;
DROP INDEX audit_events_by_actor;
DROP INDEX audit_events_by_entity;
DROP INDEX audit_events_by_request;
CREATE INDEX audit_events_by_type ON audit_events (org_id, event_type, occurred_at, sequence);
CREATE INDEX audit_events_by_actor ON audit_events (org_id, actor_id, occurred_at, sequence);
CREATE INDEX audit_events_by_entity ON audit_events (org_id, entity_id, occurred_at, sequence);
CREATE INDEX audit_events_by_request ON audit_events (org_id, request_id, occurred_at, sequence);
