//! One answer to "may this principal use this tool", asked by listing and calling alike.

use std::sync::Arc;

use base::{Error, Kind, Principal, RequestId, Result};
use store::OrgStore;

use crate::guard::Guard;
use crate::identify::Caller;
use crate::spec::Spec;

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

    /// The rows of the caller's org, and no others.
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
    /// Whether `principal` may see the tool, and if not, why. Listing shows exactly what passes here; calling asks it first.
    pub fn visible(&self, principal: &Principal, spec: &Spec) -> Result<()> {
        if !spec.needs.held_by(principal) {
            return Err(refused(spec, "is not available in this project", "capability"));
        }
        if !principal.scopes.has(spec.scope) {
            return Err(refused(spec, "needs a scope this credential does not have", "scope").with("scope", spec.scope.word()));
        }
        let safe_name = spec.safe_name();
        if !principal.allowlist.names([spec.name, safe_name.as_str()]) {
            return Err(refused(spec, "is not on this caller's allowlist", "allowlist"));
        }
        Ok(())
    }

    /// Lets a call through, or says why not: visibility first, then the arguments.
    pub fn admit<E: From<Error>>(
        &self,
        caller: &Arc<Caller>,
        spec: &Spec,
        request: &RequestId,
        check_arguments: impl FnOnce() -> Result<(), E>,
    ) -> Result<Permit, E> {
        self.visible(caller.principal(), spec)?;
        check_arguments()?;
        let rows = self.rows_of(&caller.principal().org);
        Ok(Permit { caller: Arc::clone(caller), rows, tool: spec.name, request: *request })
    }
}

fn refused(spec: &Spec, why: &str, reason: &str) -> Error {
    Error::new(Kind::NotPermitted, format!("`{}` {why}", spec.name)).with("tool", spec.name).with("reason", reason)
}
