//! Statements of a report. `?3` is the oldest number that it covers.

/// The columns that [`super::Brief::from_row`] reads.
macro_rules! brief {
    () => {
        "id, agent_id, type, weight, created_at, CAST(length(content) AS BIGINT) AS characters,
         substr(content, 1, 200) AS excerpt"
    };
}

macro_rules! examined {
    () => {
        "FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number >= ?3 AND forgotten_at IS NULL"
    };
}

pub(super) const OLDEST: &str = "SELECT number FROM observations
     WHERE org_id = ?1 AND project_id = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3";

pub(super) const ALL: &str = "SELECT CAST(count(*) AS BIGINT) AS count FROM observations WHERE org_id = ?1 AND project_id = ?2";

/// A forgotten observation has no text and so no digest. An index counts these.
pub(super) const FORGOTTEN: &str =
    "SELECT CAST(count(*) AS BIGINT) AS count FROM observations WHERE org_id = ?1 AND project_id = ?2 AND hash = ''";

/// An intersection, because a join becomes a nested loop if the tables have outgrown their statistics.
pub(super) const WAITING: &str = "SELECT CAST(count(*) AS BIGINT) AS count FROM (
       SELECT number FROM unembedded WHERE org_id = ?1 AND project_id = ?2
       INTERSECT SELECT number FROM observations WHERE org_id = ?1 AND project_id = ?2
         AND number >= (SELECT min(number) FROM unembedded WHERE org_id = ?1 AND project_id = ?2)) waiting";

pub(super) const EXAMINED: &str = concat!(
    "SELECT CAST(count(*) AS BIGINT) AS count, CAST(count(CASE WHEN weight < 0.5 THEN 1 END) AS BIGINT) AS misleading ",
    examined!()
);

pub(super) const TYPES: &str = concat!(
    "SELECT type AS name, CAST(count(*) AS BIGINT) AS count ",
    examined!(),
    " GROUP BY type ORDER BY count(*) DESC, type LIMIT 10"
);

pub(super) const AGENTS: &str = concat!(
    "SELECT agent_id AS name, CAST(count(*) AS BIGINT) AS count ",
    examined!(),
    " GROUP BY agent_id ORDER BY count(*) DESC, agent_id LIMIT 10"
);

pub(super) const DUPLICATES: &str = concat!(
    "SELECT CAST(count(*) AS BIGINT) AS count FROM (SELECT hash ",
    examined!(),
    " GROUP BY hash HAVING count(*) > 1) repeated"
);

/// An agent stores a text only once, so the number of its observations is the number of agents.
pub(super) const SAID_OFTEN: &str = concat!(
    "SELECT ",
    brief!(),
    ", agents FROM (SELECT min(number) AS earliest, CAST(count(*) AS BIGINT) AS agents ",
    examined!(),
    " GROUP BY hash HAVING count(*) > 1 ORDER BY count(*) DESC, min(number) LIMIT 10) repeated
     JOIN observations ON org_id = ?1 AND project_id = ?2 AND number = earliest ORDER BY agents DESC, number"
);

/// The newest texts that can be nearly equal to others.
pub(super) const SIMHASHES: &str =
    concat!("SELECT number, hash, simhash ", examined!(), " AND simhash <> 0 ORDER BY number DESC LIMIT ?4");

pub(super) const BY_NUMBER: &str =
    concat!("SELECT ", brief!(), " FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number = ?3");

/// One index lookup per observation, for the same reason.
macro_rules! never_recalled {
    () => {
        " AND (SELECT 1 FROM recalls WHERE recalls.org_id = ?1 AND recalls.project_id = ?2
           AND recalls.number = observations.number LIMIT 1) IS NULL"
    };
}

pub(super) const NEVER_RECALLED: &str = concat!("SELECT CAST(count(*) AS BIGINT) AS count ", examined!(), never_recalled!());

pub(super) const OLDEST_NEVER_RECALLED: &str =
    concat!("SELECT ", brief!(), " ", examined!(), never_recalled!(), " ORDER BY created_at, number LIMIT 10");

pub(super) const MISLEADING: &str =
    concat!("SELECT ", brief!(), " ", examined!(), " AND weight < 0.5 ORDER BY weight, number LIMIT 10");

pub(super) const LARGEST: &str =
    concat!("SELECT ", brief!(), " ", examined!(), " ORDER BY length(content) DESC, number LIMIT 10");
