//! The record of a call: opened when the principal is known, and closed with its outcome.
//!
//! A change writes the call's audit entry in its own transaction. Every other call is audited when its record is closed. Either way the
//! entry is written before the answer leaves, or the call fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use base::{Error, Kind, RequestId, Result};
use policy::Decision;
use serde_json::Value;
use store::{Change, OrgStore, OrgTx, Seal};
use tokio::sync::mpsc;

use crate::audit::{By, Ledger};
use crate::call::{CallOutcome, CallRecord};
use crate::change;
use crate::guard::Guard;
use crate::identify::Caller;
use crate::late::{Late, Writing};
use crate::spec::Spec;

/// An open record.
pub struct OpenRecord {
    ledger: Arc<Ledger>,
    by: By,
    call: CallRecord,
    began: Instant,
    rows: OrgStore,
    /// The tool's change, and whether it may still be made.
    change: Option<(Change, Arc<Stage>)>,
    ended: bool,
    /// The entry with the call's outcome, while it is being written.
    writing: Option<Writing>,
    late: mpsc::Sender<Late>,
}

impl Guard {
    /// Opens the record of a call of `tool`.
    pub fn record(&self, caller: &Caller, request: &RequestId, tool: &str) -> OpenRecord {
        let principal = caller.principal();
        OpenRecord {
            ledger: Arc::clone(&self.ledger),
            by: By::principal(principal, *request),
            call: CallRecord::begin(principal, *request, tool, self.clock.now()),
            began: Instant::now(),
            rows: self.rows_of(&principal.org),
            change: None,
            ended: false,
            writing: None,
            late: self.late.queue(),
        }
    }
}

impl OpenRecord {
    /// The call's record so far.
    pub fn call(&self) -> &CallRecord {
        &self.call
    }

    /// Sets the tool once it is known. From then on its canonical name is recorded, whichever spelling was used.
    pub fn names(&mut self, tool: &Spec) {
        self.call.names(tool);
    }

    /// Notes the arguments. Only their digest is kept.
    pub fn takes(&mut self, arguments: &Value) -> Result<()> {
        self.call.arguments = Some(self.ledger.digest(&self.call.org, arguments)?);
        Ok(())
    }

    /// Notes the policy decision.
    pub(crate) fn decided(&mut self, decision: Decision, policy_set: &str) {
        self.call.decision = Some(decision);
        self.call.policy_set = Some(policy_set.to_owned());
    }

    /// The change for the tool. It writes the call's audit entry.
    pub(crate) fn change(&mut self) -> Change {
        let stage = Arc::new(Stage::default());
        let seal = CallSeal {
            ledger: Arc::clone(&self.ledger),
            by: self.by.clone(),
            call: self.call.clone(),
            began: self.began,
            stage: Arc::clone(&stage),
        };
        let change = change::sealed(&self.rows, seal);
        self.change = Some((change.clone(), stage));
        change
    }

    /// Closes the record. On success its entry is written. On failure the call has failed, whatever it did, and [`OpenRecord::fail`]
    /// must be called.
    pub async fn close(&mut self, outcome: CallOutcome, code: Option<i64>) -> Result<()> {
        self.end(outcome, code)?;
        // The future stays in the record: if the caller disconnects now, the entry is still written.
        let written = match &mut self.writing {
            Some(writing) => writing.await,
            None => Ok(()),
        };
        self.writing = None;
        written
    }

    /// Notes that the call failed because its entry could not be written. The failure is audited as soon as possible.
    pub fn fail(&mut self, kind: Kind, code: i64) {
        self.call.outcome = CallOutcome::Failed(kind);
        self.call.code = Some(code);
        self.call.effect_stands = self.is_effect_kept();
        self.see_to_it_later(None);
    }

