//! The store's own statements: schema versions and change numbers.

pub(crate) const CREATE_SCHEMA_VERSIONS: &str =
    "CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)";

pub(crate) const NEWEST_SCHEMA_VERSION: &str = "SELECT max(version) AS version FROM schema_versions";

pub(crate) const RECORD_SCHEMA_VERSION: &str = "INSERT INTO schema_versions (version, applied_at) VALUES (?1, ?2)";

pub(crate) const BUMP_CHANGE_NUMBER: &str = "INSERT INTO changes (org_id, number) VALUES (?1, 1)
     ON CONFLICT (org_id) DO UPDATE SET number = changes.number + 1";

pub(crate) const CHANGE_NUMBER: &str = "SELECT number FROM changes WHERE org_id = ?1";

/// Proves that the store can be read.
pub(crate) const PING: &str = "SELECT 1";

/// Proves that the store can be written.
pub(crate) const PROBE: &str =
    "INSERT INTO instance (name, value) VALUES ('probe', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// PostgreSQL only: makes writes of one org serial, as on SQLite.
pub(crate) const LOCK_ORG: &str = "SELECT pg_advisory_xact_lock(hashtextextended(?1, 0))::text AS locked";

/// PostgreSQL only, for each new connection: a hanging statement times out, so that it does not hold a connection and the org's
/// lane forever. Our statements are short and never meant to wait.
pub(crate) const SET_TIMEOUTS: &str =
    "SET statement_timeout = '30s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'";

/// PostgreSQL only: marks that a server is connected, for as long as the connection lasts. Servers and restores exclude each
/// other.
pub(crate) const LOCK_AS_SERVER: &str = "SELECT pg_advisory_lock_shared(7420, 1) AS locked";

/// PostgreSQL only: keeps servers out until the connection ends, unless one is connected.
pub(crate) const TRY_LOCK_OUT_SERVERS: &str = "SELECT pg_try_advisory_lock(7420, 1) AS locked";

/// PostgreSQL only: a migration can take long, and a node that starts waits for another node's migration.
pub(crate) const NO_STATEMENT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0";
/// See [`NO_STATEMENT_TIMEOUT`].
pub(crate) const NO_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = 0";

/// PostgreSQL only: one node migrates at a time.
pub(crate) const LOCK_MIGRATIONS: &str = "SELECT pg_advisory_xact_lock(7420)::text AS locked";

/// PostgreSQL only: a commit that writes something, so it waits for the log.
pub(crate) const FLUSH: &str =
    "INSERT INTO instance (name, value) VALUES ('flushed', '') ON CONFLICT (name) DO UPDATE SET value = ''";

/// Marks the rows as restored: an id of this restore, and the time of the backup. A client that still has data from before the
/// restore can see that the rows are different.
pub(crate) const REMEMBER_RESTORE: &str =
    "INSERT INTO instance (name, value) VALUES ('restore', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// The restore that the rows come from, if any.
pub(crate) const LAST_RESTORE: &str = "SELECT value FROM instance WHERE name = 'restore'";
