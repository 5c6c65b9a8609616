//! Versions of files.

/// The columns that [`super::Version::from_row`] reads.
macro_rules! columns {
    () => {
        "id, path, version, change_type, source, agent_id, session_id, label, reason, moved_from, parent_id, sha256_before,
         sha256_after, size, lines_added, lines_removed, created_at, state, steps"
    };
}

/// The two newest versions of a file, also those in progress.
pub(super) const NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND version > 0 ORDER BY version DESC LIMIT 2"
);

pub(super) const INSERT: &str = "INSERT INTO file_versions (org_id, project_id, path, version, id, state, change_type, source, agent_id,
       session_id, label, reason, moved_from, parent_id, sha256_before, sha256_after, size, lines_added, lines_removed, created_at, steps,
       content)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)";

pub(super) const COMPLETE: &str =
    "UPDATE file_versions SET state = 1 WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND id = ?4 AND state = 0";

/// Frees the number of a version that was not done. Numbers below zero are not shown.
pub(super) const UNDO: &str = "UPDATE file_versions SET state = 2, steps = NULL, content = NULL, version = (SELECT
       CASE WHEN MIN(below.version) < 0 THEN MIN(below.version) ELSE 0 END - 1 FROM file_versions below
       WHERE below.org_id = ?1 AND below.project_id = ?2 AND below.path = ?3)
     WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND id = ?4 AND state = 0";

/// Gives a version without a kept content its content.
pub(super) const FILL: &str = "UPDATE file_versions SET steps = 0, content = ?5
     WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND id = ?4 AND steps IS NULL";

pub(super) const IN_PROGRESS: &str =
    "SELECT path FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND state = 0 ORDER BY path LIMIT ?3";

/// Everything from a whole content up to a version, oldest first.
pub(super) const CHAIN: &str = "SELECT version, steps, content FROM file_versions
     WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND version >= ?4 AND version <= ?5 ORDER BY version";

pub(super) const BY_ID: &str =
    concat!("SELECT ", columns!(), " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND id = ?3 AND state = 1");

pub(super) const BY_NUMBER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND version = ?4 AND state = 1"
);

pub(super) const AS_OF: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND version > 0 AND state = 1 AND created_at <= ?4
     ORDER BY version DESC LIMIT 1"
);

/// The versions of a file from a number on, oldest first.
pub(super) const SINCE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND path = ?3 AND version >= ?4 AND state = 1 ORDER BY version
     LIMIT ?5"
);

/// What both lists have in common. `?3` and `?4` are a time range, `?5` and `?6` the place of the cursor, `?7` an agent and `?8` a
/// session, which may be NULL, and `?9` to `?13` the wanted changes.
macro_rules! wanted {
    () => {
        " AND state = 1 AND created_at >= ?3 AND created_at < ?4 AND (created_at < ?5 OR (created_at = ?5 AND id < ?6))
          AND (CAST(?7 AS TEXT) IS NULL OR agent_id = ?7) AND (CAST(?8 AS TEXT) IS NULL OR session_id = ?8)
          AND change_type IN (?9, ?10, ?11, ?12, ?13) ORDER BY created_at DESC, id DESC LIMIT ?14"
    };
}

/// In a folder, or everywhere: `?16` is the folder with a `/`, and `?15` its length in characters.
pub(super) const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND (CAST(?15 AS BIGINT) = 0 OR substr(path, 1, CAST(?15 AS INTEGER)) = ?16)",
    wanted!()
);

/// Of one file: `?15`.
pub(super) const LIST_OF_FILE: &str =
    concat!("SELECT ", columns!(), " FROM file_versions WHERE org_id = ?1 AND project_id = ?2 AND path = ?15", wanted!());

/// The files that an agent or a session wrote, with their first version of it. One of `?3` and `?4` is NULL.
pub(super) const WRITTEN_BY: &str = "SELECT path, MIN(version) AS version FROM file_versions
     WHERE org_id = ?1 AND project_id = ?2 AND state = 1 AND (CAST(?3 AS TEXT) IS NULL OR session_id = ?3)
       AND (CAST(?4 AS TEXT) IS NULL OR agent_id = ?4) AND path > ?5
     GROUP BY path ORDER BY path LIMIT ?6";
