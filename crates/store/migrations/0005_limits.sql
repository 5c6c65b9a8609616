-- Rate limits that several nodes hold together: when each bucket will be full again, in microseconds. A full bucket needs no row.
CREATE TABLE rate_buckets (
    org_id TEXT NOT NULL,
    name TEXT NOT NULL,
    full_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, name)
);
