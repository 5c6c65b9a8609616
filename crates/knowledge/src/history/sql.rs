//! The rows that tell a history. Each stream is read newest first, behind a time and a key.

/// The start of a text.
macro_rules! start_of {
    ($column:literal) => {
        concat!("substr(", $column, ", 1, 200) AS detail")
    };
}

pub(super) const OBSERVATION: &str = concat!(
    "SELECT number, agent_id, session_id, hash, created_at, forgotten_at, forgotten_by, ",
    start_of!("content"),
    " FROM observations WHERE org_id = ?1 AND project_id = ?2 AND id = ?3"
);

/// Later observations of others with the same text. A forgotten one has no hash.
pub(super) const CORROBORATED: &str = "SELECT number, id, agent_id, session_id, created_at FROM observations
     WHERE org_id = ?1 AND project_id = ?2 AND hash = ?3 AND hash <> '' AND number > ?4 AND created_at >= ?5 AND created_at < ?6
     AND (created_at < ?7 OR (created_at = ?7 AND number < ?8)) ORDER BY created_at DESC, number DESC LIMIT ?9";

pub(super) const WEIGHT_MOVES: &str = "SELECT session_id, outcome, weight_before, weight_after, moved_at FROM weight_moves
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 AND moved_at >= ?4 AND moved_at < ?5
     AND (moved_at < ?6 OR (moved_at = ?6 AND session_id < ?7)) ORDER BY moved_at DESC, session_id DESC LIMIT ?8";

pub(super) const TRIPLET: &str = concat!(
    "SELECT number, agent_id, session_id, observation_id, learned_at, superseded_at, retracted_by, ",
    start_of!("text"),
    ", (SELECT other.id FROM triplets AS other WHERE other.org_id = triplets.org_id
          AND other.project_id = triplets.project_id AND other.number = triplets.superseded_by) AS successor
     FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND id = ?3"
);

/// Who stated a triplet again: everyone but its first statement (`?4`, `?5`, `?6`).
pub(super) const MENTIONS: &str = concat!(
    "SELECT agent_id, session_id, said_at, ",
    start_of!("description"),
    " FROM triplet_mentions WHERE org_id = ?1 AND project_id = ?2 AND number = ?3
     AND NOT (agent_id = ?4 AND session_id = ?5 AND said_at <= ?6) AND said_at >= ?7 AND said_at < ?8
     AND (said_at < ?9 OR (said_at = ?9 AND session_id < ?10)) ORDER BY said_at DESC, session_id DESC LIMIT ?11"
);

pub(super) const GRAPH_MOVES: &str = "SELECT change, session_id, outcome, weight_before, weight_after, moved_at FROM graph_moves
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 AND moved_at >= ?4 AND moved_at < ?5
     AND (moved_at < ?6 OR (moved_at = ?6 AND change < ?7)) ORDER BY moved_at DESC, change DESC LIMIT ?8";

pub(super) const ENTITY: &str = "SELECT number, name, type, agent_id, session_id, created_at FROM entities
     WHERE org_id = ?1 AND project_id = ?2 AND id = ?3";

/// Merges and splits that name an entity in one column, which has an index.
macro_rules! merges_by {
    ($column:literal) => {
        concat!(
            "SELECT entity_merges.number AS number, entity_merges.entity AS entity, entity_merges.merged AS merged,
               entity_merges.agent_id AS agent_id, entity_merges.session_id AS session_id,
               entity_merges.happened_at AS happened_at, one.id AS id, one.name AS name, other.id AS into_id,
               other.name AS into_name
             FROM entity_merges
             JOIN entities AS one ON one.org_id = entity_merges.org_id AND one.project_id = entity_merges.project_id
               AND one.number = entity_merges.entity
             JOIN entities AS other ON other.org_id = entity_merges.org_id AND other.project_id = entity_merges.project_id
               AND other.number = entity_merges.into_entity
             WHERE entity_merges.org_id = ?1 AND entity_merges.project_id = ?2 AND entity_merges.",
            $column,
            " = ?3 AND entity_merges.happened_at >= ?4 AND entity_merges.happened_at < ?5
             AND (entity_merges.happened_at < ?6 OR (entity_merges.happened_at = ?6 AND entity_merges.number < ?7))"
        )
    };
}

