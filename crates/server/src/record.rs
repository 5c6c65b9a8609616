//! The record of a call on this side of the gate: `guard` keeps it, and whoever wants to know of calls is told here.
//!
//! This is the one place where audit and hooks attach. A call that nobody closes was cancelled by its caller, and that is
//! recorded too.

use base::{Door, Error, Kind, RequestId};
use guard::{Caller, Outcome};
use mcp::Fault;
use mcp::codes::Speaker;
use mcp::era::Revision;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::hooks::{EventOutcome, Phase, VerbError, VerbEvent};
use crate::state::State;

/// An open record.
pub(crate) struct Record<'s> {
    state: &'s State,
    record: guard::Record,
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
        asked: &str,
        arguments: Option<&'s RawValue>,
    ) -> Record<'s> {
        let record = self.guard.record(caller, request, asked);
        Record { state: self, record, arguments, message: None, stage: Stage::Opened }
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

    /// Closes the record: no answer leaves before this has answered, and none but an error when it fails. `Ok` says whether the
    /// tool's own answer is that it failed.
    pub(crate) async fn close(mut self, outcome: Result<bool, &Fault>, revision: Revision) -> Result<(), Fault> {
        let (outcome, code) = match outcome {
            Ok(true) => (Outcome::ToolError, None),
            Ok(false) => (Outcome::Completed, None),
            Err(fault) => (outcome_of(fault.error()), Some(self.spoken(fault, revision))),
        };
        let written = self.record.close(outcome, code).await.map_err(Fault::from);
        if let Err(fault) = &written {
            // The caller is told this, so the bus and, as soon as it can be written, the trail are told the same.
            let code = self.spoken(fault, revision);
            self.record.fail(fault.error().kind(), code);
        }
        self.end();
        written
    }

    /// The code of a failure; its message is kept for the bus.
    fn spoken(&mut self, fault: &Fault, revision: Revision) -> i64 {
        let call = self.record.call();
        let speaker = Speaker { door: call.door, revision, request: &call.request };
        let (message, code) = (speaker.failure(fault).message.into_owned(), speaker.code(fault));
        self.message = Some(message);
        code
    }

    /// Tells the bus how it ended.
    fn end(&mut self) {
        let call = self.record.call();
        let (outcome, code, duration_ms, effect_stands) = (call.outcome, call.code, call.duration_ms(), call.effect_stands);
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
            // A change that stands is done, as its entry in the trail says; that it was not answered is the error that follows.
            let is_done = outcome == Outcome::Completed || effect_stands;
            let outcome = if is_done { EventOutcome::Completed } else { EventOutcome::Failed };
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
            legacy_alias: call.alias.as_deref(),
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

/// Writes what only the log may know. What the caller is told may quote the arguments, so that is not logged: where a call's own
/// arguments are at fault, the log names the kind and the reason.
pub(crate) fn log_error(error: &Error, request: &RequestId, door: Door) {
    let (door, kind) = (door.word(), error.kind().word());
    match error.kind() {
        Kind::Internal | Kind::Unavailable => tracing::error!(%request, door, kind, log = error.log(), "a request failed"),
        _ => {
            let reason = error.data().get("reason").and_then(Value::as_str);
            tracing::debug!(%request, door, kind, reason, "a request was answered with an error");
        }
    }
}
