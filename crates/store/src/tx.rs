//! A transaction with plain synchronous calls. The caller's closure commits by returning `Ok`.

use base::{Error, EventKind, OrgId, Result};

use crate::faults::Faults;
use crate::param::{self, Param};
use crate::postgres::Session;
use crate::row::Row;
use crate::{sql, sqlite};

/// A transaction on either engine.
pub struct Tx<'c> {
    on: On<'c>,
    faults: &'c Faults,
    bumped: Vec<OrgId>,
    /// Whether a row was changed.
    changed: bool,
    /// Whether it is recorded in the audit trail.
    recorded: bool,
    told: Vec<Told>,
    failure: Option<Error>,
}

/// An additional change of a transaction.
#[derive(Clone, Debug)]
pub struct Told {
    /// The kind of event.
    pub kind: EventKind,
    /// The type of the changed entity.
    pub entity_type: &'static str,
    /// The id of the changed entity.
    pub id: String,
}

enum On<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c Session),
}

impl<'c> Tx<'c> {
    pub(crate) fn sqlite(connection: &'c rusqlite::Connection, faults: &'c Faults) -> Self {
        Self::on(On::Sqlite(connection), faults)
    }

    pub(crate) fn postgres(session: &'c Session, faults: &'c Faults) -> Self {
        Self::on(On::Postgres(session), faults)
    }

    fn on(on: On<'c>, faults: &'c Faults) -> Self {
        Self { on, faults, bumped: Vec::new(), changed: false, recorded: false, told: Vec::new(), failure: None }
    }

    /// The rows that `sql` selects, each converted into a `T`.
    pub fn query<T>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let outcome = param::check(params).and_then(|()| self.faults.step()).and_then(|()| match self.on {
            On::Sqlite(connection) => sqlite::query(connection, sql, params, &mut map),
            On::Postgres(session) => session.query(sql, params)?.iter().map(|row| map(&Row::postgres(row))).collect(),
        });
        self.remember(outcome)
    }

    /// The first row that `sql` selects, if any.
    pub fn first<T>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.query(sql, params, map)?.into_iter().next())
    }

    /// Runs `sql` and returns the number of affected rows.
    pub fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        let outcome = param::check(params).and_then(|()| self.faults.step()).and_then(|()| match self.on {
            On::Sqlite(connection) => sqlite::execute(connection, sql, params),
            On::Postgres(session) => session.execute(sql, params),
        });
        self.changed |= outcome.as_ref().is_ok_and(|touched| *touched > 0);
        self.remember(outcome)
    }

    pub(crate) fn mark_recorded(&mut self) {
        self.recorded = true;
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded
    }

    pub(crate) fn tell(&mut self, told: Told) {
        self.told.push(told);
    }

    pub(crate) fn told(&self) -> &[Told] {
        &self.told
    }

    /// Whether a row was changed so far.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Marks that the permissions in an org have changed. From the moment this transaction commits, every node reads the org's
    /// principals again.
    pub fn bump(&mut self, org: &OrgId) -> Result<()> {
        self.execute(sql::BUMP_CHANGE_NUMBER, &crate::params![org])?;
        self.bumped.push(*org);
        Ok(())
    }

    fn remember<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome {
            self.failure.get_or_insert_with(|| error.clone());
        }
        outcome
    }

    /// The closure's result, unless it continued after a failed statement. By then PostgreSQL has aborted the whole transaction
    /// and reports its rollback as a commit, and SQLite would keep the rest. Neither may be acknowledged.
    pub(crate) fn settle<T>(&self, answer: Result<T>) -> Result<T> {
        match (answer, &self.failure) {
            (Ok(_), Some(failure)) => Err(failure.clone()),
            (answer, _) => answer,
        }
    }

    pub(crate) fn into_bumped(self) -> Vec<OrgId> {
        self.bumped
    }
}
