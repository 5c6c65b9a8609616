//! Policies. Every version is kept, one is current, and the current version of a deleted policy has no text.

pub(crate) const IN_FORCE: &str = "SELECT id, version, cedar, mode, created_by, created_at FROM policies
     WHERE org_id = ?1 AND is_current = 1 AND cedar IS NOT NULL ORDER BY id";

pub(crate) const VERSIONS: &str = "SELECT id, version, cedar, mode, created_by, created_at FROM policies
     WHERE org_id = ?1 AND id = ?2 ORDER BY version DESC LIMIT ?3";

pub(crate) const CURRENT: &str = "SELECT id, version, cedar, mode, created_by, created_at FROM policies
     WHERE org_id = ?1 AND id = ?2 AND is_current = 1";

pub(crate) const SUPERSEDE: &str = "UPDATE policies SET is_current = 0 WHERE org_id = ?1 AND id = ?2 AND is_current = 1";

pub(crate) const INSERT: &str =
    "INSERT INTO policies (org_id, id, version, cedar, mode, statements, is_current, created_by, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8)";

pub(crate) const SIZES_BESIDE: &str = "SELECT statements, CAST(length(cedar) AS BIGINT) AS chars FROM policies WHERE org_id = ?1 AND is_current = 1 AND cedar IS NOT NULL AND id <> ?2";

/// Orgs from releases without policies.
pub(crate) const ORGS_WITHOUT: &str =
    "SELECT org_id FROM orgs WHERE NOT EXISTS (SELECT 1 FROM policies WHERE policies.org_id = orgs.org_id) LIMIT ?1";
