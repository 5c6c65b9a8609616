//! The counter of a project.

use base::{Error, ProjectId, Result};
use store::{OrgTx, params};

use crate::sql;

/// The project's next change number.
pub(crate) fn next(tx: &mut OrgTx<'_, '_>, project: &ProjectId) -> Result<i64> {
    take(tx, project, 1)
}

/// The first of `count` consecutive numbers.
pub(crate) fn take(tx: &mut OrgTx<'_, '_>, project: &ProjectId, count: i64) -> Result<i64> {
    let last = tx.first(sql::TAKE_CHANGES, &params![project, count], |row| row.get::<i64>("number"))?;
    let last = last.ok_or_else(|| Error::internal("the counter has no row"))?;
    Ok(last - count + 1)
}

/// Numbers for one transaction with many changes. The writes of an org never overlap, so they are counted here and taken at the
/// end. Until then nothing else in the transaction may take a number.
pub(crate) struct Counter {
    project: ProjectId,
    last: i64,
    taken: i64,
}

impl Counter {
    pub(crate) fn start(tx: &mut OrgTx<'_, '_>, project: ProjectId) -> Result<Self> {
        let last = tx.first(sql::LAST_CHANGE, &params![project], |row| row.get::<i64>("number"))?.unwrap_or(0);
        Ok(Self { project, last, taken: 0 })
    }

    /// The next change number.
    pub(crate) fn next(&mut self) -> i64 {
        self.taken += 1;
        self.last + self.taken
    }

    pub(crate) fn finish(self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        if self.taken == 0 {
            return Ok(());
        }
        match take(tx, &self.project, self.taken)? {
            first if first == self.last + 1 => Ok(()),
            first => Err(Error::internal(format_args!("number {first} was taken meanwhile"))),
        }
    }
}
