//! The unscoped store. The server opens it once, and only `guard` uses it.

use std::path::PathBuf;
use std::sync::Arc;

use base::limits::PROBE_BYTES;
use base::secret::{hex, random_bytes};
use base::{Clock, Error, OrgId, Result};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::faults::Faults;
use crate::kept::Question;
use crate::param::{self, Param};
use crate::postgres::Postgres;
use crate::row::Row;
use crate::scoped::OrgStore;
use crate::sqlite::{self, Sqlite};
use crate::{Tx, sql};

/// The scope of a write. Writes of one lane never overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lane {
    /// Not tied to one org.
    Instance,
    Org(OrgId),
    /// A health check, which no cache needs to know about.
    Probe,
}

impl Lane {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Lane::Instance => "instance",
            Lane::Org(org) => org.as_str(),
            Lane::Probe => "probe",
        }
    }
}

/// The location of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreConfig {
    /// A file on this machine.
    Sqlite {
        /// The file.
        path: PathBuf,
    },
    /// A database that several nodes can share.
    Postgres {
        /// `postgres://user:password@host/database`.
        url: String,
    },
}

/// The engine of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One file, one process.
    Sqlite,
    /// One database, several processes.
    Postgres,
}

/// Both engines behind one handle. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<On>);

enum On {
    Sqlite(Sqlite),
    Postgres(Arc<Postgres>),
}

/// A pending note. It is written even if nobody waits for it.
enum Noted<T> {
    Queued(Result<oneshot::Receiver<Result<T>>>),
    Spawned(JoinHandle<Result<T>>),
}

impl Store {
    /// Opens the store and migrates its schema. Data of a newer release is refused.
    pub async fn open(config: &StoreConfig, clock: &Clock) -> Result<Self> {
        Self::open_with(config, clock, Faults::NONE).await
    }

    /// The same, with fault injection for tests.
    pub async fn open_with(config: &StoreConfig, clock: &Clock, faults: Faults) -> Result<Self> {
        let on = match config {
            StoreConfig::Sqlite { path } => On::Sqlite(Sqlite::open(path, clock, faults)?),
            StoreConfig::Postgres { url } => On::Postgres(Postgres::open(url, clock, faults).await?),
        };
        Ok(Self(Arc::new(on)))
    }

    /// The engine underneath.
    pub fn engine(&self) -> Engine {
        match &*self.0 {
            On::Sqlite(_) => Engine::Sqlite,
            On::Postgres(_) => Engine::Postgres,
        }
    }

    /// The rows of one org. Only `guard` calls this: a tool gets its handle from its permit.
    pub fn org(&self, org: &OrgId) -> OrgStore {
        OrgStore::new(self.clone(), *org)
    }

    /// Runs one statement over all orgs, which is how a credential finds its org.
    pub async fn query<T>(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        param::check(params)?;
        match &*self.0 {
            On::Sqlite(on) => {
                on.faults.step()?;
                on.readers.with(|connection| sqlite::query(connection, sql, params, &mut map))
            }
            On::Postgres(on) => on.query(sql, params).await?.iter().map(|row| map(&Row::postgres(row))).collect(),
        }
    }

    /// The first row of [`Store::query`].
    pub async fn first<T>(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        Ok(self.query(sql, params, map).await?.into_iter().next())
    }

    /// Rows of one org, from memory if they are known to be current.
    pub(crate) async fn query_kept<T: Send + Sync + 'static>(
        &self,
        org: &OrgId,
        sql: &'static str,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T> + Send,
    ) -> Result<Arc<Vec<T>>> {
        match &*self.0 {
            On::Sqlite(on) => on.kept.answer(Question::new(org, sql, params), || {
                param::check(params)?;
                on.faults.step()?;
                on.readers.with(|connection| sqlite::query(connection, sql, params, &mut map))
            }),
            On::Postgres(_) => self.query(sql, params, map).await.map(Arc::new),
        }
    }

    /// A write that belongs to no org, such as a new org or an instance key.
    pub async fn write_instance<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write(Lane::Instance, job).await
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &*self.0 {
            On::Sqlite(on) => on.writer.write(lane, job).await,
            On::Postgres(on) => on.write(lane.as_str(), job).await,
        }
    }

    pub(crate) fn note<T, J>(&self, org: OrgId, job: J) -> impl Future<Output = Result<T>> + Send + use<T, J>
    where
        T: Send + 'static,
        J: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let under_way = match &*self.0 {
            On::Sqlite(on) => Noted::Queued(on.writer.note(job)),
            On::Postgres(on) => Noted::Spawned(on.note(org, job)),
        };
        async move {
            match under_way {
                Noted::Queued(answer) => answer?.await.map_err(|_| Error::unavailable("the writer stopped"))?,
                Noted::Spawned(answer) => answer.await.map_err(Error::internal)?,
            }
        }
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &*self.0 {
            On::Sqlite(on) => on.readers.snapshot(|connection| job(&mut Tx::sqlite(connection, &on.faults))),
            On::Postgres(on) => on.read(job).await,
        }
    }

    /// The org's change number. A cache that was filled at the same number is fresh. Compare it only for equality.
    pub async fn change_number(&self, org: &OrgId) -> Result<u64> {
        match &*self.0 {
            On::Sqlite(on) => Ok(on.changes.of(org)),
            On::Postgres(_) => {
                let number = self.first(sql::CHANGE_NUMBER, &crate::params![org], |row| row.get::<i64>("number")).await?;
                Ok(number.unwrap_or(0).unsigned_abs())
            }
        }
    }

    /// Waits until the org's change number differs from `seen`, and returns it.
    pub async fn changed(&self, org: &OrgId, seen: u64) -> Result<u64> {
        match &*self.0 {
            On::Sqlite(on) => Ok(on.changes.changed(org, seen).await),
            On::Postgres(on) => on.polls.changed(org, seen, || self.change_number(org)).await,
        }
    }

    /// Proves that the store can be read and written.
    pub async fn ping(&self) -> Result<()> {
        self.query(sql::PING, &[], |_| Ok(())).await?;
        // A new random value each time, because an engine does not write a page that would not change.
        let probe = hex(&random_bytes::<{ PROBE_BYTES / 2 }>());
        self.write(Lane::Probe, move |tx| tx.execute(sql::PROBE, &crate::params![probe])).await.map(drop)
    }

    /// The restore that the rows come from, as its id and the time of the backup, separated by a space; `None` if they were
    /// never restored.
    pub async fn last_restore(&self) -> Result<Option<String>> {
        self.first(sql::LAST_RESTORE, &[], |row| row.get::<String>("value")).await
    }

    /// Waits for queued writes and closes the engine. Later calls are refused.
    pub async fn close(&self) {
        match &*self.0 {
            On::Sqlite(on) => {
                // The writer closes last: only it can move the log into the main file.
                on.readers.close();
                on.kept.forget();
                on.writer.stop().await;
            }
            On::Postgres(on) => on.close().await,
        }
    }
}
