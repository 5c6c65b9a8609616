//! What a report asks. `?3` is the oldest number that it looks at.

/// What [`super::Brief::from_row`] reads.
macro_rules! brief {
    () => {
        "id, agent_id, type, weight, created_at, CAST(length(content) AS BIGINT), substr(content, 1, 200)"
    };
}

macro_rules! examined {
    () => {
        "FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number >= ?3 AND forgotten_at IS NULL"
    };
}

pub(super) const OLDEST: &str = "SELECT number FROM observations
     WHERE org_id = ?1 AND project_id = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3";

pub(super) const ALL: &str = "SELECT CAST(count(*) AS BIGINT) FROM observations WHERE org_id = ?1 AND project_id = ?2";

/// What was forgotten has no text, and so no digest: this is counted in an index.
pub(super) const FORGOTTEN: &str =
    "SELECT CAST(count(*) AS BIGINT) FROM observations WHERE org_id = ?1 AND project_id = ?2 AND hash = ''";

/// An intersection, because a join is planned as a loop within a loop where the tables have grown faster than their statistics.
pub(super) const WAITING: &str = "SELECT CAST(count(*) AS BIGINT) FROM (
       SELECT number FROM unembedded WHERE org_id = ?1 AND project_id = ?2
       INTERSECT SELECT number FROM observations WHERE org_id = ?1 AND project_id = ?2
         AND number >= (SELECT min(number) FROM unembedded WHERE org_id = ?1 AND project_id = ?2)) waiting";

pub(super) const EXAMINED: &str =
    concat!("SELECT CAST(count(*) AS BIGINT), CAST(count(CASE WHEN weight < 0.5 THEN 1 END) AS BIGINT) ", examined!());

pub(super) const TYPES: &str =
    concat!("SELECT type, CAST(count(*) AS BIGINT) ", examined!(), " GROUP BY type ORDER BY count(*) DESC, type LIMIT 10");

pub(super) const AGENTS: &str = concat!(
    "SELECT agent_id, CAST(count(*) AS BIGINT) ",
    examined!(),
    " GROUP BY agent_id ORDER BY count(*) DESC, agent_id LIMIT 10"
);

pub(super) const DUPLICATES: &str =
    concat!("SELECT CAST(count(*) AS BIGINT) FROM (SELECT hash ", examined!(), " GROUP BY hash HAVING count(*) > 1) repeated");

/// An agent says a text once, so those who said it are as many as its observations.
pub(super) const SAID_OFTEN: &str = concat!(
    "SELECT ",
    brief!(),
    ", agents FROM (SELECT min(number) AS earliest, CAST(count(*) AS BIGINT) AS agents ",
    examined!(),
    " GROUP BY hash HAVING count(*) > 1 ORDER BY count(*) DESC, min(number) LIMIT 10) repeated
     JOIN observations ON org_id = ?1 AND project_id = ?2 AND number = earliest ORDER BY agents DESC, number"
);

/// Texts that can be nearly the same as others, the newest.
pub(super) const SIMHASHES: &str =
    concat!("SELECT number, hash, simhash ", examined!(), " AND simhash <> 0 ORDER BY number DESC LIMIT ?4");

pub(super) const BY_NUMBER: &str =
    concat!("SELECT ", brief!(), " FROM observations WHERE org_id = ?1 AND project_id = ?2 AND number = ?3");

/// One look into an index for each, for the same reason.
macro_rules! never_recalled {
    () => {
        " AND (SELECT 1 FROM recalls WHERE recalls.org_id = ?1 AND recalls.project_id = ?2
           AND recalls.number = observations.number LIMIT 1) IS NULL"
    };
}

pub(super) const NEVER_RECALLED: &str = concat!("SELECT CAST(count(*) AS BIGINT) ", examined!(), never_recalled!());

pub(super) const OLDEST_NEVER_RECALLED: &str =
    concat!("SELECT ", brief!(), " ", examined!(), never_recalled!(), " ORDER BY created_at, number LIMIT 10");

pub(super) const MISLEADING: &str =
    concat!("SELECT ", brief!(), " ", examined!(), " AND weight < 0.5 ORDER BY weight, number LIMIT 10");

pub(super) const LARGEST: &str =
    concat!("SELECT ", brief!(), " ", examined!(), " ORDER BY length(content) DESC, number LIMIT 10");
