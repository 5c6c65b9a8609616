//! One answer to "may this principal use this tool", asked by listing and calling alike.

use std::sync::Arc;

use base::{Error, Kind, Principal, RequestId, Result};
use policy::{Decision, Input};
use serde_json::Value;
use store::OrgStore;

use crate::guard::Guard;
use crate::identify::Caller;
use crate::record::Record;
use crate::spec::{Capability, Spec};

/// Proof that the gate let a call through. Only [`Guard::admit`] makes one, and a tool reaches rows only through one.
#[derive(Clone)]
pub struct Permit {
    caller: Arc<Caller>,
    rows: OrgStore,
    tool: &'static str,
    request: RequestId,
}

impl Permit {
    /// Who calls.
    pub fn principal(&self) -> &Principal {
        self.caller.principal()
    }

    /// The rows of the caller's org, and no others. What changes them first carries the call's record.
    pub fn rows(&self) -> &OrgStore {
        &self.rows
    }

    /// The canonical name of the tool that was admitted.
    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// The request.
    pub fn request(&self) -> &RequestId {
        &self.request
    }
}

impl Guard {
    /// Whether `caller` may see the tool, and if not, why: listing shows exactly what passes here.
    pub fn visible(&self, caller: &Caller, spec: &Spec) -> Result<()> {
        may_ask(caller.principal(), spec)?;
        let decision = self.decision(caller, spec, Input::Any);
        if decision.allowed { Ok(()) } else { Err(not_permitted(spec)) }
    }

    /// Lets a call through, or says why not: scope, allowlist and capability first, then the arguments, then policy. What was
    /// found out on the way goes into `record`. `None` says that the caller may use the tool, and its graph is switched off:
    /// that is an answer, not a refusal.
    pub fn admit<E: From<Error>>(
        &self,
        caller: &Arc<Caller>,
        spec: &Spec,
        record: &mut Record,
        read_arguments: impl FnOnce(&mut Record) -> Result<Value, E>,
    ) -> Result<Option<(Permit, Value)>, E> {
        if is_switched_off(caller.principal(), spec) {
            has_scope_and_is_named(caller.principal(), spec)?;
            return Ok(None);
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
        let permit = Permit { caller: Arc::clone(caller), rows: record.sealed_rows(), tool: spec.name, request };
        Ok(Some((permit, arguments)))
    }

    fn decision(&self, caller: &Caller, spec: &Spec, input: Input<'_>) -> Decision {
        caller.policies().decide(caller.principal(), self.clock.now(), spec.name, input)
    }
}

/// What does not depend on policy: scope and allowlist, then capability.
pub(crate) fn may_ask(principal: &Principal, spec: &Spec) -> Result<()> {
    has_scope_and_is_named(principal, spec)?;
    if !spec.needs.held_by(principal) {
        return Err(refused(spec, "is not available in this project", "capability"));
    }
    Ok(())
}

/// Whether a tool of the graph is called in a project whose graph is off.
fn is_switched_off(principal: &Principal, spec: &Spec) -> bool {
    spec.needs == Capability::Graph && principal.project.is_some() && !spec.needs.held_by(principal)
}

fn has_scope_and_is_named(principal: &Principal, spec: &Spec) -> Result<()> {
    if !principal.scopes.has(spec.scope) {
        return Err(refused(spec, "needs a scope this credential does not have", "scope").with("scope", spec.scope.word()));
    }
    let safe_name = spec.safe_name();
    if !principal.allowlist.names([spec.name, safe_name.as_str()]) {
        return Err(refused(spec, "is not on this caller's allowlist", "allowlist"));
    }
    Ok(())
}

/// Which policy said no is for the org's people to know, not for the agent: they find it in the audit trail.
fn not_permitted(spec: &Spec) -> Error {
    refused(spec, "is not permitted by this org's policies", "policy")
}

fn refused(spec: &Spec, why: &str, reason: &str) -> Error {
    Error::new(Kind::NotPermitted, format!("`{}` {why}", spec.name)).with("tool", spec.name).with("reason", reason)
}
