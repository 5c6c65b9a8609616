//! Observations, their recalls, and the changes of their weights.

use base::Timestamp;

/// The columns that [`super::Observation::from_row`] reads.
macro_rules! columns {
    () => {
        "id, number, agent_id, session_id, content, type, confidence, weight, corroborations, created_at, forgotten_at"
    };
}

pub(super) const SAID_BEFORE: &str = "SELECT id FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND hash = ?3 AND agent_id = ?4 AND forgotten_at IS NULL";

pub(super) const SAID_BY_OTHERS: &str = "SELECT number FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND hash = ?3 AND forgotten_at IS NULL";

pub(super) const CORROBORATE: &str = "UPDATE observations SET corroborations = corroborations + 1, change = ?4
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const INSERT: &str =
    "INSERT INTO observations (org_id, project_id, number, change, id, agent_id, session_id, content, hash, simhash, type,
       confidence, weight, corroborations, created_at)
     VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1.0, ?12, ?13)";

/// Only the last thousand recalls of a session count.
pub(super) const GIVEN: &str = "SELECT observations.id, recalls.hash, recalls.simhash FROM recalls
     JOIN observations ON observations.org_id = recalls.org_id AND observations.project_id = recalls.project_id
       AND observations.number = recalls.number
     WHERE recalls.org_id = ?1 AND recalls.session_id = ?2 AND recalls.project_id = ?3
     ORDER BY recalls.number DESC LIMIT 1000";

/// The same for one text, unless it was forgotten.
pub(super) const GIVEN_EXACTLY: &str = "SELECT observations.id FROM recalls
     JOIN observations ON observations.org_id = recalls.org_id AND observations.project_id = recalls.project_id
       AND observations.number = recalls.number
     WHERE recalls.org_id = ?1 AND recalls.session_id = ?2 AND recalls.project_id = ?3 AND recalls.hash = ?4
       AND observations.hash = ?4 ORDER BY recalls.number LIMIT 1";

/// The texts of the last recalls, which bounds the work of comparing them.
pub(super) const GIVEN_TEXTS: &str = concat!(
    "SELECT ",
    columns!(),
    ", given_hash FROM observations JOIN (SELECT number AS given_number, hash AS given_hash, recalled_at FROM recalls
       WHERE org_id = ?1 AND session_id = ?2 AND project_id = ?3 ORDER BY recalled_at DESC, number DESC LIMIT 256) given
       ON observations.number = given.given_number
     WHERE observations.org_id = ?1 AND observations.project_id = ?3 ORDER BY given.recalled_at DESC, observations.number DESC"
);

pub(super) const RECENT_SIMHASHES: &str = "SELECT id, simhash FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND forgotten_at IS NULL ORDER BY number DESC LIMIT 100";

pub(crate) const CHANGED_SINCE: &str =
    "SELECT number, change, session_id, agent_id, content, type, weight, created_at, forgotten_at FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND change > ?3 ORDER BY change LIMIT ?4";

/// Up to sixteen at once. A number that no row has fills unused places.
pub(super) const BY_NUMBERS: &str = concat!(
    "SELECT ",
    columns!(),
    ", hash, simhash FROM observations WHERE org_id = ?1 AND project_id = ?2 AND forgotten_at IS NULL
     AND number IN (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
);

pub(super) const GIVE: &str = "INSERT INTO recalls (org_id, session_id, project_id, number, hash, simhash, recalled_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (org_id, session_id, project_id, number) DO UPDATE
     SET recalled_at = excluded.recalled_at";

/// What a session recalled and has not voted on.
pub(super) const TO_MOVE: &str = "SELECT recalls.project_id, recalls.number, observations.weight FROM recalls
     JOIN observations ON observations.org_id = recalls.org_id AND observations.project_id = recalls.project_id
       AND observations.number = recalls.number
     WHERE recalls.org_id = ?1 AND recalls.session_id = ?2 AND NOT EXISTS (SELECT 1 FROM weight_moves
       WHERE weight_moves.org_id = recalls.org_id AND weight_moves.project_id = recalls.project_id
         AND weight_moves.number = recalls.number AND weight_moves.session_id = recalls.session_id)
     ORDER BY recalls.project_id, recalls.number";

pub(super) const MOVE: &str = "UPDATE observations SET weight = ?4, change = ?5
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const RECORD_MOVE: &str =
    "INSERT INTO weight_moves (org_id, project_id, number, session_id, outcome, weight_before, weight_after, moved_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

pub(super) const MOVES: &str = "SELECT session_id, outcome, weight_before, weight_after, moved_at FROM weight_moves
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 ORDER BY moved_at, session_id";

pub(super) const BY_ID: &str =
    concat!("SELECT ", columns!(), " FROM observations WHERE org_id = ?1 AND project_id = ?2 AND id = ?3");

/// As of a time: what was known then and is not forgotten since. `?4` is an agent, `?5` a session, `?6` a type, each may be
/// NULL.
pub(super) const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number < ?3 AND forgotten_at IS NULL
     AND (CAST(?4 AS TEXT) IS NULL OR agent_id = ?4) AND (CAST(?5 AS TEXT) IS NULL OR session_id = ?5)
     AND (CAST(?6 AS TEXT) IS NULL OR type = ?6) AND created_at <= ?7 ORDER BY number DESC LIMIT ?8"
);

pub(super) const FORGET: &str =
    "UPDATE observations SET content = '', hash = '', simhash = 0, change = ?4, forgotten_at = ?5, forgotten_by = ?6
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const OF_AUTHOR: &str = "SELECT number, id FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND forgotten_at IS NULL
     AND (CAST(?3 AS TEXT) IS NULL OR agent_id = ?3) AND (CAST(?4 AS TEXT) IS NULL OR session_id = ?4) AND created_at >= ?5
     ORDER BY number LIMIT ?6";

/// Who stored which of up to sixteen texts. A digest that no text has fills unused places.
pub(super) const SAID_BY: &str = "SELECT hash, agent_id FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND forgotten_at IS NULL
     AND hash IN (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

/// Indexes do not use corroborations, so this is not a change for them.
pub(super) const CORROBORATE_TEXT: &str = "UPDATE observations SET corroborations = corroborations + ?4
     WHERE org_id = ?1 AND project_id = ?2 AND hash = ?3 AND forgotten_at IS NULL";

pub(super) const IMPORT: &str =
    "INSERT INTO observations (org_id, project_id, number, change, id, agent_id, session_id, content, hash, simhash, type,
       confidence, weight, corroborations, created_at)
     VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Queues the observations from this number on for embedding.
pub(super) const ENQUEUE_FROM: &str = "INSERT INTO unembedded (org_id, project_id, number, turn)
     SELECT org_id, project_id, number, number FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number >= ?3";

/// The indexed text of an observation. Author, type and day count as keywords too.
pub(crate) fn indexed_text(content: &str, kind: &str, agent: &str, created_at: Timestamp) -> String {
    let day: String = created_at.to_string().chars().take(10).collect();
    format!("{content}\n{kind} {agent} {day}")
}
