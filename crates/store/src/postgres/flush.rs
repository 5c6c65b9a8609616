//! Flushes asynchronous commits to disk, within [`limits::NOTE_SYNC_MS_MAX`].
//!
//! PostgreSQL has one log: a commit that waits for the disk also flushes every earlier commit of every connection.

use std::sync::Arc;
use std::time::Duration;

use base::limits;
use deadpool_postgres::Pool;
use tokio::sync::Notify;

use crate::sql;

/// Commits within this time share a flush. The rest of the limit is for the flush itself.
const GATHER: Duration = Duration::from_millis(limits::NOTE_SYNC_MS_MAX / 2);

/// Requests flushes. The task ends when this is dropped.
pub(super) struct Flush {
    due: Arc<Notify>,
    task: tokio::task::AbortHandle,
}

impl Flush {
    pub(super) fn start(pool: Pool) -> Self {
        let due = Arc::new(Notify::new());
        let signal = Arc::clone(&due);
        #[expect(clippy::disallowed_methods, reason = "ends with the store that started it")]
        let task = tokio::spawn(async move {
            loop {
                signal.notified().await;
                tokio::time::sleep(GATHER).await;
                if let Err(error) = flush(&pool).await {
                    tracing::error!(%error, "flushing recent records failed; retrying");
                    // The flush is still due, and the database may be back by then.
                    signal.notify_one();
                }
            }
        });
        Self { due, task: task.abort_handle() }
    }

    /// Requests a flush. One that is already due covers this commit too.
    pub(super) fn soon(&self) {
        self.due.notify_one();
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn flush(pool: &Pool) -> Result<(), String> {
    let client = pool.get().await.map_err(|error| error.to_string())?;
    client.batch_execute(sql::FLUSH).await.map_err(|error| error.to_string())
}
