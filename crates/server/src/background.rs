//! Background tasks. Each one ends when the server stops, and the stop waits for all of them.

use tokio::task::JoinHandle;

/// The running background tasks.
#[derive(Default)]
pub(crate) struct Background(Vec<(&'static str, JoinHandle<()>)>);

impl Background {
    /// Starts a task.
    pub(crate) fn start(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        #[expect(clippy::disallowed_methods, reason = "long-lived tasks start here")]
        self.0.push((name, tokio::spawn(work)));
    }

    /// Waits until all tasks have ended, in the order they were started.
    pub(crate) async fn drain(self) {
        for (name, work) in self.0 {
            if let Err(error) = work.await {
                tracing::error!(%error, "{name} failed");
            }
        }
    }
}
