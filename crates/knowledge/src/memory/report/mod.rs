//! A report for cleaning up a memory: who fills it, what is duplicated, what was never recalled, and what misled agents.

mod sql;

use std::collections::HashSet;

use base::limits::{REPORT_COMPARED_MAX, REPORT_GROUPS_MAX, REPORT_ROWS_MAX};
use base::{Error, ObservationId, Result, Timestamp};
use store::{OrgStore, OrgTx, Row, params};

use super::{Memory, text};

/// A report on a memory. Everything below `examined` covers only that number of newest observations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryReport {
    /// All observations, without forgotten ones.
    pub total: u64,
    /// Forgotten observations.
    pub forgotten: u64,
    /// Observations that wait to be embedded. The others are embedded.
    pub waiting: u64,
    /// The number of observations that the rest of the report covers.
    pub examined: u64,
    /// The most frequent types, and their counts.
    pub types: Vec<(String, u64)>,
    /// The most active agents, and their counts.
    pub agents: Vec<(String, u64)>,
    /// The number of texts that several agents stored.
    pub duplicates: u64,
    /// The texts that most agents stored, and how many did.
    pub said_often: Vec<Tally>,
    /// Texts with nearly equal ones, and the size of each group.
    pub said_alike: Vec<Tally>,
    /// The number of observations that were never recalled.
    pub never_recalled: u64,
    /// The oldest of them.
    pub oldest_never_recalled: Vec<Brief>,
    /// The number of observations with a weight below a half.
    pub misleading: u64,
    /// The ones with the lowest weight.
    pub worst: Vec<Brief>,
    /// The longest ones.
    pub largest: Vec<Brief>,
}

/// An observation and a count.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// The count.
    pub count: u64,
    /// The oldest observation.
    pub first: Brief,
}

/// An observation in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// Its id.
    pub id: ObservationId,
    /// Its author.
    pub agent: String,
    /// Its type.
    pub kind: String,
    /// How useful it was so far, from 0 to 1.
    pub weight: f64,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The length of its text.
    pub characters: u64,
    /// The start of its text.
    pub excerpt: String,
}

impl Brief {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: ObservationId::from_row(row.text("id")?),
            agent: row.get("agent_id")?,
            kind: row.get("type")?,
            weight: row.get("weight")?,
            created_at: row.get("created_at")?,
            characters: count(row, "characters")?,
            excerpt: row.get("excerpt")?,
        })
    }
}

fn count(row: &Row<'_>, name: &str) -> Result<u64> {
    Ok(row.get::<i64>(name)?.unsigned_abs())
}

