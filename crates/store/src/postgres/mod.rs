//! PostgreSQL: a connection pool, one transaction per closure, and serial writes within an org.

pub(crate) mod backup;
mod flush;
mod lanes;
mod opening;
mod polls;
mod session;
mod tls;

use std::str::FromStr;
use std::sync::Arc;

use base::{Clock, Error, Kind, OrgId, Result, limits};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Timeouts};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;

use crate::faults::Faults;
use crate::migrate::migrate;
use crate::param::Param;
use crate::sql;
use crate::tx::Tx;
use lanes::Lanes;
use polls::Polls;

pub(crate) use session::Session;

/// How long a call waits for a connection before it fails.
const CONNECTION_WAIT: std::time::Duration = std::time::Duration::from_secs(limits::POSTGRES_WAIT_SECONDS);
/// The maximum number of runs of a closure that meets deadlocks or serialisation failures.
const TRIES_MAX: u32 = 5;
/// The maximum number of pending notes. Memory runs out before that.
const NOTES_MAX: u32 = 1 << 24;

/// The application name of a server. A restore refuses a database that a server is connected to.
const SERVER_NAME: &str = "toolcrib";

/// A pool of connections to one database.
pub(crate) struct Postgres {
    pool: Pool,
    lanes: Lanes,
    flush: flush::Flush,
    /// Each pending note holds one permit.
    notes: Arc<Semaphore>,
    faults: Faults,
    pub(crate) polls: Polls,
}

/// A write that has waited for its turn must read the current rows, whatever the database's default isolation is.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// A transaction whose commit does not wait for the disk.
const BEGIN_NOTE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off";

impl Postgres {
    /// Connects to `url` and migrates the schema. If several nodes start together, one of them migrates.
    pub(crate) async fn open(url: &str, clock: &Clock, faults: Faults) -> Result<Arc<Self>> {
        let pool = reachable_pool(url, SERVER_NAME, limits::POSTGRES_CONNECTIONS_MAX, true).await?;
        let flush = flush::Flush::start(pool.clone());
        let store = Arc::new(Self {
            pool,
            lanes: Lanes::default(),
            flush,
            notes: Arc::new(Semaphore::new(NOTES_MAX as usize)),
            faults,
            polls: Polls::default(),
        });
        let clock = clock.clone();
        store
            .transact("BEGIN", move |tx| {
                tx.execute(sql::NO_STATEMENT_TIMEOUT, &[])?;
                tx.execute(sql::NO_LOCK_TIMEOUT, &[])?;
                tx.query(sql::LOCK_MIGRATIONS, &[], |_| Ok(()))?;
                migrate(tx, &clock)
            })
            .await?;
        Ok(store)
    }

    /// One statement, outside a transaction.
    pub(crate) async fn query(&self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<tokio_postgres::Row>> {
        self.faults.step()?;
        let client = self.client().await?;
        session::query(&client, sql, params).await.map_err(from_postgres)
    }

    /// Runs `job` in a transaction, after all earlier writes in `lane`.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        lane: &str,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_in_turn(BEGIN_WRITE, lane, job).await
    }

