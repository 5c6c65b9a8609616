//! Brings what was committed asynchronously to disk, within [`limits::NOTE_SYNC_MS_MAX`].
//!
//! PostgreSQL's log is one: a commit that waits for the disk takes every commit before it along, of every connection.

use std::sync::Arc;
use std::time::Duration;

use base::limits;
use deadpool_postgres::Pool;
use tokio::sync::Notify;

use crate::sql;

/// Commits that come this soon after one another share a flush. What is left of the limit is for the flush itself.
const GATHER: Duration = Duration::from_millis(limits::NOTE_SYNC_MS_MAX / 2);

/// Asks for flushes. The work ends when this is dropped.
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
                    tracing::error!(%error, "recent records could not be flushed yet");
                    // It is still due: the server may be back by then.
                    signal.notify_one();
                }
            }
        });
        Self { due, task: task.abort_handle() }
    }

    /// Asks for a flush. One that is due already covers this commit too.
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