impl<R: AsRef<OrgStore>> Memory<R> {
    /// Makes the report. `turn` is held until the work is done, even if the caller goes away.
    pub async fn report(&self, turn: impl Send + 'static) -> Result<MemoryReport> {
        let rows = self.rows().clone();
        let memory = Memory::new(rows.clone(), self.project, self.clock.clone());
        let runtime = tokio::runtime::Handle::current();
        // SQLite reads on the caller's thread, and this reads a lot.
        let work = move || {
            let _turn = turn;
            runtime.block_on(rows.read(move |tx| memory.look_through(tx)))
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }
}

impl Memory {
    fn look_through(&self, tx: &mut OrgTx<'_, '_>) -> Result<MemoryReport> {
        let oldest = tx.first(sql::OLDEST, &params![self.project, REPORT_ROWS_MAX - 1], |row| row.get::<i64>("number"))?;
        let oldest = oldest.unwrap_or(0);
        let (whole, examined) = (params![self.project], params![self.project, oldest]);
        let one = |row: &Row<'_>| count(row, "count");
        let named = |row: &Row<'_>| Ok((row.get::<String>("name")?, count(row, "count")?));
        let tally = |row: &Row<'_>| Ok(Tally { count: count(row, "agents")?, first: Brief::from_row(row)? });
        let all = tx.first(sql::ALL, &whole, one)?.unwrap_or(0);
        let forgotten = tx.first(sql::FORGOTTEN, &whole, one)?.unwrap_or(0);
        let counts = tx.first(sql::EXAMINED, &examined, |row| Ok((count(row, "count")?, count(row, "misleading")?)))?;
        let (examined_count, misleading) = counts.unwrap_or_default();
        Ok(MemoryReport {
            total: all.saturating_sub(forgotten),
            forgotten,
            waiting: tx.first(sql::WAITING, &whole, one)?.unwrap_or(0),
            examined: examined_count,
            types: tx.query(sql::TYPES, &examined, named)?,
            agents: tx.query(sql::AGENTS, &examined, named)?,
            duplicates: tx.first(sql::DUPLICATES, &examined, one)?.unwrap_or(0),
            said_often: tx.query(sql::SAID_OFTEN, &examined, tally)?,
            said_alike: self.said_alike(tx, oldest)?,
            never_recalled: tx.first(sql::NEVER_RECALLED, &examined, one)?.unwrap_or(0),
            oldest_never_recalled: tx.query(sql::OLDEST_NEVER_RECALLED, &examined, Brief::from_row)?,
            misleading,
            worst: tx.query(sql::MISLEADING, &examined, Brief::from_row)?,
            largest: tx.query(sql::LARGEST, &examined, Brief::from_row)?,
        })
    }

    /// Nearly equal texts, in groups around the oldest one.
    fn said_alike(&self, tx: &mut OrgTx<'_, '_>, oldest: i64) -> Result<Vec<Tally>> {
        let row = |row: &Row<'_>| {
            Ok((row.get::<i64>("number")?, row.get::<String>("hash")?, row.get::<i64>("simhash")?.cast_unsigned()))
        };
        let mut texts = tx.query(sql::SIMHASHES, &params![self.project, oldest, REPORT_COMPARED_MAX], row)?;
        texts.reverse();
        let mut seen = HashSet::new();
        texts.retain(|(_, hash, _)| seen.insert(hash.clone()));
        let mut tallies = Vec::new();
        for (number, count) in groups(texts.iter().map(|(number, _, simhash)| (*number, *simhash))) {
            let first = tx.first(sql::BY_NUMBER, &params![self.project, number], Brief::from_row)?;
            tallies.extend(first.map(|first| Tally { count, first }));
        }
        Ok(tallies)
    }
}

/// The largest groups of near texts: the number of the first text, and the size. A text belongs to the first group that it is
/// near to.
fn groups(texts: impl Iterator<Item = (i64, u64)>) -> Vec<(i64, u64)> {
    let mut groups: Vec<(i64, u64, u64)> = Vec::new();
    for (number, simhash) in texts {
        match groups.iter_mut().find(|(_, first, _)| text::is_near(*first, simhash)) {
            Some((.., count)) => *count += 1,
            None => groups.push((number, simhash, 1)),
        }
    }
    groups.retain(|(.., count)| *count > 1);
    groups.sort_by_key(|(number, _, count)| (std::cmp::Reverse(*count), *number));
    groups.into_iter().take(REPORT_GROUPS_MAX).map(|(number, _, count)| (number, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_texts_form_one_group() {
        let texts = [(1, 0xFF00), (2, 0xFF01), (3, 0xFFFF_0000_0000), (4, 0xFF03), (5, 0xFFFF_0000_0001), (6, u64::MAX)];
        assert_eq!(groups(texts.into_iter()), [(1, 3), (3, 2)]);
        assert!(groups([(1, 0xFF00), (2, u64::MAX)].into_iter()).is_empty());
        // Pairs with nothing in common, and more of them than are shown.
        let pairs = (0_i64..24).map(|number| (number, 0x1FF_u64.rotate_left(u32::try_from(number / 2).unwrap() * 5)));
        assert_eq!(groups(pairs).len(), REPORT_GROUPS_MAX);
    }
}
