//! Rights as types: a handler that takes `Admitted<KeysWrite>` cannot forget the check.

use base::{Error, Kind, Scope};
use guard::{Access, Manager};

/// A right that a route requires.
pub(super) trait Right: Send + Sync + 'static {
    /// The right, described for the document.
    const NEEDS: &'static str;

    /// The kind of agents' data that routes with this right show. Every answer of such a route is audited.
    const READS: Option<&'static str> = None;

    /// Refuses a caller without the right.
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
        fn document_names_the_checked_scope() {
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
    CodeRead = "code:read" reads "code";
    CodeWrite = "code:write";
}

/// The scope `code:read`, for counts that show nothing of the code itself.
pub(super) struct CodeCounts;

impl Right for CodeCounts {
    const NEEDS: &'static str = CodeRead::NEEDS;

    fn check(access: &Access) -> base::Result<()> {
        CodeRead::check(access)
    }
}

/// Any credential that may use the management API.
pub(super) struct AnyCredential;

impl Right for AnyCredential {
    const NEEDS: &'static str = "a key or a login of an org (not a session's key)";

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
            Manager::InstanceAdmin => Ok(()),
            Manager::Key(_) | Manager::User { .. } => Err(Error::new(Kind::NotPermitted, "this needs the instance admin's key")),
        }
    }
}

/// An org's owner or the instance admin. An org's key never qualifies, whatever its scopes.
pub(super) struct Owner;

impl Right for Owner {
    const NEEDS: &'static str = "a console login as owner, or the instance admin's key";

    fn check(access: &Access) -> base::Result<()> {
        access.require_owner()
    }
}

/// An owner or admin who is logged in. A key never qualifies, whatever its scopes.
pub(super) struct HumanDecision;

impl Right for HumanDecision {
    const NEEDS: &'static str = "a console login as owner or admin, not a key";

    fn check(access: &Access) -> base::Result<()> {
        access.require_human_decision()
    }
}
