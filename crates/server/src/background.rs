//! Work that lasts as long as the server: each piece ends by itself when the server stops, and the stop waits for it.

use tokio::task::JoinHandle;

/// What runs beside the requests.
#[derive(Default)]
pub(crate) struct Background(Vec<(&'static str, JoinHandle<()>)>);

impl Background {
    /// Starts a piece of work.
    pub(crate) fn start(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        #[expect(clippy::disallowed_methods, reason = "this is where long-lived work belongs")]
        self.0.push((name, tokio::spawn(work)));
    }

    /// Waits until all of it has ended, in the order it was started.
    pub(crate) async fn drain(self) {
        for (name, work) in self.0 {
            if let Err(error) = work.await {
                tracing::error!(%error, "{name} failed");
            }
        }
    }
}
