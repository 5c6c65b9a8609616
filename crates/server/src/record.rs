//! The record of a call: opened when the principal is known, closed with its outcome, whatever that is. A call that nobody
//! closes was cancelled by its caller, and that is recorded too.
//!
//! This is the one place where audit and hooks attach.

use std::time::Instant;

use base::{Actor, CallRecord, Door, Error, Kind, Outcome, Principal, RequestId};

use crate::state::State;

/// An open record.
pub(crate) struct Record<'s> {
    state: &'s State,
    began: Instant,
    call: Option<CallRecord>,
}

impl State {
    /// Opens the record of a call of `tool`.
    pub(crate) fn record(&self, principal: &Principal, request: &RequestId, tool: &str) -> Record<'_> {
        let (session, agent) = match &principal.actor {
            Actor::Session { id, agent, .. } => (Some(*id), *agent),
            Actor::Agent { id, .. } => (None, Some(*id)),
        };
        let call = CallRecord {
            request: *request,
            org: principal.org,
            project: principal.project.as_ref().map(|project| project.id),
            session,
            agent,
            door: principal.door(),
            tool: tool.to_owned(),
            started_at: self.services.clock.now(),
            duration_us: 0,
            outcome: Outcome::Cancelled,
        };
        Record { state: self, began: Instant::now(), call: Some(call) }
    }
}

impl Record<'_> {
    /// The tool turned out to be known: from here on its canonical name is recorded, whichever spelling was used.
    pub(crate) fn names(&mut self, canonical: &'static str) {
        if let Some(call) = &mut self.call {
            canonical.clone_into(&mut call.tool);
        }
    }

    /// Closes the record.
    pub(crate) fn close(mut self, outcome: Outcome) {
        if let Some(mut call) = self.call.take() {
            call.outcome = outcome;
            self.write(call);
        }
    }

    fn write(&self, mut call: CallRecord) {
        call.duration_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.state.metrics.called(&call);
        tracing::debug!(
            request = %call.request, org = %call.org, door = call.door.word(), tool = call.tool,
            outcome = call.outcome.word(), duration_us = call.duration_us, "call"
        );
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.write(call);
        }
    }
}

/// Which outcome an error is: what the gate says comes before anything was done.
pub(crate) fn outcome_of(error: &Error) -> Outcome {
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
