//! One pooled connection, used synchronously from a blocking thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use base::{Error, Kind, Result};
use deadpool_postgres::Object;
use futures_util::StreamExt;
use tokio::runtime::Handle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::{from_postgres, is_lost_race};
use crate::faults::Faults;
use crate::param::Param;
use crate::tx::Tx;

/// A connection and the runtime that drives it.
pub(crate) struct Session {
    client: Object,
    runtime: Handle,
    faults: Faults,
    lost_a_race: Cell<bool>,
}

impl Session {
    pub(crate) fn new(client: Object, runtime: Handle, faults: Faults) -> Self {
        Self { client, runtime, faults, lost_a_race: Cell::new(false) }
    }

    /// Whether the last failure was a deadlock or a serialisation failure, so that the same work can be retried.
    pub(crate) fn lost_a_race(&self) -> bool {
        self.lost_a_race.get()
    }

    pub(crate) fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<tokio_postgres::Row>> {
        self.runtime.block_on(query(&self.client, sql, params)).map_err(|error| self.failed(error))
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        let run = async {
            let statement = self.client.prepare_cached(&numbered(sql)).await?;
            self.client.execute(&statement, &by_reference(params)).await
        };
        self.runtime.block_on(run).map_err(|error| self.failed(error))
    }

    /// Streams the rows that `sql` selects. Only a few are in memory at once.
    pub(super) fn stream(&self, sql: &str, each: &mut dyn FnMut(&tokio_postgres::Row) -> Result<()>) -> Result<()> {
        let nothing = std::iter::empty::<&(dyn ToSql + Sync)>();
        let rows = self.runtime.block_on(self.client.query_raw(sql, nothing)).map_err(|error| self.failed(error))?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = self.runtime.block_on(rows.next()) {
            each(&row.map_err(|error| self.failed(error))?)?;
        }
        Ok(())
    }

    /// Starts to copy rows into a table with columns of these types.
    pub(super) fn copy_in(&self, sql: &str, types: &[Type]) -> Result<Pin<Box<BinaryCopyInWriter>>> {
        let sink = self.runtime.block_on(self.client.copy_in(sql)).map_err(|error| self.failed(error))?;
        Ok(Box::pin(BinaryCopyInWriter::new(sink, types)))
    }

    /// Adds a row to a copy.
    pub(super) fn copy_row(&self, copy: &mut Pin<Box<BinaryCopyInWriter>>, row: &[Param<'_>]) -> Result<()> {
        self.runtime.block_on(copy.as_mut().write(&by_reference(row))).map_err(|error| self.failed(error))
    }

    /// Ends a copy.
    pub(super) fn end_copy(&self, mut copy: Pin<Box<BinaryCopyInWriter>>) -> Result<()> {
        self.runtime.block_on(copy.as_mut().finish()).map(drop).map_err(|error| self.failed(error))
    }

    /// The types of the columns that `sql` selects.
    pub(super) fn types(&self, sql: &str) -> Result<Vec<Type>> {
        let statement = self.runtime.block_on(self.client.prepare(sql)).map_err(|error| self.failed(error))?;
        Ok(statement.columns().iter().map(|column| column.type_().clone()).collect())
    }

    /// Runs `job` between `begin` and a commit. If it fails or panics, the transaction is rolled back.
    pub(crate) fn transact<T>(&self, begin: &str, job: &mut impl FnMut(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        self.lost_a_race.set(false);
        self.faults.step()?;
        self.batch(begin)?;
        let mut tx = Tx::postgres(self, &self.faults);
        let outcome =
            catch_unwind(AssertUnwindSafe(|| job(&mut tx))).unwrap_or_else(|_| Err(Error::internal("a transaction panicked")));
        match tx.settle(outcome).and_then(|value| self.faults.step().map(|()| value)) {
            // After an interrupted commit it is unknown whether it took effect, so the caller must not be told to retry.
            Ok(value) => self.batch("COMMIT").map(|()| value).map_err(|error| match error.kind() {
                Kind::Unavailable if !self.lost_a_race() => Error::internal(format_args!("commit interrupted: {error}")),
                _ => error,
            }),
            Err(error) => {
                if let Err(rollback) = self.batch("ROLLBACK") {
                    tracing::warn!(%rollback, "rollback failed; the connection is dropped");
                }
                Err(error)
            }
        }
    }

    pub(super) fn batch(&self, sql: &str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(sql)).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: tokio_postgres::Error) -> Error {
        // A later failure, such as one of the rollback, does not reset this.
        self.lost_a_race.set(self.lost_a_race.get() || is_lost_race(&error));
        from_postgres(error)
    }
}

pub(crate) async fn query(
    client: &Object,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<tokio_postgres::Row>, tokio_postgres::Error> {
    let statement = client.prepare_cached(&numbered(sql)).await?;
    client.query(&statement, &by_reference(params)).await
}

/// PostgreSQL numbers parameters as `$1`, our SQL texts as `?1`. They contain no other question marks.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

fn by_reference<'p>(params: &'p [Param<'p>]) -> Vec<&'p (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync)).collect()
}
