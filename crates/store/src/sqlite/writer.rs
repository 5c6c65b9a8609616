//! The only writer of a SQLite file. Callers queue closures, and the queued ones share one commit and one fsync.
//!
//! A closure that fails affects no other, and no write is acknowledged before its commit is on disk. Notes are acknowledged
//! once they are written, and [`LogSync`] brings them to disk soon after.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use base::{Error, OrgId, Result, limits};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::from_sqlite;
use super::log_sync::LogSync;
use crate::changes::ChangeNumbers;
use crate::faults::Faults;
use crate::kept::Written;
use crate::store::Lane;
use crate::tx::Tx;

/// The handle of the writer thread.
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
}

enum Message {
    Write(Lane, Box<dyn Job>),
    Note(Box<dyn Job>),
    Stop(oneshot::Sender<()>),
}

impl Writer {
    /// Moves `connection` to a new thread.
    pub(crate) fn start(
        connection: Connection,
        changes: ChangeNumbers,
        written: Arc<Written>,
        log: LogSync,
        faults: Faults,
    ) -> Result<Self> {
        let (queue, jobs) = mpsc::channel(limits::WRITE_QUEUE_MAX);
        std::thread::Builder::new()
            .name("toolcrib-writer".into())
            .spawn(move || run(Writing { connection, changes, written, log, faults, syncs_commits: true }, jobs))
            .map_err(Error::internal)?;
        Ok(Self { queue })
    }

    /// Runs `job` in a transaction and returns when it is on disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let answer = self.queue(job, |job| Message::Write(lane, job))?;
        answer.await.map_err(|_| Error::unavailable("the writer stopped"))?
    }

    /// Queues `job`, which is acknowledged before its transaction is on disk. It runs even if nobody waits for it.
    pub(crate) fn note<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        self.queue(job, Message::Note)
    }

    fn queue<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
        message: impl FnOnce(Box<dyn Job>) -> Message,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, answer) = oneshot::channel();
        let job = TypedJob { job, outcome: None, reply };
        self.queue.try_send(message(Box::new(job))).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::unavailable("the write queue is full"),
            mpsc::error::TrySendError::Closed(_) => Error::unavailable("the store is closed"),
        })?;
        Ok(answer)
    }

    /// Waits for the queued writes, then ends the thread and closes the file.
    pub(crate) async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.queue.send(Message::Stop(done)).await.is_ok() {
            // An error only means that the thread has already ended.
            let _ = stopped.await;
        }
    }
}

/// A closure, its typed result, and the caller that waits for it.
trait Job: Send {
    fn is_wanted(&self) -> bool;
    fn has_failed(&self) -> bool;
    /// Runs inside an open transaction. Returns `None` to undo its effects, else the orgs to bump.
    fn run(&mut self, connection: &Connection, faults: &Faults) -> Option<Vec<OrgId>>;
    fn finish(self: Box<Self>, committed: Result<()>);
}

