//! API keys. The secret's SHA-256 is stored; the secret never is.

/// A key's columns, as `Key::from_row` reads them.
macro_rules! columns {
    () => {
        "SELECT id, name, prefix, scopes, project_ids, created_at, expires_at, revoked_at, agent_ids, created_by FROM keys
         WHERE org_id = ?1 AND session_id IS NULL AND "
    };
}

pub(crate) const INSERT: &str =
    "INSERT INTO keys (org_id, id, name, hash, prefix, scopes, project_ids, session_id, parent_key_id,
                       opened_by, created_at, expires_at, agent_ids, created_by)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

pub(crate) const GET: &str = concat!(columns!(), "id = ?2");

pub(crate) const LIST: &str =
    concat!(columns!(), "(created_at < ?2 OR (created_at = ?2 AND id < ?3)) ORDER BY created_at DESC, id DESC LIMIT ?4");

/// The keys that the key or user `?2` created, directly or through other keys, that are valid at `?3`.
pub(crate) const MINTED_BY: &str = concat!(
    "WITH RECURSIVE line (id) AS (
       SELECT id FROM keys WHERE org_id = ?1 AND created_by = ?2
       UNION SELECT k.id FROM keys k JOIN line ON k.created_by = line.id WHERE k.org_id = ?1) ",
    columns!(),
    "id IN (SELECT id FROM line) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?3)
     ORDER BY created_at, id LIMIT ?4"
);

pub(crate) const REVOKE: &str =
    "UPDATE keys SET revoked_at = ?3 WHERE org_id = ?1 AND id = ?2 AND revoked_at IS NULL AND session_id IS NULL";

/// A session's key expires with its session and is revoked when the session is ended.
pub(crate) const ANY_DEAD_SESSION_KEY: &str = "SELECT id FROM keys
     WHERE org_id = ?1 AND session_id IS NOT NULL AND (expires_at <= ?2 OR revoked_at <= ?2) LIMIT 1";

pub(crate) const DELETE_DEAD_SESSION_KEYS: &str = "DELETE FROM keys WHERE org_id = ?1 AND id IN
     (SELECT id FROM keys
      WHERE org_id = ?1 AND session_id IS NOT NULL AND (expires_at <= ?2 OR revoked_at <= ?2) LIMIT ?3)";
