//! Entities, their names, triplets, who mentioned them, and how weights moved.
//!
//! Statements that find few rows by an index have no ORDER BY: to avoid a sort, the planner would rather scan the whole project
//! in order.

/// The columns that [`super::Entity::from_row`] reads.
macro_rules! entity_columns {
    () => {
        "number, id, name, type, weight, merged_into, created_at, kept_apart"
    };
}

/// The columns that [`super::manage::ListedEntity::from_row`] reads: with the id of the entity that an entity was merged into.
macro_rules! listed_entity_columns {
    () => {
        concat!(
            entity_columns!(),
            ", (SELECT other.id FROM entities AS other WHERE other.org_id = entities.org_id
               AND other.project_id = entities.project_id AND other.number = entities.merged_into) AS merged_into_id"
        )
    };
}

/// The columns that [`super::model::TripletRow::from_row`] reads.
macro_rules! triplet_columns {
    () => {
        "number, id, source, relationship, target, description, functional, weight, agent_id, session_id, observation_id,
         learned_at, superseded_at, valid_from, valid_to"
    };
}

/// Thirty-two numbers at once. A number that no row has fills unused places.
macro_rules! numbers {
    () => {
        "(?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28,
          ?29, ?30, ?31, ?32, ?33, ?34)"
    };
}

/// How many numbers [`ENTITIES`] and [`TRIPLETS`] take, and how many forms [`CALLED_MANY`].
pub(super) const NUMBERS_AT_ONCE: usize = 32;

pub(super) const ENTITIES: &str =
    concat!("SELECT ", entity_columns!(), " FROM entities WHERE org_id = ?1 AND project_id = ?2 AND number IN ", numbers!());

pub(super) const TRIPLETS: &str =
    concat!("SELECT ", triplet_columns!(), " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND number IN ", numbers!());

pub(super) const TRIPLET_IDS: &str =
    concat!("SELECT number, id FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND number IN ", numbers!());

pub(super) const ENTITY: &str =
    concat!("SELECT ", entity_columns!(), " FROM entities WHERE org_id = ?1 AND project_id = ?2 AND number = ?3");

pub(super) const ENTITY_BY_ID: &str =
    concat!("SELECT ", listed_entity_columns!(), " FROM entities WHERE org_id = ?1 AND project_id = ?2 AND id = ?3");

pub(super) const TRIPLET_BY_ID: &str =
    concat!("SELECT ", triplet_columns!(), " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND id = ?3");

/// Entities with a name, by one of at most two folded forms.
pub(super) const CALLED: &str = "SELECT entity, alias FROM entity_names
     WHERE org_id = ?1 AND project_id = ?2 AND folded IN (?3, ?4) ORDER BY alias, entity";

/// Entities with names, by up to [`NUMBERS_AT_ONCE`] folded forms.
pub(super) const CALLED_MANY: &str =
    concat!("SELECT folded, entity, alias FROM entity_names WHERE org_id = ?1 AND project_id = ?2 AND folded IN ", numbers!());

/// The same with the names as written.
pub(super) const NAMED_MANY: &str =
    concat!("SELECT folded, name FROM entity_names WHERE org_id = ?1 AND project_id = ?2 AND folded IN ", numbers!());

/// The names around a form in the order of forms.
pub(super) const NAMES_FROM: &str = "SELECT folded, name FROM entity_names
     WHERE org_id = ?1 AND project_id = ?2 AND folded >= ?3 ORDER BY folded LIMIT ?4";

pub(super) const NAMES_BEFORE: &str = "SELECT folded, name FROM entity_names
     WHERE org_id = ?1 AND project_id = ?2 AND folded < ?3 ORDER BY folded DESC LIMIT ?4";

/// Whether any entity is merged into another.
pub(super) const ANY_MERGED: &str =
    "SELECT 1 FROM entities WHERE org_id = ?1 AND project_id = ?2 AND merged_into IS NOT NULL LIMIT 1";

pub(super) const MERGED_INTO: &str = "SELECT number FROM entities WHERE org_id = ?1 AND project_id = ?2 AND merged_into = ?3";

