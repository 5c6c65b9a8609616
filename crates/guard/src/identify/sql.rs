//! Finds the org of a credential, before any scope is known.

pub(crate) const INSTANCE_KEY: &str = "SELECT hash FROM instance_keys WHERE hash = ?1";

pub(crate) const REMEMBER_INSTANCE_KEY: &str =
    "INSERT INTO instance_keys (hash, node, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (hash) DO NOTHING";

pub(crate) const FORGET_OTHER_INSTANCE_KEYS: &str = "DELETE FROM instance_keys WHERE node = ?2 AND hash <> ?1";

/// Orgs with live session keys that were opened with a revoked instance admin's key. Sessions that users opened are not included.
pub(crate) const ORGS_WITH_ORPHANS: &str = "SELECT DISTINCT org_id FROM keys
     WHERE opened_by IS NOT NULL AND opened_by NOT LIKE 'usr_%' AND revoked_at IS NULL
       AND opened_by NOT IN (SELECT hash FROM instance_keys)";

pub(crate) const REVOKE_ORPHANS: &str = "UPDATE keys SET revoked_at = ?2
     WHERE org_id = ?1 AND opened_by IS NOT NULL AND opened_by NOT LIKE 'usr_%' AND revoked_at IS NULL
       AND opened_by NOT IN (SELECT hash FROM instance_keys)";

pub(crate) const INSTANCE_KEY_STANDS: &str = "SELECT hash FROM instance_keys WHERE hash = ?2 AND CAST(?1 AS TEXT) IS NOT NULL";

pub(crate) const KEY_STANDS: &str = "SELECT id FROM keys
     WHERE org_id = ?1 AND id = ?2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?3)";

pub(crate) const LOGIN_STANDS: &str = "SELECT user_id FROM logins WHERE org_id = ?1 AND token_hash = ?2 AND expires_at > ?3";

pub(crate) const ORG_OF_KEY: &str = "SELECT org_id FROM keys WHERE hash = ?1";

pub(crate) const KEY: &str = "SELECT k.id, k.scopes, k.project_ids, k.session_id, k.parent_key_id,
            k.expires_at, k.revoked_at, p.expires_at AS parent_expires_at, p.revoked_at AS parent_revoked_at, k.agent_ids
     FROM keys k LEFT JOIN keys p ON p.org_id = k.org_id AND p.id = k.parent_key_id
     WHERE k.org_id = ?1 AND k.hash = ?2";

pub(crate) const ORG_OF_SESSION: &str = "SELECT org_id FROM sessions WHERE id = ?1";

pub(crate) const SESSION: &str = "SELECT s.agent_id, s.agent_label, s.work_type, s.tools, s.tool_names, s.expires_at, s.ended_at,
            p.id AS project_id, p.root, p.memory_enabled, p.graph_enabled, o.plan_has_graph,
            a.scopes AS agent_scopes, a.tools AS agent_tools,
            CAST(CASE WHEN EXISTS (SELECT 1 FROM project_files f WHERE f.org_id = p.org_id AND f.project_id = p.id)
              THEN 1 ELSE 0 END AS BIGINT) AS has_files
     FROM sessions s
     JOIN projects p ON p.org_id = s.org_id AND p.id = s.project_id
     JOIN orgs o ON o.org_id = s.org_id
     LEFT JOIN agents a ON a.org_id = s.org_id AND a.id = s.agent_id
     WHERE s.org_id = ?1 AND s.id = ?2";

pub(crate) const ORG_OF_TOKEN: &str = "SELECT org_id FROM agent_tokens WHERE hash = ?1";

pub(crate) const TOKEN: &str = "SELECT t.id AS token_id, t.expires_at, a.id AS agent_id, a.scopes, a.tools, a.tool_names,
            a.calls_per_minute, a.disabled, a.project_id, p.root, p.memory_enabled, p.graph_enabled, o.plan_has_graph,
            CAST(CASE WHEN EXISTS (SELECT 1 FROM project_files f WHERE f.org_id = p.org_id AND f.project_id = p.id)
              THEN 1 ELSE 0 END AS BIGINT) AS has_files
     FROM agent_tokens t
     JOIN agents a ON a.org_id = t.org_id AND a.id = t.agent_id
     JOIN orgs o ON o.org_id = t.org_id
     LEFT JOIN projects p ON p.org_id = a.org_id AND p.id = a.project_id
     WHERE t.org_id = ?1 AND t.hash = ?2";
