//! The files of projects without a root.

pub(super) const READ: &str =
    "SELECT version, size, changed_at, CASE WHEN size <= ?4 THEN content END AS content FROM project_files
     WHERE org_id = ?1 AND project_id = ?2 AND path = ?3";

pub(super) const KEEP: &str = "INSERT INTO project_files (org_id, project_id, path, version, sha256, size, changed_at, content)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (org_id, project_id, path) DO UPDATE
     SET version = excluded.version, sha256 = excluded.sha256, size = excluded.size, changed_at = excluded.changed_at,
       content = excluded.content";

pub(super) const FORGET: &str = "DELETE FROM project_files WHERE org_id = ?1 AND project_id = ?2 AND path = ?3";

/// Counting stops a little above the limit.
pub(super) const COUNT: &str = "SELECT COUNT(*) AS files FROM (SELECT 1 AS one FROM project_files
     WHERE org_id = ?1 AND project_id = ?2 AND path <> ?3 LIMIT ?4) counted";

/// In the order of the engine, which is the same for each page.
pub(super) const LIST: &str = "SELECT path, version, sha256, size, changed_at FROM project_files
     WHERE org_id = ?1 AND project_id = ?2 AND path > ?3 ORDER BY path LIMIT ?4";
