//! Agents and their access tokens.

pub(crate) const INSERT: &str =
    "INSERT INTO agents (org_id, id, name, project_id, agent_key, secret_hash, scopes, tools, tool_names,
                         calls_per_minute, disabled, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?11)";

pub(crate) const GET: &str = "SELECT id, name, project_id, agent_key, scopes, tools, tool_names, calls_per_minute, disabled,
            created_at, updated_at
     FROM agents WHERE org_id = ?1 AND id = ?2";

/// `?5` is the caller's cover: NULL for all, otherwise a JSON array of project ids.
pub(crate) const LIST: &str = "SELECT id, name, project_id, agent_key, scopes, tools, tool_names, calls_per_minute, disabled,
            created_at, updated_at
     FROM agents WHERE org_id = ?1 AND (created_at < ?2 OR (created_at = ?2 AND id < ?3))
       AND (CAST(?5 AS TEXT) IS NULL OR ?5 LIKE '%\"' || project_id || '\"%')
     ORDER BY created_at DESC, id DESC LIMIT ?4";

pub(crate) const UPDATE: &str = "UPDATE agents SET scopes = ?3, tools = ?4, calls_per_minute = ?5, disabled = ?6, updated_at = ?7
     WHERE org_id = ?1 AND id = ?2";

pub(crate) const ROTATE: &str = "UPDATE agents SET secret_hash = ?3, updated_at = ?4 WHERE org_id = ?1 AND id = ?2";

pub(crate) const DELETE: &str = "DELETE FROM agents WHERE org_id = ?1 AND id = ?2";

pub(crate) const DELETE_TOKENS: &str = "DELETE FROM agent_tokens WHERE org_id = ?1 AND agent_id = ?2";

pub(crate) const DELETE_EXPIRED_TOKENS: &str =
    "DELETE FROM agent_tokens WHERE org_id = ?1 AND agent_id = ?2 AND expires_at <= ?3";

pub(crate) const ANY_EXPIRED_TOKEN: &str = "SELECT id FROM agent_tokens WHERE org_id = ?1 AND expires_at <= ?2 LIMIT 1";

pub(crate) const DELETE_SOME_EXPIRED_TOKENS: &str = "DELETE FROM agent_tokens WHERE org_id = ?1 AND id IN
     (SELECT id FROM agent_tokens WHERE org_id = ?1 AND expires_at <= ?2 LIMIT ?3)";

pub(crate) const INSERT_TOKEN: &str =
    "INSERT INTO agent_tokens (org_id, id, agent_id, hash, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// Finds an agent before its org is known.
pub(crate) const BY_AGENT_KEY: &str =
    "SELECT org_id, id, secret_hash, disabled, calls_per_minute FROM agents WHERE agent_key = ?1";

pub(crate) const STILL_ENABLED: &str =
    "SELECT scopes FROM agents WHERE org_id = ?1 AND id = ?2 AND secret_hash = ?3 AND disabled = 0";
