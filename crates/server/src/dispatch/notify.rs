//! Notifications to the client of a running call, if it asked for them.

use mcp::Id;
use mcp::era::{Admitted, Era};
use mcp::model::{Log, LogLevel, Progress};
use serde_json::Value;
use tokio::sync::mpsc;
use tools::Notify;

/// Sends notifications of one call to its client's stream.
pub(super) struct Notifier<'a> {
    events: Option<&'a mpsc::Sender<Vec<u8>>>,
    progress: Option<&'a Id<'a>>,
    log_level: Option<LogLevel>,
    /// Whether the request asked for progress or logging.
    asked: bool,
}

/// An empty message, which only opens the stream.
pub(crate) const OPEN: &[u8] = b"";

impl<'a> Notifier<'a> {
    pub(super) fn new(events: Option<&'a mpsc::Sender<Vec<u8>>>, admitted: &'a Admitted<'a>) -> Self {
        // A legacy client sets its level once per session, but the server keeps no state. Use a sensible default.
        let log_level = match admitted.era {
            Era::Legacy => Some(admitted.meta.log_level.unwrap_or(LogLevel::Info)),
            Era::Modern => admitted.meta.log_level,
        };
        let asked = admitted.meta.progress.is_some() || admitted.meta.log_level.is_some();
        Self { events, progress: admitted.meta.progress.as_ref(), log_level, asked }
    }

    fn send(&self, written: base::Result<Vec<u8>>) {
        if let (Some(events), Ok(message)) = (self.events, written) {
            // If the client reads too slowly, it misses some progress. The call does not wait.
            let _ = events.try_send(message);
        }
    }
}

impl Notify for Notifier<'_> {
    fn begin(&self) {
        if self.asked {
            self.send(Ok(OPEN.to_vec()));
        }
    }

    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(token) = self.progress {
            let progress = Progress { done: progress, total, message: message.map(|text| text.to_owned().into()) };
            self.send(progress.write(token));
        }
    }

    fn log(&self, level: &str, logger: Option<&str>, data: &Value) {
        let level = LogLevel::parse(level).unwrap_or(LogLevel::Info);
        if self.log_level.is_some_and(|wanted| level >= wanted) {
            let log = Log { level, logger: logger.map(|name| name.to_owned().into()), data: data.clone() };
            self.send(log.write());
        }
    }
}
