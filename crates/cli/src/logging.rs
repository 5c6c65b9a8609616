//! Logging to stderr. Stdout is for results, and in `toolcrib stdio` for the protocol.
//!
//! A separate thread writes the log. If stderr is closed or blocked, log lines are dropped and nothing else is affected.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Flushes waiting lines when dropped, for at most a second.
#[must_use]
pub(crate) struct Logging(#[expect(dead_code, reason = "it is only dropped")] WorkerGuard);

/// Logs where a thread panicked. It omits the panic message, which may contain data from a caller.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a thread panicked");
    }));
}

/// Starts logging with `filter`.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<Logging> {
    let filter = EnvFilter::try_new(filter).with_context(|| {
        format!("`{filter}` is not a log filter; write a level (info) or levels by module (info,server=debug)")
    })?;
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(base::limits::LOG_LINES_WAITING_MAX)
        .thread_name("toolcrib-log")
        .finish(std::io::stderr());
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).log_internal_errors(false);
    // If logging is already started, its settings stay.
    let _ = match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(Logging(guard))
}
