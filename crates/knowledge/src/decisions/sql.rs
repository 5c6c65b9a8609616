//! Decisions.

/// The columns that [`super::Decision::from_row`] reads.
macro_rules! columns {
    () => {
        "id, number, agent_id, session_id, decision, reasoning, context, confidence, alternatives, impact, observation_id,
         created_at, forgotten_at"
    };
}

pub(super) const INSERT: &str =
    "INSERT INTO decisions (org_id, project_id, number, id, agent_id, session_id, decision, reasoning, context, confidence,
       alternatives, impact, observation_id, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

pub(super) const BY_ID: &str =
    concat!("SELECT ", columns!(), " FROM decisions WHERE org_id = ?1 AND project_id = ?2 AND id = ?3");

/// Newest first. `?4` is an agent, `?5` a session, each may be NULL; `?6` and `?7` are times.
pub(super) const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM decisions WHERE org_id = ?1 AND project_id = ?2 AND number < ?3 AND forgotten_at IS NULL
     AND (CAST(?4 AS TEXT) IS NULL OR agent_id = ?4) AND (CAST(?5 AS TEXT) IS NULL OR session_id = ?5)
     AND created_at >= ?6 AND created_at < ?7 ORDER BY number DESC LIMIT ?8"
);

pub(super) const FORGET_OF_OBSERVATION: &str =
    "UPDATE decisions SET decision = '', reasoning = '', context = NULL, alternatives = '[]', forgotten_at = ?4, forgotten_by = ?5
     WHERE org_id = ?1 AND project_id = ?2 AND observation_id = ?3 AND forgotten_at IS NULL";

/// `?5` is an agent, `?6` a session, each may be NULL.
pub(super) const FORGET_OF_AUTHOR: &str =
    "UPDATE decisions SET decision = '', reasoning = '', context = NULL, alternatives = '[]', forgotten_at = ?3, forgotten_by = ?4
     WHERE org_id = ?1 AND project_id = ?2 AND number IN (SELECT number FROM decisions
       WHERE org_id = ?1 AND project_id = ?2 AND forgotten_at IS NULL
       AND (CAST(?5 AS TEXT) IS NULL OR agent_id = ?5) AND (CAST(?6 AS TEXT) IS NULL OR session_id = ?6)
       AND created_at >= ?7 ORDER BY number LIMIT ?8)";