    /// Closes the record of a call whose caller disconnected, unless it is already being closed. The entry is retried in the background
    /// until it is written.
    pub fn abandon(&mut self) {
        let begun = if self.ended { Ok(()) } else { self.end(CallOutcome::Cancelled, None) };
        match (begun, self.writing.take()) {
            (Err(_), _) => self.see_to_it_later(None),
            (Ok(()), Some(writing)) => self.see_to_it_later(Some(writing)),
            (Ok(()), None) => {}
        }
    }

    fn see_to_it_later(&mut self, first: Option<Writing>) {
        let (ledger, rows, by, call) = (Arc::clone(&self.ledger), self.rows.clone(), self.by.clone(), self.call.clone());
        if self.late.try_send(Late { ledger, rows, by, call, first }).is_err() {
            tracing::error!(
                request = %self.call.request, tool = %self.call.tool, outcome = self.call.outcome.word(),
                "audit entry of a call lost; too many others are waiting to be written"
            );
        }
    }

    /// Whether the call's change is committed, or is about to be.
    fn is_effect_kept(&self) -> bool {
        self.change.as_ref().is_some_and(|(change, stage)| {
            // The caller may have stopped waiting during a change. From here on it is made only if its entry is already in the transaction.
            let is_applied = stage.close();
            change.is_sealed() || (is_applied && change.is_sealing())
        })
    }

    /// Sets the outcome, and starts to write it.
    fn end(&mut self, outcome: CallOutcome, code: Option<i64>) -> Result<()> {
        self.ended = true;
        finish(&mut self.call, outcome, self.began);
        self.call.code = code;
        let told_already = match outcome {
            CallOutcome::Completed => self.change.as_ref().is_some_and(|(change, _)| change.is_sealed()),
            _ => self.is_effect_kept(),
        };
        match outcome {
            CallOutcome::Completed if told_already => return Ok(()),
            // A committed change counts as completed, even if nobody waited for the answer.
            CallOutcome::Cancelled if told_already => {
                self.call.outcome = CallOutcome::Completed;
                return Ok(());
            }
            // If a change was committed and its call then failed, there are two entries: one for the change, and one for the failure.
            _ => self.call.effect_stands = told_already,
        }
        let writing = self.ledger.note(&self.rows, &self.by, self.call.event())?;
        self.writing = Some(Box::pin(writing));
        Ok(())
    }
}

fn finish(call: &mut CallRecord, outcome: CallOutcome, began: Instant) {
    call.outcome = outcome;
    call.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
}

/// Whether a call's first change has its entry, and whether it may still be made.
#[derive(Default)]
struct Stage(AtomicU8);

const OPEN: u8 = 0;
const APPLIED: u8 = 1;
const CLOSED: u8 = 2;

impl Stage {
    /// Notes that the entry goes into a transaction. Returns false if the call is over.
    fn apply(&self) -> bool {
        let moved = self.0.compare_exchange(OPEN, APPLIED, Ordering::AcqRel, Ordering::Acquire);
        moved.is_ok() || moved == Err(APPLIED)
    }

    /// Notes that the call is over. Returns whether the entry is in a transaction.
    fn close(&self) -> bool {
        self.0.compare_exchange(OPEN, CLOSED, Ordering::AcqRel, Ordering::Acquire) == Err(APPLIED)
    }
}

/// The seal that writes the call's entry in the transaction of its change.
struct CallSeal {
    ledger: Arc<Ledger>,
    by: By,
    call: CallRecord,
    began: Instant,
    stage: Arc<Stage>,
}

impl Seal for CallSeal {
    /// The door has already checked the credential.
    fn check(&self, _: &mut OrgTx<'_, '_>) -> Result<()> {
        Ok(())
    }

    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        if !self.stage.apply() {
            return Err(Error::new(Kind::Timeout, "the call ended before its change was made; nothing was changed"));
        }
        let mut call = self.call.clone();
        finish(&mut call, CallOutcome::Completed, self.began);
        self.ledger.write(tx, &self.by, call.event())
    }
}
