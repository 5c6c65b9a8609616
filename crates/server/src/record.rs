//! The record of a call on this side of the gate: `guard` keeps it, and whoever wants to know of calls is told here.
//!
//! This is the one place where audit and hooks attach. A call that nobody closes was cancelled by its caller, and that is
//! recorded too.

use base::{Door, Error, Kind, RequestId};
use guard::{Caller, Outcome};
use mcp::Fault;
use mcp::codes::Speaker;
use mcp::era::Revision;
use serde_json::value::RawValue;
use tools::Reply;

use crate::hooks::{EventOutcome, Phase, VerbError, VerbEvent};
use crate::state::State;

/// An open record.
pub(crate) struct Record<'s> {
    state: &'s State,
    record: guard::Record,
    /// The name that was asked for.
    asked: &'s str,
    arguments: Option<&'s RawValue>,
    /// What the caller is told, where the call failed.
    message: Option<String>,
    stage: Stage,
}

/// What the bus has been told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Opened,
    Admitted,
    Ended,
}

impl State {
    /// Opens the record of a call of the tool that was asked for as `asked`.
    pub(crate) fn record<'s>(
        &'s self,
        caller: &Caller,
        request: &RequestId,
        asked: &'s str,
        arguments: Option<&'s RawValue>,
    ) -> Record<'s> {
        let record = self.guard.record(caller, request, asked);
        Record { state: self, record, asked, arguments, message: None, stage: Stage::Opened }
    }
}

impl Record<'_> {
    /// The tool turned out to be known.
    pub(crate) fn names(&mut self, canonical: &'static str) {
        self.record.names(canonical);
    }

    /// The record, for the gate to write in.
    pub(crate) fn open(&mut self) -> &mut guard::Record {
        &mut self.record
    }

    /// The gate has let the call in: it is about to run.
    pub(crate) fn admitted(&mut self) {
        self.stage = Stage::Admitted;
        self.emit(Phase::PreVerb { denied: false });
    }

    /// Closes the record: no answer leaves before this has answered, and none but an error when it fails.
    pub(crate) async fn close(mut self, outcome: &Result<Reply, Fault>, revision: Revision) -> Result<(), Error> {
        let (outcome, code) = match outcome {
            Ok(reply) if reply.is_error() => (Outcome::ToolError, None),
            Ok(_) => (Outcome::Completed, None),
            Err(fault) => {
                let call = self.record.call();
                let speaker = Speaker { door: call.door, revision, request: &call.request };
                let failure = speaker.failure(fault);
                let code = speaker.code(fault);
                self.message = Some(failure.message.into_owned());
                (outcome_of(fault.error()), Some(code))
            }
        };
        let written = self.record.close(outcome, code).await;
        if let Err(error) = &written {
            self.message = Some(error.kind().redacted_message().to_owned());
        }
        self.end();
        written
    }

    /// Tells the bus how it ended.
    fn end(&mut self) {
        let call = self.record.call();
        let (outcome, code, duration_ms) = (call.outcome, call.code, call.duration_ms());
        tracing::debug!(
            request = %call.request, org = %call.org, door = call.door.word(), tool = %call.tool,
            outcome = outcome.word(), duration_us = call.duration_us, "call"
        );
        // What the tool itself refuses, it was let in to refuse.
        let denied = self.stage == Stage::Opened && matches!(outcome, Outcome::Refused(_));
        if self.stage == Stage::Opened {
            self.emit(Phase::PreVerb { denied });
        }
        self.stage = Stage::Ended;
        if !denied {
            let outcome = if outcome == Outcome::Completed { EventOutcome::Completed } else { EventOutcome::Failed };
            self.emit(Phase::PostVerb { outcome, duration_ms });
        }
        if outcome != Outcome::Completed {
            let message = self.message.take().unwrap_or_else(|| said_of(outcome).to_owned());
            self.emit(Phase::VerbError(VerbError { code, message }));
        }
    }

    fn emit(&self, phase: Phase) {
        let call = self.record.call();
        self.state.bus.emit(&VerbEvent {
            phase,
            verb: &call.tool,
            legacy_alias: Some(self.asked).filter(|asked| **asked != *call.tool),
            org_id: call.org,
            agent_card_id: None,
            agent_url: None,
            skill_id: None,
            session_id: call.session,
            args: self.arguments,
            emitted_at: self.state.guard.clock().now(),
            call,
        });
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if self.stage != Stage::Ended {
            self.record.abandon();
            self.end();
        }
    }
}

/// What there is to say of an outcome that has no message of its own.
fn said_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::ToolError => "the tool answered that it failed",
        Outcome::Cancelled => "the caller went away",
        Outcome::Completed | Outcome::Refused(_) | Outcome::Failed(_) => "the call failed",
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
