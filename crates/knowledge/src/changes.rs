//! The one counter of a project.

use base::{Error, ProjectId, Result};
use store::{OrgTx, params};

use crate::sql;

/// The number of a change that is being made: the project's next.
pub(crate) fn next(tx: &mut OrgTx<'_, '_>, project: &ProjectId) -> Result<i64> {
    take(tx, project, 1)
}

/// The first of `count` numbers that follow one another.
pub(crate) fn take(tx: &mut OrgTx<'_, '_>, project: &ProjectId, count: i64) -> Result<i64> {
    let last = tx.first(sql::TAKE_CHANGES, &params![project, count], |row| row.get::<i64>(0))?;
    let last = last.ok_or_else(|| Error::internal("a counter without a row"))?;
    Ok(last - count + 1)
}
