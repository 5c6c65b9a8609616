//! Shared buckets. PostgreSQL only: the database provides the time, because the nodes' clocks may differ.

/// Takes `?3` microseconds' worth of tokens from a bucket with the capacity `?4`, if enough are left. A bucket below empty means that
/// the clock was set back or the rate was lowered. It counts as empty from now on. The commit is not synced: after a crash, only the
/// most recent spending is forgotten.
pub(super) const LEASE: &str = "INSERT INTO rate_buckets AS bucket (org_id, name, full_at)
     SELECT ?1, ?2, clock.now + CAST(?3 AS BIGINT)
     FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now) clock
     WHERE CAST(?3 AS BIGINT) <= CAST(?4 AS BIGINT) AND set_config('synchronous_commit', 'off', true) = 'off'
     ON CONFLICT (org_id, name) DO UPDATE
     SET full_at = LEAST(GREATEST(bucket.full_at, excluded.full_at - ?3) + ?3, excluded.full_at - ?3 + ?4)
     WHERE bucket.full_at <= excluded.full_at - ?3 + ?4 - ?3 OR bucket.full_at > excluded.full_at - ?3 + ?4
     RETURNING full_at";

/// Full buckets need no row.
pub(crate) const FORGET_FULL: &str = "DELETE FROM rate_buckets
     WHERE full_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";

/// In how many microseconds a bucket is full.
pub(super) const FILLS_IN: &str = "SELECT full_at - CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS fills_in
     FROM rate_buckets WHERE org_id = ?1 AND name = ?2";
