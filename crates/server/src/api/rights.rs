//! What a caller must be allowed to do, as types: a handler that takes `Admitted<KeysWrite>` cannot forget to ask.

use base::{Error, Kind, Scope};
use guard::{Access, Who};

/// Something that a caller must have.
pub(super) trait Right: Send + Sync + 'static {
    /// What that is, for the document.
    const NEEDS: &'static str;

    /// What of the agents' own a route with this right shows: every answer of it is on the record.
    const READS: Option<&'static str> = None;

    /// Refuses a caller without it.
    fn check(access: &Access) -> base::Result<()>;
}

macro_rules! scopes {
    ($($name:ident = $word:literal $(reads $what:literal)?;)*) => {$(
        #[doc = concat!("The scope `", $word, "`.")]
        pub(super) struct $name;

        impl Right for $name {
            const NEEDS: &'static str = concat!("the scope `", $word, "`");
            $(const READS: Option<&'static str> = Some($what);)?

            fn check(access: &Access) -> base::Result<()> {
                access.require(Scope::$name)
            }
        }
    )*

        #[cfg(test)]
        #[test]
        fn the_document_names_the_scope_that_is_checked() {
            $(assert_eq!(Scope::$name.word(), $word);)*
        }
    };
}

scopes! {
    OrgRead = "org:read";
    ProjectsWrite = "projects:write";
    KeysWrite = "keys:write";
    SessionsWrite = "sessions:write";
    AgentsWrite = "agents:write";
    UsersWrite = "users:write";
    PoliciesWrite = "policies:write";
    AuditRead = "audit:read";
    AuditWrite = "audit:write";
    BricksRead = "bricks:read";
    KitsRead = "kits:read";
    MetricsRead = "metrics:read";
    MemoryRead = "memory:read" reads "memory";
    MemoryWrite = "memory:write";
    GraphRead = "graph:read" reads "graph";
    GraphWrite = "graph:write";
}

/// Any credential that may call the management API at all.
pub(super) struct AnyCredential;

impl Right for AnyCredential {
    const NEEDS: &'static str = "a key or a login of an org (a session's key is neither)";

    fn check(_: &Access) -> base::Result<()> {
        Ok(())
    }
}

/// The operator of the instance.
pub(super) struct Operator;

impl Right for Operator {
    const NEEDS: &'static str = "the instance admin's key";

    fn check(access: &Access) -> base::Result<()> {
        match access.who() {
            Who::InstanceAdmin => Ok(()),
            Who::Key(_) | Who::User { .. } => Err(Error::new(Kind::NotPermitted, "this needs the instance admin's key")),
        }
    }
}

/// The owner of an org, or the operator of the instance. No key can be either, whatever its scopes.
pub(super) struct Owner;

impl Right for Owner {
    const NEEDS: &'static str = "a console login as owner, or the instance admin's key";

    fn check(access: &Access) -> base::Result<()> {
        access.require_owner()
    }
}

/// A person who may decide for the org. No key can, whatever its scopes.
pub(super) struct HumanDecision;

impl Right for HumanDecision {
    const NEEDS: &'static str = "a console login as owner or admin, not a key";

    fn check(access: &Access) -> base::Result<()> {
        access.require_human_decision()
    }
}
