//! Sessions.

pub(crate) const INSERT: &str =
    "INSERT INTO sessions (org_id, id, project_id, agent_id, agent_label, work_type, tools, tool_names,
                           created_at, expires_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

pub(crate) const GET: &str = "SELECT id, project_id, agent_id, agent_label, work_type, tools, tool_names, outcome,
            created_at, expires_at, ended_at
     FROM sessions WHERE org_id = ?1 AND id = ?2";

/// `?5` is the caller's cover: NULL for all, otherwise a JSON array of project ids. `?6` is a state, or NULL for any, at the time `?7`.
/// Sessions from before `?8` are not searched.
pub(crate) const LIST: &str = "SELECT id, project_id, agent_id, agent_label, work_type, tools, tool_names, outcome,
            created_at, expires_at, ended_at
     FROM sessions WHERE org_id = ?1 AND (created_at < ?2 OR (created_at = ?2 AND id < ?3))
       AND (CAST(?5 AS TEXT) IS NULL OR ?5 LIKE '%\"' || project_id || '\"%')
       AND created_at >= ?8 AND (CAST(?6 AS TEXT) IS NULL OR ?6 =
         CASE WHEN ended_at IS NOT NULL THEN 'ended' WHEN expires_at <= ?7 THEN 'expired' ELSE 'open' END)
     ORDER BY created_at DESC, id DESC LIMIT ?4";

pub(crate) const OPEN_IN_PROJECT: &str = "SELECT id, agent_id, agent_label, work_type, created_at FROM sessions
     WHERE org_id = ?1 AND project_id = ?2 AND ended_at IS NULL AND expires_at > ?3 ORDER BY created_at DESC, id DESC LIMIT ?4";

pub(crate) const END: &str = "UPDATE sessions SET ended_at = ?3, outcome = ?4 WHERE org_id = ?1 AND id = ?2 AND ended_at IS NULL";

pub(crate) const REVOKE_KEYS: &str =
    "UPDATE keys SET revoked_at = ?3 WHERE org_id = ?1 AND session_id = ?2 AND revoked_at IS NULL";

pub(crate) const OPEN_OF_AGENT: &str =
    "SELECT id FROM sessions WHERE org_id = ?1 AND agent_id = ?2 AND ended_at IS NULL AND expires_at > ?3";

/// The open sessions that the key `?2` opened.
pub(crate) const OPENED_BY_KEY: &str = "SELECT s.id FROM keys k JOIN sessions s ON s.org_id = k.org_id AND s.id = k.session_id
     WHERE k.org_id = ?1 AND k.parent_key_id = ?2 AND s.ended_at IS NULL AND s.expires_at > ?3";

/// The open sessions that the user `?2` opened.
pub(crate) const OPENED_BY_USER: &str = "SELECT s.id FROM keys k JOIN sessions s ON s.org_id = k.org_id AND s.id = k.session_id
     WHERE k.org_id = ?1 AND k.opened_by = ?2 AND s.ended_at IS NULL AND s.expires_at > ?3";

pub(crate) const AGENT_PROJECT: &str = "SELECT project_id FROM agents WHERE org_id = ?1 AND id = ?2 AND disabled = 0";
