//! The record of a call: opened when the principal is known, closed with its outcome, whatever that is.
//!
//! A call that changed something was recorded by the change itself, in the same transaction; every other one is noted when
//! it is closed. Either way the record is written before the answer leaves, or the call fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use base::{Error, Kind, RequestId, Result};
use policy::Decision;
use serde_json::Value;
use store::{OrgStore, OrgTx, Seal};
use tokio::sync::mpsc;

use crate::audit::{By, Ledger};
use crate::call::{CallRecord, Outcome};
use crate::guard::Guard;
use crate::identify::Caller;
use crate::late::{Late, Writing};

/// An open record.
pub struct Record {
    ledger: Arc<Ledger>,
    by: By,
    call: CallRecord,
    began: Instant,
    rows: OrgStore,
    /// The rows that the tool was given, and whether it may still change them.
    sealed: Option<(OrgStore, Arc<Stage>)>,
    ended: bool,
    /// The entry that says how the call ended, while it is being written.
    writing: Option<Writing>,
    late: mpsc::Sender<Late>,
}

impl Guard {
    /// Opens the record of a call of `tool`.
    pub fn record(&self, caller: &Caller, request: &RequestId, tool: &str) -> Record {
        let principal = caller.principal();
        Record {
            ledger: Arc::clone(&self.ledger),
            by: By::principal(principal, *request),
            call: CallRecord::begin(principal, *request, tool, self.clock.now()),
            began: Instant::now(),
            rows: self.rows_of(&principal.org),
            sealed: None,
            ended: false,
            writing: None,
            late: self.late.queue(),
        }
    }
}

impl Record {
    /// What is known of the call so far.
    pub fn call(&self) -> &CallRecord {
        &self.call
    }

    /// The tool turned out to be known: from here on its canonical name is recorded, whichever spelling was used.
    pub fn names(&mut self, canonical: &'static str) {
        self.call.names(canonical);
    }

    /// The arguments were read. Only their digest is kept.
    pub fn takes(&mut self, arguments: &Value) -> Result<()> {
        self.call.arguments = Some(self.ledger.digest(&self.call.org, arguments)?);
        Ok(())
    }

    /// Policy was asked.
    pub(crate) fn decided(&mut self, decision: Decision, policy_set: &str) {
        self.call.decision = Some(decision);
        self.call.policy_set = Some(policy_set.to_owned());
    }

    /// The org's rows for the tool: what it changes first carries the record.
    pub(crate) fn sealed_rows(&mut self) -> OrgStore {
        let stage = Arc::new(Stage::default());
        let seal = CallSeal {
            ledger: Arc::clone(&self.ledger),
            by: self.by.clone(),
            call: self.call.clone(),
            began: self.began,
            stage: Arc::clone(&stage),
        };
        let rows = self.rows.sealed_by(Arc::new(seal));
        self.sealed = Some((rows.clone(), stage));
        rows
    }

    /// Closes the record: when this answers well it is written. When it does not, the call has failed whatever it did, and
    /// [`Record::fail`] says so.
    pub async fn close(&mut self, outcome: Outcome, code: Option<i64>) -> Result<()> {
        self.end(outcome, code)?;
        // It stays here meanwhile: should the caller go away now, the entry is still seen to.
        let written = match &mut self.writing {
            Some(writing) => writing.await,
            None => Ok(()),
        };
        self.writing = None;
        written
    }

    /// The call failed because its record could not be written. That is recorded as soon as it can be.
    pub fn fail(&mut self, kind: Kind, code: i64) {
        self.call.outcome = Outcome::Failed(kind);
        self.call.code = Some(code);
        self.call.effect_stands = self.is_effect_kept();
        self.see_to_it_later(None);
    }

    /// Closes the record of a call whose caller went away, unless it is being closed already. There is nobody to wait until it is
    /// written, and it is tried until it is.
    pub fn abandon(&mut self) {
        let begun = if self.ended { Ok(()) } else { self.end(Outcome::Cancelled, None) };
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
                "the record of a call is lost: too many others wait to be written"
            );
        }
    }

    /// Whether what the call changed stands, or is about to.
    fn is_effect_kept(&self) -> bool {
        self.sealed.as_ref().is_some_and(|(rows, stage)| {
            // Whoever stopped waiting for a change does not know: from here on it is made only if its entry is in it already.
            let is_applied = stage.close();
            rows.is_sealed() || (is_applied && rows.is_sealing())
        })
    }

    /// Says how the call ended, and begins to write it.
    fn end(&mut self, outcome: Outcome, code: Option<i64>) -> Result<()> {
        self.ended = true;
        finish(&mut self.call, outcome, self.began);
        self.call.code = code;
        let told_already = match outcome {
            Outcome::Completed => self.sealed.as_ref().is_some_and(|(rows, _)| rows.is_sealed()),
            _ => self.is_effect_kept(),
        };
        match outcome {
            Outcome::Completed if told_already => return Ok(()),
            // What was done is done: that nobody waited for the answer does not undo it.
            Outcome::Cancelled if told_already => {
                self.call.outcome = Outcome::Completed;
                return Ok(());
            }
            // A change that stands although its call then failed has two entries: that it was made, and that it was not answered.
            _ => self.call.effect_stands = told_already,
        }
        let writing = self.ledger.note(&self.rows, &self.by, self.call.event())?;
        self.writing = Some(Box::pin(writing));
        Ok(())
    }
}

fn finish(call: &mut CallRecord, outcome: Outcome, began: Instant) {
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
    /// The entry goes into a transaction; says no when the call is over.
    fn apply(&self) -> bool {
        let moved = self.0.compare_exchange(OPEN, APPLIED, Ordering::AcqRel, Ordering::Acquire);
        moved.is_ok() || moved == Err(APPLIED)
    }

    /// The call is over; says whether the entry is in a transaction.
    fn close(&self) -> bool {
        self.0.compare_exchange(OPEN, CLOSED, Ordering::AcqRel, Ordering::Acquire) == Err(APPLIED)
    }
}

/// The record as it goes into the transaction of the call's effect.
struct CallSeal {
    ledger: Arc<Ledger>,
    by: By,
    call: CallRecord,
    began: Instant,
    stage: Arc<Stage>,
}

impl Seal for CallSeal {
    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        if !self.stage.apply() {
            return Err(Error::new(Kind::Timeout, "the call was over before its change was made: nothing was changed"));
        }
        let mut call = self.call.clone();
        finish(&mut call, Outcome::Completed, self.began);
        self.ledger.write(tx, &self.by, call.event())
    }
}
