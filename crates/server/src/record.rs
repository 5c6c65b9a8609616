//! The server's side of a call's record: `guard` writes it, and the hook bus is notified here.
//!
//! This is the only place where audit and hooks attach. A call whose record nobody closes was cancelled by its caller, and that is
//! audited too.

use base::{Door, Error, Kind, RequestId};
use guard::{CallOutcome, Caller, Spec};
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
    record: guard::OpenRecord,
    arguments: Option<&'s RawValue>,
    /// The message for the caller, if the call failed.
    message: Option<String>,
    stage: Stage,
}

/// Which phases were sent to the bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Opened,
    Admitted,
    Ended,
}

impl State {
    /// Opens the record of a call of the tool requested as `asked`.
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
    /// Notes that the tool is known.
    pub(crate) fn names(&mut self, tool: &Spec) {
        self.record.names(tool);
    }

    /// The record, for the gate.
    pub(crate) fn open(&mut self) -> &mut guard::OpenRecord {
        &mut self.record
    }

    /// Notes that the gate admitted the call, which is about to run.
    pub(crate) fn admitted(&mut self) {
        self.stage = Stage::Admitted;
        self.emit(Phase::PreVerb { denied: false });
    }

    /// Closes the record before the answer leaves. If that fails, the caller gets an error instead. `Ok` says whether the tool reported
    /// a failure.
    pub(crate) async fn close(mut self, outcome: Result<bool, &Fault>, revision: Revision) -> Result<(), Fault> {
        let (outcome, code) = match outcome {
            Ok(true) => (CallOutcome::ToolError, None),
            Ok(false) => (CallOutcome::Completed, None),
            Err(fault) => (outcome_of(fault.error()), Some(self.spoken(fault, revision))),
        };
        let written = self.record.close(outcome, code).await.map_err(Fault::from);
        if let Err(fault) = &written {
            // The bus and later the audit trail get the same outcome as the caller.
            let code = self.spoken(fault, revision);
            self.record.fail(fault.error().kind(), code);
        }
        self.end();
        written
    }

    /// The error code of a fault. Its message is kept for the bus.
    fn spoken(&mut self, fault: &Fault, revision: Revision) -> i64 {
        let call = self.record.call();
        let speaker = Speaker { door: call.door, revision, request: &call.request };
        let (message, code) = (speaker.failure(fault).message.into_owned(), speaker.code(fault));
        self.message = Some(message);
        code
    }

    /// Sends the remaining phases to the bus.
    fn end(&mut self) {
        let call = self.record.call();
        let (outcome, code, duration_ms, effect_stands) = (call.outcome, call.code, call.duration_ms(), call.effect_stands);
        tracing::debug!(
            request = %call.request, org = %call.org, door = call.door.word(), tool = %call.tool,
            outcome = outcome.word(), duration_us = call.duration_us, "call"
        );
        // A refusal by the tool itself comes after its admission.
        let denied = self.stage == Stage::Opened && matches!(outcome, CallOutcome::Refused(_));
        if self.stage == Stage::Opened {
            self.emit(Phase::PreVerb { denied });
        }
        self.stage = Stage::Ended;
        if !denied {
            // A committed change counts as completed, as in the audit trail. The error that follows says that it was not answered.
            let is_done = outcome == CallOutcome::Completed || effect_stands;
            let outcome = if is_done { EventOutcome::Completed } else { EventOutcome::Failed };
            self.emit(Phase::PostVerb { outcome, duration_ms });
        }
        if outcome != CallOutcome::Completed {
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

/// The message of an outcome that has none.
fn said_of(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::ToolError => "the tool reported a failure",
        CallOutcome::Cancelled => "the caller disconnected",
        CallOutcome::Completed | CallOutcome::Refused(_) | CallOutcome::Failed(_) => "the call failed",
    }
}

/// The outcome for an error. Refusals are made before anything is done.
fn outcome_of(error: &Error) -> CallOutcome {
    match error.kind() {
        kind @ (Kind::ToolNotFound | Kind::InvalidParams | Kind::NotPermitted) => CallOutcome::Refused(kind),
        kind => CallOutcome::Failed(kind),
    }
}

/// Logs an error. The caller's message may quote arguments, so it is not logged: for a caller's error, the log contains only the kind
/// and the reason.
pub(crate) fn log_error(error: &Error, request: &RequestId, door: Door) {
    let (door, kind) = (door.word(), error.kind().word());
    match error.kind() {
        Kind::Internal | Kind::Unavailable => tracing::error!(%request, door, kind, log = error.log(), "request failed"),
        _ => {
            let reason = error.data().get("reason").and_then(Value::as_str);
            tracing::debug!(%request, door, kind, reason, "request answered with an error");
        }
    }
}
