//! The record of a call on this side of the gate: `guard` keeps it, and whoever wants to know of calls is told here.
//!
//! This is the one place where audit and hooks attach. A call that nobody closes was cancelled by its caller, and that is
//! recorded too.

use base::{Door, Error, Kind, RequestId};
use guard::{CallRecord, Caller, Outcome};
use mcp::Fault;
use mcp::codes::Speaker;
use mcp::era::Era;
use tools::Reply;

use crate::state::State;

/// An open record.
pub(crate) struct Record<'s> {
    state: &'s State,
    record: Option<guard::Record>,
}

impl State {
    /// Opens the record of a call of `tool`.
    pub(crate) fn record(&self, caller: &Caller, request: &RequestId, tool: &str) -> Record<'_> {
        Record { state: self, record: Some(self.guard.record(caller, request, tool)) }
    }
}

impl Record<'_> {
    /// The tool turned out to be known.
    pub(crate) fn names(&mut self, canonical: &'static str) {
        if let Some(record) = &mut self.record {
            record.names(canonical);
        }
    }

    /// The record, for the gate to write in.
    pub(crate) fn open(&mut self) -> Result<&mut guard::Record, Error> {
        self.record.as_mut().ok_or_else(|| Error::internal("the record was closed too early"))
    }

    /// Closes the record: no answer leaves before this has answered, and none but an error when it fails.
    pub(crate) async fn close(mut self, outcome: &Result<Reply, Fault>, era: Era) -> Result<(), Error> {
        let Some(record) = self.record.take() else {
            return Ok(());
        };
        let (outcome, code) = match outcome {
            Ok(reply) if reply.is_error() => (Outcome::ToolError, None),
            Ok(_) => (Outcome::Completed, None),
            Err(fault) => {
                let speaker = Speaker { door: record.call().door, era, request: &record.call().request };
                (outcome_of(fault.error()), Some(speaker.code(fault)))
            }
        };
        self.tell(&record.close(outcome, code).await?);
        Ok(())
    }

    fn tell(&self, call: &CallRecord) {
        self.state.metrics.called(call);
        tracing::debug!(
            request = %call.request, org = %call.org, door = call.door.word(), tool = %call.tool,
            outcome = call.outcome.word(), duration_us = call.duration_us, "call"
        );
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            self.tell(&record.abandon());
        }
    }
}

/// Which outcome an error is: what the gate says comes before anything was done.
fn outcome_of(error: &Error) -> Outcome {
    match error.kind() {
        kind @ (Kind::ToolNotFound | Kind::InvalidParams | Kind::NotPermitted) => Outcome::Refused(kind),
        kind => Outcome::Failed(kind),
    }
}

/// Writes what only the log may know.
pub(crate) fn log_error(error: &Error, request: &RequestId, door: Door) {
    match error.kind() {
        Kind::Internal | Kind::Unavailable => {
            tracing::error!(%request, door = door.word(), kind = error.kind().word(), log = error.log(), "{}", error.message());
        }
        kind => tracing::debug!(%request, door = door.word(), kind = kind.word(), log = error.log(), "{}", error.message()),
    }
}