pub(super) const INSERT_ENTITY: &str =
    "INSERT INTO entities (org_id, project_id, number, change, worded, id, name, type, text, weight, agent_id, session_id, created_at)
     VALUES (?1, ?2, ?3, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(super) const INSERT_NAME: &str = "INSERT INTO entity_names (org_id, project_id, folded, entity, name, alias)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";

pub(super) const NAMES_OF: &str = "SELECT DISTINCT name, alias FROM entity_names
     WHERE org_id = ?1 AND project_id = ?2 AND entity = ?3 ORDER BY alias, name LIMIT 50";

pub(super) const REWORD_ENTITY: &str = "UPDATE entities SET type = ?4, text = ?5, change = ?6, worded = ?6
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const MERGE: &str =
    "UPDATE entities SET merged_into = ?4, merged_agent = ?5, merged_session = ?6, merged_at = ?7, kept_apart = ?8, change = ?9
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const RECORD_MERGE: &str =
    "INSERT INTO entity_merges (org_id, project_id, number, entity, into_entity, merged, agent_id, session_id, happened_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8)";

/// Records a split from the entity that it is still merged into.
pub(super) const RECORD_SPLIT: &str =
    "INSERT INTO entity_merges (org_id, project_id, number, entity, into_entity, merged, agent_id, happened_at)
     SELECT org_id, project_id, CAST(?4 AS BIGINT), number, merged_into, 0, CAST(?5 AS TEXT), CAST(?6 AS BIGINT) FROM entities
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 AND merged_into IS NOT NULL";

/// Entities that an author merged: `?3` is an agent, `?4` a session, each may be NULL.
pub(super) const MERGED_BY: &str = "SELECT number FROM entities
     WHERE org_id = ?1 AND project_id = ?2 AND merged_into IS NOT NULL
     AND (CAST(?3 AS TEXT) IS NULL OR merged_agent = ?3) AND (CAST(?4 AS TEXT) IS NULL OR merged_session = ?4)
     AND merged_at >= ?5 ORDER BY number LIMIT ?6";

/// The same fact, if it is current at a time and has not ended, or ends when the new one says (`?7`).
pub(super) const SAME: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND source = ?3 AND relationship = ?4 AND target = ?5
     AND (superseded_at IS NULL OR superseded_at > ?6)
     AND (valid_to IS NULL OR valid_to > ?6 OR valid_to = CAST(?7 AS BIGINT)) ORDER BY number DESC LIMIT 1"
);

/// A fact that is current at a time, ended or not.
pub(super) const STATED: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND source = ?3 AND relationship = ?4 AND target = ?5
     AND (superseded_at IS NULL OR superseded_at > ?6) ORDER BY number DESC LIMIT 1"
);

/// Facts of one source and relationship that are current and true at a time.
pub(super) const STANDING: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND source = ?3 AND relationship = ?4
     AND (superseded_at IS NULL OR superseded_at > ?5) AND (valid_to IS NULL OR valid_to > ?5) LIMIT ?6"
);

