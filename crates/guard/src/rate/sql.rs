//! Shared buckets. Only PostgreSQL has them, and it tells the time: the nodes' clocks may differ.

/// Takes `?3` microseconds' worth of tokens out of a bucket that holds `?4`, if so many are left. One that is emptier than empty
/// is a clock that went back, or a rate that was lowered: it counts as empty from now on. Nobody waits for the disk: what a crash
/// forgets was spent a moment ago.
pub(super) const LEASE: &str = "INSERT INTO rate_buckets AS bucket (org_id, name, full_at)
     SELECT ?1, ?2, clock.now + CAST(?3 AS BIGINT)
     FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now) clock
     WHERE CAST(?3 AS BIGINT) <= CAST(?4 AS BIGINT) AND set_config('synchronous_commit', 'off', true) = 'off'
     ON CONFLICT (org_id, name) DO UPDATE
     SET full_at = LEAST(GREATEST(bucket.full_at, excluded.full_at - ?3) + ?3, excluded.full_at - ?3 + ?4)
     WHERE bucket.full_at <= excluded.full_at - ?3 + ?4 - ?3 OR bucket.full_at > excluded.full_at - ?3 + ?4
     RETURNING full_at";

/// Buckets that are full need no row.
pub(crate) const FORGET_FULL: &str = "DELETE FROM rate_buckets
     WHERE full_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";

/// In how many microseconds a bucket is full.
pub(super) const FILLS_IN: &str = "SELECT full_at - CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)
     FROM rate_buckets WHERE org_id = ?1 AND name = ?2";
