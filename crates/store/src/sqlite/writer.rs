//! The one writer of a SQLite file. Callers queue closures; those that wait together share one commit and one fsync.
//!
//! Each closure runs inside a savepoint, so a failing one takes nothing with it, and none is acknowledged before the
//! commit that holds it is on disk.

use std::panic::{AssertUnwindSafe, catch_unwind};

use base::{Error, OrgId, Result, limits};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::from_sqlite;
use crate::changes::ChangeNumbers;
use crate::tx::Tx;

/// The way to the writer thread.
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
}

enum Message {
    Write(Box<dyn Job>),
    Stop(oneshot::Sender<()>),
}

impl Writer {
    /// Gives `connection` to a thread of its own.
    pub(crate) fn start(connection: Connection, changes: ChangeNumbers) -> Result<Self> {
        let (queue, jobs) = mpsc::channel(limits::WRITE_QUEUE_MAX);
        std::thread::Builder::new()
            .name("toolcrib-writer".into())
            .spawn(move || run(connection, jobs, &changes))
            .map_err(Error::internal)?;
        Ok(Self { queue })
    }

    /// Runs `job` in a transaction and answers when it is on disk.
    pub(crate) async fn write<T: Send + 'static>(&self, job: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let job = TypedJob { job, outcome: None, reply };
        self.queue.try_send(Message::Write(Box::new(job))).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::unavailable("the write queue is full"),
            mpsc::error::TrySendError::Closed(_) => Error::unavailable("the store is closed"),
        })?;
        answer.await.map_err(|_| Error::unavailable("the writer stopped"))?
    }

    /// Waits for the writes that are queued, then ends the thread and closes the file.
    pub(crate) async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.queue.send(Message::Stop(done)).await.is_ok() {
            // An error only says that the thread is gone already.
            let _ = stopped.await;
        }
    }
}

/// A closure, its typed outcome, and who waits for it.
trait Job: Send {
    fn is_wanted(&self) -> bool;
    /// Runs inside an open transaction; says whether its effects are to be kept, and which orgs it touched.
    fn run(&mut self, connection: &Connection) -> Option<Vec<OrgId>>;
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

    fn run(&mut self, connection: &Connection) -> Option<Vec<OrgId>> {
        let mut tx = Tx::sqlite(connection);
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
        // The caller may have gone away meanwhile; its write stands.
        let _ = self.reply.send(outcome);
    }
}

fn run(connection: Connection, mut queue: mpsc::Receiver<Message>, changes: &ChangeNumbers) {
    let mut batch: Vec<Box<dyn Job>> = Vec::new();
    while let Some(message) = queue.blocking_recv() {
        let mut stop = None;
        let mut next = Some(message);
        while let Some(message) = next {
            match message {
                Message::Write(job) if job.is_wanted() => batch.push(job),
                Message::Write(_) => {}
                Message::Stop(done) => stop = Some(done),
            }
            next = if batch.len() < limits::COMMIT_JOBS_MAX && stop.is_none() { queue.try_recv().ok() } else { None };
        }
        commit_together(&connection, &mut batch, changes);
        if let Some(done) = stop {
            // Whoever waits may open, copy or remove the file next.
            drop(connection);
            // Nobody waits when the process is on its way out.
            let _ = done.send(());
            return;
        }
    }
}

/// Runs every job of `batch` in one transaction and acknowledges them after its commit.
fn commit_together(connection: &Connection, batch: &mut Vec<Box<dyn Job>>, changes: &ChangeNumbers) {
    if batch.is_empty() {
        return;
    }
    let mut bumped = Vec::new();
    let committed = (|| {
        step(connection, "BEGIN IMMEDIATE")?;
        for job in batch.iter_mut() {
            step(connection, "SAVEPOINT job")?;
            match job.run(connection) {
                Some(orgs) => bumped.extend(orgs),
                None => step(connection, "ROLLBACK TO job")?,
            }
            step(connection, "RELEASE job")?;
        }
        step(connection, "COMMIT")
    })();
    match &committed {
        Ok(()) => changes.committed(&bumped),
        Err(error) => {
            tracing::error!(%error, writes = batch.len(), "commit failed");
            if !connection.is_autocommit()
                && let Err(error) = step(connection, "ROLLBACK")
            {
                tracing::error!(%error, "rollback failed");
            }
        }
    }
    for job in batch.drain(..) {
        job.finish(committed.clone());
    }
}

fn step(connection: &Connection, sql: &str) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    statement.execute([]).map_err(from_sqlite)?;
    Ok(())
}
