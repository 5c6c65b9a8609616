//! Logs go to stderr: stdout belongs to answers, and on `toolcrib stdio` to the protocol.
//!
//! A thread of its own writes them. When stderr is full, closed or not read, lines are lost; no call, thread or exit code is.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Lines that wait to be written; beyond it they are lost. A line has some hundred bytes.
const LINES_WAITING_MAX: usize = 10_000;

/// Writes the lines that wait when it is dropped, for a second at most.
#[must_use]
pub(crate) struct Logging(#[expect(dead_code, reason = "only dropping it does something")] WorkerGuard);
/// Has the log say where a thread panicked, and not with which words: they may hold what a caller sent.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a thread panicked");
    }));
}

/// Starts logging what `filter` lets through.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<Logging> {
    let filter = EnvFilter::try_new(filter).with_context(|| {
        format!("`{filter}` is no log filter: write a level (info), or parts of the program (info,server=debug)")
    })?;
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(LINES_WAITING_MAX)
        .thread_name("toolcrib-log")
        .finish(std::io::stderr());
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).log_internal_errors(false);
    // A second start has nothing to do: the first one decides.
    let _ = match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(Logging(guard))
}