struct TypedJob<T, F> {
    job: F,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnMut(&mut Tx<'_>) -> Result<T> + Send> Job for TypedJob<T, F> {
    fn is_wanted(&self) -> bool {
        !self.reply.is_closed()
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    fn run(&mut self, connection: &Connection, faults: &Faults) -> Option<Vec<OrgId>> {
        let mut tx = Tx::sqlite(connection, faults);
        let outcome =
            catch_unwind(AssertUnwindSafe(|| (self.job)(&mut tx))).unwrap_or_else(|_| Err(Error::internal("a write panicked")));
        let outcome = tx.settle(outcome);
        let kept = outcome.is_ok();
        self.outcome = Some(outcome);
        kept.then(|| tx.into_bumped())
    }

    fn finish(self: Box<Self>, committed: Result<()>) {
        let outcome = match (self.outcome, committed) {
            (Some(Ok(_)), Err(error)) => Err(error),
            (Some(outcome), _) => outcome,
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(Error::internal("a write was never run")),
        };
        // The caller may be gone. Its write is kept, and this is the only place that reports a failed one.
        if let Err(Err(error)) = self.reply.send(outcome) {
            // The message for the caller may quote its arguments, so it is not logged.
            tracing::error!(kind = error.kind().word(), log = error.log(), "a write that nobody waits for failed");
        }
    }
}

/// The state of the writer thread.
struct Writing {
    connection: Connection,
    changes: ChangeNumbers,
    written: Arc<Written>,
    log: LogSync,
    faults: Faults,
    /// Whether the connection currently syncs at each commit.
    syncs_commits: bool,
}

fn run(mut writing: Writing, mut queue: mpsc::Receiver<Message>) {
    let (mut batch, mut lanes): (Vec<Box<dyn Job>>, Vec<Lane>) = Default::default();
    while let Some(message) = queue.blocking_recv() {
        let mut stop = None;
        let mut next = Some(message);
        while let Some(message) = next {
            match message {
                Message::Write(lane, job) if job.is_wanted() => {
                    lanes.push(lane);
                    batch.push(job);
                }
                Message::Write(..) => {}
                Message::Note(job) => batch.push(job),
                Message::Stop(done) => stop = Some(done),
            }
            next = if batch.len() < limits::COMMIT_JOBS_MAX && stop.is_none() { queue.try_recv().ok() } else { None };
        }
        writing.commit_together(&mut batch, &mut lanes);
        if let Some(done) = stop {
            // A waiting caller may open, copy or remove the file next.
            drop(writing);
            // Nobody waits if the process is exiting.
            let _ = done.send(());
            return;
        }
    }
}

impl Writing {
    /// Runs every job of `batch` in one transaction and acknowledges them after its commit. `lanes` has the lane of each write;
    /// the other jobs are notes.
    fn commit_together(&mut self, batch: &mut Vec<Box<dyn Job>>, lanes: &mut Vec<Lane>) {
        if batch.is_empty() {
            return;
        }
        let mut bumped = Vec::new();
        let committed = self.commit(batch, !lanes.is_empty(), &mut bumped);
        lanes.drain(..).for_each(|lane| self.written.add(lane));
        match &committed {
            Ok(()) => self.changes.committed(&bumped),
            Err(error) => {
                tracing::error!(%error, writes = batch.len(), "commit failed");
                if let Err(error) = self.roll_back() {
                    tracing::error!(%error, "rollback failed");
                }
            }
        }
        for job in batch.drain(..) {
            job.finish(committed.clone());
        }
    }

    fn commit(&mut self, batch: &mut [Box<dyn Job>], must_sync: bool, bumped: &mut Vec<OrgId>) -> Result<()> {
        // While syncs of the log fail, notes sync with their commit.
        let sync = must_sync || self.log.is_failing();
        if sync != self.syncs_commits {
            let level = if sync { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", level).map_err(from_sqlite)?;
            self.syncs_commits = sync;
        }
        self.faults.step()?;
        self.step("BEGIN IMMEDIATE")?;
        if !self.run_together(batch, bumped) {
            self.roll_back()?;
            bumped.clear();
            self.step("BEGIN IMMEDIATE")?;
            self.run_apart(batch, bumped)?;
        }
        self.faults.step()?;
        self.step("COMMIT")?;
        if !sync || self.log.is_failing() {
            self.log.sync_soon();
        }
        Ok(())
    }

    /// Runs every job, and returns whether all succeeded. It uses no savepoints, because SQLite copies every changed page for
    /// them.
    fn run_together(&self, batch: &mut [Box<dyn Job>], bumped: &mut Vec<OrgId>) -> bool {
        batch.iter_mut().all(|job| job.run(&self.connection, &self.faults).map(|orgs| bumped.extend(orgs)).is_some())
    }

    /// Runs every job except the one that failed, each in a savepoint, so that others may fail too.
    fn run_apart(&self, batch: &mut [Box<dyn Job>], bumped: &mut Vec<OrgId>) -> Result<()> {
        for job in batch.iter_mut().filter(|job| !job.has_failed()) {
            self.step("SAVEPOINT job")?;
            match job.run(&self.connection, &self.faults) {
                Some(orgs) => bumped.extend(orgs),
                None => self.step("ROLLBACK TO job")?,
            }
            self.step("RELEASE job")?;
        }
        Ok(())
    }

    /// Rolls the open transaction back, unless SQLite already has, as it does if the disk is full.
    fn roll_back(&self) -> Result<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.step("ROLLBACK") }
    }

    fn step(&self, sql: &str) -> Result<()> {
        let mut statement = self.connection.prepare_cached(sql).map_err(from_sqlite)?;
        statement.execute([]).map_err(from_sqlite)?;
        Ok(())
    }
}
