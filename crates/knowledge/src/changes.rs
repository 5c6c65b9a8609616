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
