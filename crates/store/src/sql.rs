//! The store's own statements: schema versions and change numbers.

pub(crate) const CREATE_SCHEMA_VERSIONS: &str =
    "CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)";

pub(crate) const NEWEST_SCHEMA_VERSION: &str = "SELECT max(version) FROM schema_versions";

pub(crate) const RECORD_SCHEMA_VERSION: &str = "INSERT INTO schema_versions (version, applied_at) VALUES (?1, ?2)";

pub(crate) const BUMP_CHANGE_NUMBER: &str = "INSERT INTO changes (org_id, number) VALUES (?1, 1)
     ON CONFLICT (org_id) DO UPDATE SET number = changes.number + 1";

pub(crate) const CHANGE_NUMBER: &str = "SELECT number FROM changes WHERE org_id = ?1";

/// Proves that the store answers those who read.
pub(crate) const PING: &str = "SELECT 1";

/// Proves that the store takes writes.
pub(crate) const PROBE: &str =
    "INSERT INTO instance (name, value) VALUES ('probe', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// PostgreSQL only: writes of one org are serial, as they are on SQLite.
pub(crate) const LOCK_ORG: &str = "SELECT pg_advisory_xact_lock(hashtextextended(?1, 0))::text";

/// PostgreSQL only, for each new connection: what hangs gives up, so that it holds neither a connection nor the org's lane for
/// good. A closure's statements are short; none of them means to wait.
pub(crate) const SET_TIMEOUTS: &str =
    "SET statement_timeout = '30s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'";

/// PostgreSQL only: a migration takes the time it takes, and a node that starts waits for another that migrates.
pub(crate) const NO_STATEMENT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0";
/// See [`NO_STATEMENT_TIMEOUT`].
pub(crate) const NO_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = 0";

/// PostgreSQL only: one node migrates at a time.
pub(crate) const LOCK_MIGRATIONS: &str = "SELECT pg_advisory_xact_lock(7420)::text";

/// PostgreSQL only: a commit that writes something, and so waits for the log.
pub(crate) const FLUSH: &str =
    "INSERT INTO instance (name, value) VALUES ('flushed', '') ON CONFLICT (name) DO UPDATE SET value = ''";

/// Says that the rows came from a backup: a name for this restore, and the time of the backup. Whoever keeps something of the rows that
/// were there before sees by it that these are others.
pub(crate) const REMEMBER_RESTORE: &str =
    "INSERT INTO instance (name, value) VALUES ('restore', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// The restore that the rows came from, if any.
pub(crate) const LAST_RESTORE: &str = "SELECT value FROM instance WHERE name = 'restore'";
