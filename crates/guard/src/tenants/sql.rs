//! Orgs, projects, and data of the instance itself.

pub(crate) const REMEMBER_MASTER_KEY: &str =
    "INSERT INTO instance (name, value) VALUES ('master_key', ?1) ON CONFLICT (name) DO NOTHING";

pub(crate) const MASTER_KEY: &str = "SELECT value FROM instance WHERE name = 'master_key'";

pub(crate) const FIND_ORG: &str = "SELECT org_id FROM orgs WHERE org_id = ?1 OR slug = ?1";

pub(crate) const INSERT_ORG: &str =
    "INSERT INTO orgs (org_id, name, slug, plan_has_graph, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT DO NOTHING";

pub(crate) const ORG: &str = "SELECT org_id, name, slug, plan_has_graph, created_at FROM orgs WHERE org_id = ?1";

pub(crate) const LIST_ORGS: &str = "SELECT org_id, name, slug, plan_has_graph, created_at FROM orgs
     WHERE created_at < ?1 OR (created_at = ?1 AND org_id < ?2)
     ORDER BY created_at DESC, org_id DESC LIMIT ?3";

pub(crate) const UPDATE_ORG: &str = "UPDATE orgs SET name = ?2, plan_has_graph = ?3 WHERE org_id = ?1";

pub(crate) const INSERT_PROJECT: &str =
    "INSERT INTO projects (org_id, id, name, root, memory_enabled, graph_enabled, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) ON CONFLICT DO NOTHING";

pub(crate) const PROJECT: &str = "SELECT id, name, root, memory_enabled, graph_enabled, created_at, updated_at
     FROM projects WHERE org_id = ?1 AND id = ?2";

/// `?5` is the caller's cover: NULL for all, otherwise a JSON array of ids.
pub(crate) const LIST_PROJECTS: &str = "SELECT id, name, root, memory_enabled, graph_enabled, created_at, updated_at
     FROM projects WHERE org_id = ?1 AND (created_at < ?2 OR (created_at = ?2 AND id < ?3))
       AND (CAST(?5 AS TEXT) IS NULL OR ?5 LIKE '%\"' || id || '\"%')
     ORDER BY created_at DESC, id DESC LIMIT ?4";

pub(crate) const PROJECT_EXISTS: &str = "SELECT id FROM projects WHERE org_id = ?1 AND id = ?2";

/// Files that agents wrote into a project without a root.
pub(crate) const PROJECT_HAS_FILES: &str = "SELECT path FROM project_files WHERE org_id = ?1 AND project_id = ?2 LIMIT 1";

pub(crate) const PROJECT_NAMED: &str = "SELECT id FROM projects WHERE org_id = ?1 AND name = ?2";

pub(crate) const UPDATE_PROJECT: &str =
    "UPDATE projects SET name = ?3, root = ?4, memory_enabled = ?5, graph_enabled = ?6, updated_at = ?7
     WHERE org_id = ?1 AND id = ?2";
