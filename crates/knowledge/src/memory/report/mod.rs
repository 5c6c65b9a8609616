//! What a memory is full of, for whoever tidies it: who fills it, what is there twice, what nobody was ever given, and what
//! misled those who were.

mod sql;

use std::collections::HashSet;

use base::limits::REPORT_ROWS_MAX;
use base::{Error, ObservationId, Result, Timestamp};
use store::{OrgTx, Row, params};

use super::{Memory, text};

/// Texts that are compared with one another, the newest: the work grows with their square.
const NEAR_TEXTS_MAX: i64 = 2_000;
/// Groups of near duplicates that are shown.
const GROUPS_SHOWN: usize = 10;

/// What a memory is full of. Counts and lists below `examined` are of the newest observations, as many as that says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryReport {
    /// Observations in all, without those that were forgotten.
    pub total: u64,
    /// Observations that were forgotten.
    pub forgotten: u64,
    /// Observations that wait to be known by meaning; the others are.
    pub waiting: u64,
    /// Observations that the rest is about.
    pub examined: u64,
    /// How many there are of a type, for those with the most.
    pub types: Vec<(String, u64)>,
    /// How many an agent said, for those with the most.
    pub agents: Vec<(String, u64)>,
    /// Texts that several agents said.
    pub duplicates: u64,
    /// Those that most agents said, and how many did.
    pub said_often: Vec<Tally>,
    /// Texts that others are nearly the same as, and how many there are with it.
    pub said_alike: Vec<Tally>,
    /// Observations that no session was ever given.
    pub never_recalled: u64,
    /// The oldest of those.
    pub oldest_never_recalled: Vec<Brief>,
    /// Observations whose weight is below a half.
    pub misleading: u64,
    /// The worst of those.
    pub worst: Vec<Brief>,
    /// The largest.
    pub largest: Vec<Brief>,
}

/// An observation and how often it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first of them.
    pub first: Brief,
}

/// An observation in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// Its name.
    pub id: ObservationId,
    /// Who said it.
    pub agent: String,
    /// What kind of thing it is.
    pub kind: String,
    /// How well it has served, from 0 to 1.
    pub weight: f64,
    /// When it was said.
    pub created_at: Timestamp,
    /// How long its text is.
    pub characters: u64,
    /// How its text begins.
    pub excerpt: String,
}

impl Brief {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: ObservationId::from_row(row.text(0)?),
            agent: row.get(1)?,
            kind: row.get(2)?,
            weight: row.get(3)?,
            created_at: row.get(4)?,
            characters: count(row, 5)?,
            excerpt: row.get(6)?,
        })
    }
}

fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    Ok(row.get::<i64>(column)?.unsigned_abs())
}

impl Memory {
    /// What this memory is full of.
    pub async fn report(&self) -> Result<MemoryReport> {
        let (memory, rows) = (self.clone(), self.rows.clone());
        let runtime = tokio::runtime::Handle::current();
        // One of the two engines reads on the thread that asks, and this is much to read.
        let work = move || runtime.block_on(rows.read(move |tx| memory.look_through(tx)));
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }

    fn look_through(&self, tx: &mut OrgTx<'_, '_>) -> Result<MemoryReport> {
        let oldest = tx.first(sql::OLDEST, &params![self.project, REPORT_ROWS_MAX - 1], |row| row.get::<i64>(0))?;
        let oldest = oldest.unwrap_or(0);
        let (whole, examined) = (params![self.project], params![self.project, oldest]);
        let one = |row: &Row<'_>| count(row, 0);
        let named = |row: &Row<'_>| Ok((row.get::<String>(0)?, count(row, 1)?));
        let tally = |row: &Row<'_>| Ok(Tally { count: count(row, 7)?, first: Brief::from_row(row)? });
        let all = tx.first(sql::ALL, &whole, one)?.unwrap_or(0);
        let forgotten = tx.first(sql::FORGOTTEN, &whole, one)?.unwrap_or(0);
        let counts = tx.first(sql::EXAMINED, &examined, |row| Ok((count(row, 0)?, count(row, 1)?)))?;
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

    /// Texts that differ in little, in groups around the oldest of each.
    fn said_alike(&self, tx: &mut OrgTx<'_, '_>, oldest: i64) -> Result<Vec<Tally>> {
        let row = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<i64>(2)?.cast_unsigned()));
        let mut texts = tx.query(sql::SIMHASHES, &params![self.project, oldest, NEAR_TEXTS_MAX], row)?;
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

/// The largest groups of near texts: the number of each one's first, and how many it has. A text belongs to the first that it is
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
    groups.into_iter().take(GROUPS_SHOWN).map(|(number, _, count)| (number, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_texts_are_one_group_around_the_first() {
        let texts = [(1, 0xFF00), (2, 0xFF01), (3, 0xFFFF_0000_0000), (4, 0xFF03), (5, 0xFFFF_0000_0001), (6, u64::MAX)];
        assert_eq!(groups(texts.into_iter()), [(1, 3), (3, 2)]);
        assert!(groups([(1, 0xFF00), (2, u64::MAX)].into_iter()).is_empty());
        // Pairs of nothing in common, and more of them than are shown.
        let pairs = (0_i64..24).map(|number| (number, 0x1FF_u64.rotate_left(u32::try_from(number / 2).unwrap() * 5)));
        assert_eq!(groups(pairs).len(), GROUPS_SHOWN);
    }
}