    /// Runs `job` like a write, but does not wait for the disk. It has started when this returns and continues by itself.
    pub(crate) fn note<T: Send + 'static>(
        self: &Arc<Self>,
        org: OrgId,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> JoinHandle<Result<T>> {
        let store = Arc::clone(self);
        let on_its_way = Arc::clone(&self.notes).try_acquire_owned();
        #[expect(
            clippy::disallowed_methods,
            reason = "a record must be written even when its caller has gone away; `close` waits for it"
        )]
        tokio::spawn(async move {
            let _on_its_way = on_its_way.map_err(|_| Error::unavailable("the store is closed"))?;
            let written = store.write_in_turn(BEGIN_NOTE, org.as_str(), job).await;
            match &written {
                Ok(_) => store.flush.soon(),
                // The caller may be gone.
                Err(error) => tracing::error!(%org, %error, "writing a note failed"),
            }
            written
        })
    }

    async fn write_in_turn<T: Send + 'static>(
        &self,
        begin: &'static str,
        lane: &str,
        mut job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // A write that waits for the lane must not hold a connection, or one busy org would starve all others. The turn moves
        // into the job, because the job continues when its caller goes away.
        let turn = tokio::time::timeout(CONNECTION_WAIT, self.lanes.enter(lane)).await;
        let turn = turn.map_err(|_| Error::unavailable("earlier writes of the org take too long"))?;
        let lane = lane.to_owned();
        self.transact(begin, move |tx| {
            let _turn = &turn;
            tx.query(sql::LOCK_ORG, &crate::params![lane], |_| Ok(()))?;
            job(tx)
        })
        .await
    }

    /// Runs `job` on one snapshot.
    pub(crate) async fn read<T: Send + 'static>(&self, job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static) -> Result<T> {
        self.transact("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", job).await
    }

    async fn transact<T: Send + 'static>(
        &self,
        begin: &'static str,
        mut job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let client = self.client().await?;
        let (runtime, faults) = (tokio::runtime::Handle::current(), self.faults.clone());
        let work = move || {
            let session = Session::new(client, runtime, faults);
            let mut tries = 1;
            loop {
                match session.transact(begin, &mut job) {
                    Err(error) if error.kind() == Kind::Unavailable && session.lost_a_race() && tries < TRIES_MAX => tries += 1,
                    outcome => return outcome,
                }
            }
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }

    async fn client(&self) -> Result<Object> {
        self.pool.get().await.map_err(|error| {
            Error::new(Kind::Unavailable, "the server cannot reach its database right now; nothing was changed").logged(error)
        })
    }

    /// Waits for pending notes. Later calls are refused.
    pub(crate) async fn close(&self) {
        let all = self.notes.acquire_many(NOTES_MAX).await;
        self.notes.close();
        drop(all);
        self.pool.close();
    }
}

/// A pool with one working connection, so that problems with the URL, the network, the password or the database show here.
async fn reachable_pool(url: &str, name: &str, connections: usize, is_server: bool) -> Result<Pool> {
    let mut config = tokio_postgres::Config::from_str(url).map_err(|error| opening::unreadable_url(&error))?;
    if config.get_application_name().is_none() {
        config.application_name(name);
    }
    let place = opening::Place::of(&config);
    place.complete(&mut config);
    let manager = Manager::from_config(config, tls::connector()?, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let timeouts = Timeouts { wait: Some(CONNECTION_WAIT), create: Some(CONNECTION_WAIT), recycle: Some(CONNECTION_WAIT) };
    let pool = Pool::builder(manager)
        .max_size(connections)
        .timeouts(timeouts)
        .post_create(Hook::async_fn(move |client, _| {
            Box::pin(async move {
                client.batch_execute(sql::SET_TIMEOUTS).await.map_err(HookError::Backend)?;
                if is_server {
                    client.batch_execute(sql::LOCK_AS_SERVER).await.map_err(HookError::Backend)?;
                }
                Ok(())
            })
        }))
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .build()
        .map_err(Error::internal)?;
    let first = pool.get().await.map_err(|error| place.unusable(&error))?;
    drop(first);
    Ok(pool)
}

fn from_postgres(error: tokio_postgres::Error) -> Error {
    let Some(code) = error.code() else {
        // An error without a code comes from the client. A closed connection is a network problem; the rest is a bug in a
        // statement.
        let broken = error.is_closed() || std::error::Error::source(&error).is_some_and(|source| source.is::<std::io::Error>());
        return if broken { Error::unavailable(describe(&error)) } else { Error::internal(describe(&error)) };
    };
    match *code {
        SqlState::UNIQUE_VIOLATION => Error::new(Kind::Conflict, "it exists already").logged(describe(&error)),
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Error::unavailable(describe(&error)),
        SqlState::LOCK_NOT_AVAILABLE => Error::unavailable(describe(&error)),
        SqlState::DISK_FULL => {
            Error::new(Kind::Unavailable, "the server's disk is full; nothing was changed").logged(describe(&error))
        }
        _ if ["08", "53", "57", "58"].iter().any(|class| code.code().starts_with(class)) => Error::unavailable(describe(&error)),
        _ => Error::internal(describe(&error)),
    }
}

/// Whether a concurrent transaction won, so that the same work can be retried.
fn is_lost_race(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
}

/// The text for the log. The driver says only "db error", and the database's message may quote values of a row. So this keeps
/// only the start of that message and the name of the violated constraint.
fn describe(error: &tokio_postgres::Error) -> String {
    if let Some(cause) = error.as_db_error() {
        let message = cause.message().split([':', '"', '(']).next().unwrap_or_default().trim_end();
        let place = [cause.table(), cause.column(), cause.constraint()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        return format!("{} {message} [{}] {place}", cause.severity(), cause.code().code()).trim_end().to_owned();
    }
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