/// Merges and splits of an entity, and of others that were merged into it.
pub(super) const MERGES: &str =
    concat!(merges_by!("entity"), " UNION ALL ", merges_by!("into_entity"), " ORDER BY happened_at DESC, number DESC LIMIT ?8");

pub(super) const DECISION: &str = concat!(
    "SELECT agent_id, session_id, created_at, forgotten_at, forgotten_by, substr(reasoning, 1, 200) AS reason, ",
    start_of!("decision"),
    " FROM decisions WHERE org_id = ?1 AND project_id = ?2 AND id = ?3"
);

/// Everything that was written before a number, of one session or of all. One index gives the order within each table.
macro_rules! written {
    ($whose:literal) => {
        concat!(
            "SELECT number, id, agent_id, session_id, created_at, 'stored' AS word, ",
            start_of!("content"),
            " FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number < ?3 AND created_at >= ?4 AND created_at < ?5",
            $whose,
            " UNION ALL SELECT number, id, agent_id, session_id, learned_at AS created_at, 'learned' AS word, ",
            start_of!("text"),
            " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND number < ?3 AND learned_at >= ?4 AND learned_at < ?5",
            $whose,
            " UNION ALL SELECT number, id, agent_id, session_id, created_at, 'recorded' AS word, ",
            start_of!("decision"),
            " FROM decisions WHERE org_id = ?1 AND project_id = ?2 AND number < ?3 AND created_at >= ?4 AND created_at < ?5",
            $whose,
            " ORDER BY number DESC LIMIT ?6"
        )
    };
}

pub(super) const WRITTEN: &str = written!("");
pub(super) const WRITTEN_IN_SESSION: &str = written!(" AND session_id = ?7");

#[cfg(test)]
mod tests {
    use store::{Param, params};
    use testkit::{Engine, TestStore};

    use super::*;

    /// A page costs a few index lookups, however much the project knows.
    #[tokio::test]
    async fn pages_are_read_from_an_index() {
        let test = TestStore::open(Engine::Sqlite).await;
        let bounds = params!["p", 1_i64, 0_i64, i64::MAX, 5_i64, "k", 20_u32];
        let written = params!["p", i64::MAX, 0_i64, i64::MAX, 20_u32, "s"];
        let statements: [(&str, &[Param<'_>], &str); 7] = [
            (WRITTEN, &written[..5], "MERGE (UNION ALL)"),
            (WRITTEN_IN_SESSION, &written, "observations_by_session (org_id=? AND project_id=? AND session_id=? AND number<?)"),
            (WRITTEN_IN_SESSION, &written, "decisions_by_session (org_id=? AND project_id=? AND session_id=? AND number<?)"),
            (WEIGHT_MOVES, &bounds, "(org_id=? AND project_id=? AND number=?"),
            (GRAPH_MOVES, &bounds, "(org_id=? AND project_id=? AND number=?"),
            (MERGES, &bounds, "entity_merges_by_entity (org_id=? AND project_id=? AND entity=?"),
            (MERGES, &bounds, "entity_merges_by_target (org_id=? AND project_id=? AND into_entity=?"),
        ];
        for (statement, params, index) in statements {
            let explain = Box::leak(format!("EXPLAIN QUERY PLAN {statement}").into_boxed_str());
            let plan = test.new_org().query(explain, params, |row| row.get::<String>("detail")).await.unwrap().join("\n");
            assert!(plan.contains(index) && !plan.contains("SCAN"), "{statement}: {plan}");
            assert!(!statement.contains("learned_at") || !plan.contains("TEMP B-TREE"), "{statement}: {plan}");
        }
    }
}
