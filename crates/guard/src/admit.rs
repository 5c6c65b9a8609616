//! Decides whether a principal may use a tool. Listing and calling use the same function.

use std::borrow::Cow;
use std::sync::Arc;

use base::{Error, Kind, Principal, RequestId, Result};
use policy::{Decision, Input};
use serde_json::Value;
use store::{Change, OrgStore};

use crate::guard::Guard;
use crate::identify::Caller;
use crate::record::OpenRecord;
use crate::spec::{Capability, Spec};

/// Proof that the gate admitted a call. Only [`Guard::admit`] creates one, and a tool reaches rows only through it.
#[derive(Clone)]
pub struct Permit {
    caller: Arc<Caller>,
    change: Change,
    tool: Cow<'static, str>,
    request: RequestId,
}

/// The gate's answer to a call that it does not refuse.
pub enum Admission {
    /// The call may run.
    Admitted {
        /// The proof.
        permit: Permit,
        /// The parsed and checked arguments.
        arguments: Value,
    },
    /// The caller may use the tool, but the project's graph is off. This is an answer, not a refusal.
    SwitchedOff,
}

impl Permit {
    /// The caller.
    pub fn principal(&self) -> &Principal {
        self.caller.principal()
    }

    /// The rows of the caller's org, for reading.
    pub fn rows(&self) -> &OrgStore {
        self.change.as_ref()
    }

    /// The same rows, for changes. The first change writes the call's audit entry.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// The canonical name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The request.
    pub fn request(&self) -> &RequestId {
        &self.request
    }
}

impl Guard {
    /// Whether `caller` may see the tool; the error says why not. Listing shows exactly the tools that pass.
    pub fn visible(&self, caller: &Caller, spec: &Spec) -> Result<()> {
        may_ask(caller.principal(), spec)?;
        let decision = self.decision(caller, spec, Input::Any);
        if decision.allowed { Ok(()) } else { Err(not_permitted(spec)) }
    }

    /// Admits a call, or says why not: checks scope, allowlist and capability, then the arguments, then policy. The findings are noted in
    /// `record`.
    pub fn admit<E: From<Error>>(
        &self,
        caller: &Arc<Caller>,
        spec: &Spec,
        record: &mut OpenRecord,
        read_arguments: impl FnOnce(&mut OpenRecord) -> Result<Value, E>,
    ) -> Result<Admission, E> {
        if is_switched_off(caller.principal(), spec) {
            has_scope_and_is_named(caller.principal(), spec)?;
            return Ok(Admission::SwitchedOff);
        }
        may_ask(caller.principal(), spec)?;
        let arguments = read_arguments(record)?;
        let decision = self.decision(caller, spec, Input::These(&arguments));
        let allowed = decision.allowed;
        record.decided(decision, caller.policies().hash());
        if !allowed {
            return Err(not_permitted(spec).into());
        }
        let request = record.call().request;
        let permit = Permit { caller: Arc::clone(caller), change: record.change(), tool: spec.name.clone(), request };
        Ok(Admission::Admitted { permit, arguments })
    }

    fn decision(&self, caller: &Caller, spec: &Spec, input: Input<'_>) -> Decision {
        caller.policies().decide(caller.principal(), self.clock.now(), &spec.name, input)
    }
}

/// The checks before policy: scope and allowlist, then capability.
pub(crate) fn may_ask(principal: &Principal, spec: &Spec) -> Result<()> {
    has_scope_and_is_named(principal, spec)?;
    if !spec.needs.held_by(principal) {
        let why = match spec.needs {
            Capability::Project => "needs a project, and this agent has none",
            _ => "is not available in this project",
        };
        return Err(refused(spec, why, "capability"));
    }
    Ok(())
}

/// Whether a graph tool is called in a project whose graph is off.
fn is_switched_off(principal: &Principal, spec: &Spec) -> bool {
    spec.needs == Capability::Graph && principal.project.is_some() && !spec.needs.held_by(principal)
}

fn has_scope_and_is_named(principal: &Principal, spec: &Spec) -> Result<()> {
    if !principal.scopes.has(spec.scope) {
        let why = format!("needs the scope `{}`, which this credential does not have", spec.scope);
        return Err(refused(spec, &why, "scope").with("scope", spec.scope.word()));
    }
    let safe_name = spec.safe_name();
    if !principal.allowlist.names([&*spec.name, &*safe_name]) {
        return Err(refused(spec, "is not on this caller's allowlist", "allowlist"));
    }
    Ok(())
}

/// The agent does not learn which policy denied the call. The org's users find it in the audit trail.
fn not_permitted(spec: &Spec) -> Error {
    refused(spec, "is not permitted by this org's policies", "policy")
}

fn refused(spec: &Spec, why: &str, reason: &str) -> Error {
    Error::new(Kind::NotPermitted, format!("`{}` {why}", spec.name)).with("tool", &*spec.name).with("reason", reason)
}