pub(super) const INSERT_TRIPLET: &str =
    "INSERT INTO triplets (org_id, project_id, number, change, worded, id, source, relationship, target, description, text,
       functional, weight, agent_id, session_id, observation_id, learned_at, valid_from, valid_to)
     VALUES (?1, ?2, ?3, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

pub(super) const REWORD_TRIPLET: &str =
    "UPDATE triplets SET description = ?4, text = ?5, functional = ?6, change = ?7, worded = ?7
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const SUPERSEDE: &str = "UPDATE triplets SET superseded_at = ?4, superseded_by = ?5, retracted_by = ?6, change = ?7
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const MENTION: &str =
    "INSERT INTO triplet_mentions (org_id, project_id, number, agent_id, session_id, description, said_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (org_id, project_id, number, agent_id, session_id) DO UPDATE
     SET description = excluded.description, said_at = excluded.said_at";

pub(super) const MENTIONS: &str = "SELECT agent_id, session_id, description, said_at FROM triplet_mentions
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 ORDER BY said_at, session_id LIMIT 100";

/// For the graph engine: what changed after one change and up to another.
pub(crate) const ENTITIES_CHANGED: &str = "SELECT number, change, weight, merged_into FROM entities
     WHERE org_id = ?1 AND project_id = ?2 AND change > ?3 AND change <= ?4 ORDER BY change LIMIT ?5";

pub(crate) const TRIPLETS_CHANGED: &str =
    "SELECT number, change, source, relationship, target, weight, learned_at, superseded_at, valid_from, valid_to FROM triplets
     WHERE org_id = ?1 AND project_id = ?2 AND change > ?3 AND change <= ?4 ORDER BY change LIMIT ?5";

/// For the keyword index: entities and triplets in the order of their changes.
pub(crate) const WORDED: &str = "SELECT number, worded, text FROM entities
     WHERE org_id = ?1 AND project_id = ?2 AND worded > ?3 AND worded <= ?4
     UNION ALL SELECT number, worded, text FROM triplets
     WHERE org_id = ?1 AND project_id = ?2 AND worded > ?3 AND worded <= ?4 ORDER BY 2 LIMIT ?5";

pub(super) const VOTED: &str = "SELECT 1 FROM graph_moves
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 AND session_id = ?4 AND triplet = ?3";

pub(super) const WEIGH_TRIPLET: &str = "UPDATE triplets SET weight = ?4, change = ?5
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const WEIGH_ENTITY: &str = "UPDATE entities SET weight = ?4, change = ?5
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

pub(super) const RECORD_MOVE: &str =
    "INSERT INTO graph_moves (org_id, project_id, number, session_id, triplet, change, outcome, signal, weight_before, weight_after,
       moved_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(super) const MOVES: &str = "SELECT session_id, outcome, weight_before, weight_after, moved_at, signal FROM graph_moves
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 ORDER BY change LIMIT 1000";

/// Entities without merged ones. The next statement counts triplets and the current ones.
pub(super) const COUNT_ENTITIES: &str = "SELECT CAST(count(*) AS BIGINT) AS count FROM entities
     WHERE org_id = ?1 AND project_id = ?2 AND merged_into IS NULL";

pub(super) const COUNT_TRIPLETS: &str = "SELECT CAST(count(*) AS BIGINT) AS count,
       CAST(COALESCE(sum(CASE WHEN (superseded_at IS NULL OR superseded_at > ?3) AND (valid_to IS NULL OR valid_to > ?3)
         AND (valid_from IS NULL OR valid_from <= ?3) THEN 1 ELSE 0 END), 0) AS BIGINT) AS standing
     FROM triplets WHERE org_id = ?1 AND project_id = ?2";

/// Newest first. `?4` is an agent, `?5` a session, each may be NULL; `?6` is a time, and `?7` whether to include triplets that
/// are not current. A triplet that had ended before it was learned belongs to the time when it was true.
pub(super) const LIST_TRIPLETS: &str = "SELECT number FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND number < ?3
     AND (CAST(?4 AS TEXT) IS NULL OR agent_id = ?4) AND (CAST(?5 AS TEXT) IS NULL OR session_id = ?5)
     AND ((learned_at <= ?6 AND (?7 = 1 OR ((superseded_at IS NULL OR superseded_at > ?6)
         AND (valid_from IS NULL OR valid_from <= ?6) AND (valid_to IS NULL OR valid_to > ?6))))
       OR (valid_to <= learned_at AND superseded_at IS NULL AND (valid_from IS NULL OR valid_from <= ?6) AND valid_to > ?6))
     ORDER BY number DESC LIMIT ?8";

pub(super) const LIST_ENTITIES: &str = concat!(
    "SELECT ",
    listed_entity_columns!(),
    " FROM entities WHERE org_id = ?1 AND project_id = ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4"
);

/// Current triplets that only one author stated: `?3` is an agent, `?4` a session, each may be NULL.
pub(super) const OF_AUTHOR: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2
     AND (CAST(?3 AS TEXT) IS NULL OR agent_id = ?3) AND (CAST(?4 AS TEXT) IS NULL OR session_id = ?4) AND learned_at >= ?5
     AND (superseded_at IS NULL OR superseded_at > ?6)
     AND NOT EXISTS (SELECT 1 FROM triplet_mentions WHERE triplet_mentions.org_id = triplets.org_id
       AND triplet_mentions.project_id = triplets.project_id AND triplet_mentions.number = triplets.number
       AND triplet_mentions.agent_id <> triplets.agent_id)
     ORDER BY number LIMIT ?7"
);

/// Current triplets that were read from an observation and that nobody else stated.
pub(super) const OF_OBSERVATION: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND observation_id = ?3 AND (superseded_at IS NULL OR superseded_at > ?4)
     AND NOT EXISTS (SELECT 1 FROM triplet_mentions WHERE triplet_mentions.org_id = triplets.org_id
       AND triplet_mentions.project_id = triplets.project_id AND triplet_mentions.number = triplets.number
       AND triplet_mentions.agent_id <> triplets.agent_id)"
);

/// The triplets that a triplet superseded, unless they were retracted.
pub(super) const SUPERSEDED_BY: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2 AND superseded_by = ?3 AND retracted_by IS NULL"
);

/// Makes a triplet current, and cancels a scheduled end.
pub(super) const STAND: &str = "UPDATE triplets SET superseded_at = NULL, superseded_by = NULL, change = ?4
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

/// Marks a superseded triplet as retracted, so that it does not return.
pub(super) const RETRACT_SUPERSEDED: &str = "UPDATE triplets SET retracted_by = ?4
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3";

/// What an author stated and something else superseded. It must not return either.
pub(super) const SUPERSEDED_OF_AUTHOR: &str = concat!(
    "SELECT ",
    triplet_columns!(),
    " FROM triplets WHERE org_id = ?1 AND project_id = ?2
     AND (CAST(?3 AS TEXT) IS NULL OR agent_id = ?3) AND (CAST(?4 AS TEXT) IS NULL OR session_id = ?4) AND learned_at >= ?5
     AND superseded_at <= ?6 AND superseded_by IS NOT NULL AND retracted_by IS NULL ORDER BY number LIMIT ?7"
);

pub(super) const SAID_BY_OTHERS: &str = "SELECT 1 FROM triplet_mentions
     WHERE org_id = ?1 AND project_id = ?2 AND number = ?3 AND agent_id <> ?4 LIMIT 1";
