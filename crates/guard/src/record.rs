//! The record of a call: opened when the principal is known, closed with its outcome, whatever that is.
//!
//! A call that changed something was recorded by the change itself, in the same transaction; every other one is noted when
//! it is closed. Either way the record is written before the answer leaves, or the call fails.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use base::{RequestId, Result};
use policy::Decision;
use serde_json::Value;
use store::{OrgStore, OrgTx, Seal};

use crate::audit::{By, Ledger};
use crate::call::{CallRecord, Outcome};
use crate::guard::Guard;
use crate::identify::Caller;

/// An open record.
pub struct Record {
    ledger: Arc<Ledger>,
    by: By,
    call: CallRecord,
    began: Instant,
    rows: OrgStore,
    /// The rows that the tool was given.
    sealed: Option<OrgStore>,
    ended: bool,
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
        self.call.tool = Cow::Borrowed(canonical);
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
        let seal = CallSeal { ledger: Arc::clone(&self.ledger), by: self.by.clone(), call: self.call.clone(), began: self.began };
        let rows = self.rows.sealed_by(Arc::new(seal));
        self.sealed = Some(rows.clone());
        rows
    }

    /// Closes the record: when this answers well it is written, and when it does not the call has failed, whatever it did.
    pub async fn close(&mut self, outcome: Outcome, code: Option<i64>) -> Result<()> {
        let written = match self.end(outcome, code) {
            Ok(Some(written)) => written.await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = &written {
            self.call.outcome = Outcome::Failed(error.kind());
        }
        written
    }

    /// Closes the record of a call whose caller went away, unless it is being closed already. It is written soon; there is nobody
    /// to wait for it.
    pub fn abandon(&mut self) {
        if self.ended {
            return;
        }
        if let Err(error) = self.end(Outcome::Cancelled, None) {
            tracing::error!(request = %self.call.request, %error, "a cancelled call could not be recorded");
        }
    }

    fn end(&mut self, outcome: Outcome, code: Option<i64>) -> Result<Option<impl Future<Output = Result<()>> + use<>>> {
        self.ended = true;
        finish(&mut self.call, outcome, self.began);
        self.call.code = code;
        let told_already = self.sealed.as_ref().is_some_and(OrgStore::is_sealed);
        // A change that stands although its call then failed has two records: that it was made, and that it was not answered.
        if told_already && matches!(outcome, Outcome::Completed | Outcome::Cancelled) {
            return Ok(None);
        }
        self.ledger.note(&self.rows, &self.by, self.call.event()).map(Some)
    }
}

fn finish(call: &mut CallRecord, outcome: Outcome, began: Instant) {
    call.outcome = outcome;
    call.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
}

/// The record as it goes into the transaction of the call's effect.
struct CallSeal {
    ledger: Arc<Ledger>,
    by: By,
    call: CallRecord,
    began: Instant,
}

impl Seal for CallSeal {
    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        let mut call = self.call.clone();
        finish(&mut call, Outcome::Completed, self.began);
        self.ledger.write(tx, &self.by, call.event())
    }
}
